package remote

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

// sentinels are the errors of the contract that bad options can be. From afar they are ErrNotStarted as well.
var sentinels = []error{
	engine.ErrInvalid, engine.ErrNotExist, engine.ErrNotDirectory, engine.ErrEscapes, engine.ErrIsDirectory, engine.ErrLost, engine.ErrClosed,
}

func kindsOf(err error) string {
	var names []string
	for _, s := range sentinels {
		if errors.Is(err, s) {
			names = append(names, s.Error())
		}
	}
	return strings.Join(names, ", ")
}

// TestWorkingDirectories has bad ones: cases C146. They give the error that they give in process, and nothing starts.
func TestWorkingDirectories(t *testing.T) {
	p := launch(t, setup{})
	far := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	near, err := sandbar.OpenWith(t.Context(), sandbar.Userns, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	for _, s := range []*engine.Session{near, far} {
		mustExec(t, s, "ln -s /etc link-to-etc; touch a-file; mkdir -p sub shut; chmod 0 shut")
	}
	for _, tt := range []struct {
		cwd  string
		want error // nil: it is a good one
	}{
		{"missing", engine.ErrNotExist},
		{"a-file", engine.ErrNotDirectory},
		{"link-to-etc", engine.ErrEscapes},
		{"a/../../..", engine.ErrNotExist}, // there is no a
		{"sub/../../..", engine.ErrEscapes},
		{"/", engine.ErrEscapes},
		{"/etc", engine.ErrEscapes},
		{strings.Repeat("x", 5000), engine.ErrInvalid},
		{"a\x00b", engine.ErrInvalid},
		{"sub", nil},
		{"/tmp/sandbox-work/sub", nil},
	} {
		name := fmt.Sprintf("%.20q", tt.cwd)
		opts := &engine.RunOptions{Type: engine.Shell, Cwd: tt.cwd}
		_, nearErr := near.Exec(t.Context(), "pwd; pwd -P; touch spawned", opts)
		out, err := far.Exec(t.Context(), "pwd; pwd -P; touch spawned", opts)
		if kindsOf(err) != kindsOf(nearErr) {
			t.Errorf("%s: %v, and in process %v", name, err, nearErr)
		}
		if tt.want == nil {
			if err != nil || string(out.Stdout) != "/tmp/sandbox-work/sub\n/tmp/sandbox-work/sub\n" {
				t.Errorf("%s: %v, %v", name, out, err)
			}
			continue
		}
		if !errors.Is(err, tt.want) && !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if u := far.Usage(); u.Runs != 3 { // the first one, and the two good directories
		t.Errorf("%d runs have been started, want 3", u.Runs)
	}
	if _, err := far.Stat(t.Context(), "spawned"); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, engine.ErrNotExist) {
		t.Errorf("a run has started where it should not: %v", err)
	}
}

// TestTimeouts has odd ones: cases C159. Zero is the session's, and nothing overflows.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	const script = "sleep 1; echo ok"
	for d, want := range map[time.Duration]string{
		0: "ok", time.Nanosecond: "timeout", 500 * time.Millisecond: "timeout", 365 * 24 * time.Hour: "ok", math.MaxInt64: "ok", -1: "invalid", math.MinInt64: "invalid",
	} {
		out, err := s.Exec(t.Context(), script, &engine.RunOptions{Type: engine.Shell, Timeout: d})
		got := ""
		switch {
		case errors.Is(err, engine.ErrInvalid):
			got = "invalid"
		case err != nil:
			got = err.Error()
		case out.Result.Reason == engine.ReasonTimeout:
			got = "timeout"
		default:
			got = strings.TrimSpace(string(out.Stdout))
		}
		if got != want {
			t.Errorf("Timeout %v: %s, want %s", d, got, want)
		}
	}
	for text, want := range map[string]string{
		`"0s"`: "ok", `"0.000000001s"`: "REASON_TIMEOUT", `"0.5s"`: "REASON_TIMEOUT", `"31536000s"`: "ok", `"315576000000s"`: "ok", `null`: "ok",
		`"-1s"`: "invalid_argument", `"-0.5s"`: "invalid_argument", `"1e308s"`: "invalid_argument", `"NaNs"`: "invalid_argument", `"NaN"`: "invalid_argument",
		`"Infinity"`: "invalid_argument", `"315576000001s"`: "invalid_argument", `"1"`: "invalid_argument", `1`: "invalid_argument", `""`: "invalid_argument",
	} {
		body := fmt.Sprintf(`{"sessionId":%q,"type":"SCRIPT_TYPE_SHELL","script":%q,"timeout":%s}`, s.ID(), script, text)
		a, err := do(t, h2c(t), p.url(), request{path: pathTo("Run"), kind: jsonStream, body: bytes.NewReader(envelope(0, []byte(body)))})
		if err != nil {
			t.Fatal(err)
		}
		found := a.code() == want
		switch want {
		case "ok":
			found = a.code() == "" && strings.Contains(string(a.body), `"exitCode":0`)
		case "REASON_TIMEOUT":
			found = strings.Contains(string(a.body), want)
		}
		if !found {
			t.Errorf("timeout %s: %s, want %s", text, a, want)
		}
	}
}
