package wire

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"pgregory.net/rapid"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

var (
	anyBytes = rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) })
	anyName  = rapid.OneOf(rapid.String(), anyBytes)
	anyTime  = rapid.Custom(func(t *rapid.T) time.Time {
		sec := rapid.Int64Range(firstSecond+1, lastSecond).Draw(t, "seconds")
		return time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
	})
	anyMode = rapid.Custom(func(t *rapid.T) fs.FileMode {
		mode := fs.FileMode(rapid.Uint32Range(0, 0o777).Draw(t, "permissions"))
		for _, b := range modeBits {
			if rapid.Bool().Draw(t, "bit") {
				mode |= b.mode
			}
		}
		return mode | fileTypes[rapid.IntRange(0, len(fileTypes)-1).Draw(t, "type")].mode
	})
	anyDuration = rapid.OneOf(rapid.Int64Min(0), rapid.Just(int64(0)), rapid.Just(int64(engine.NoTimeout)))
	anyTier     = rapid.SampledFrom([]engine.Tier{"", engine.TierAuto, engine.TierNative, engine.TierWasm})
	anyNetwork  = rapid.SampledFrom(append(netpolicy.Modes(), ""))
	anyEnv      = rapid.MapOf(anyName, anyName)
)

func same(t *rapid.T, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, append(opts, cmpopts.EquateEmpty())...); diff != "" {
		t.Fatalf("(-went +came):\n%s", diff)
	}
}

func drawLimits(t *rapid.T) engine.Limits {
	n := func(name string) int64 { return rapid.Int64().Draw(t, name) }
	return engine.Limits{
		Memory: n("memory"), Output: n("output"), FileSize: n("file size"), Tmp: n("tmp"), TmpFiles: n("tmp files"), Disk: n("disk"),
		DiskFiles: n("disk files"),
		CPU:       time.Duration(anyDuration.Draw(t, "cpu")),
		OpenFiles: rapid.Int().Draw(t, "open files"),
		Processes: rapid.Int().Draw(t, "processes"),
	}
}

func TestOptions_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
		want := &engine.Options{
			WorkDir: rapid.String().Draw(t, "work dir"), Overlay: rapid.String().Draw(t, "overlay"), Warm: rapid.String().Draw(t, "warm"),
			ReadOnly:   rapid.SliceOf(rapid.String()).Draw(t, "read only"),
			ReadWrite:  rapid.SliceOf(rapid.String()).Draw(t, "read write"),
			Network:    anyNetwork.Draw(t, "network"),
			PythonTier: anyTier.Draw(t, "tier"),
			GPU:        yes("gpu"), Venv: yes("venv"), BestEffort: yes("best effort"),
			Env:       anyEnv.Draw(t, "env"),
			Timeout:   time.Duration(anyDuration.Draw(t, "timeout")),
			Limits:    drawLimits(t),
			MaxOutput: rapid.Int64().Draw(t, "max output"),
		}
		m, err := Options(want, "userns")
		if err != nil {
			t.Fatal(err)
		}
		got, backend, err := ToOptions(sent(t, m))
		if err != nil || backend != "userns" {
			t.Fatalf("backend %q, %v", backend, err)
		}
		same(t, want, got)
	})
}

func TestRun_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &engine.RunOptions{
			Type:        rapid.SampledFrom([]engine.ScriptType{"", engine.Python, engine.Shell}).Draw(t, "type"),
			Name:        rapid.String().Draw(t, "name"),
			Args:        rapid.SliceOf(anyName).Draw(t, "args"),
			Env:         anyEnv.Draw(t, "env"),
			Cwd:         anyName.Draw(t, "cwd"),
			Timeout:     time.Duration(anyDuration.Draw(t, "timeout")),
			MaxOutput:   rapid.Int64().Draw(t, "max output"),
			Background:  rapid.Bool().Draw(t, "background"),
			Interpreter: rapid.SampledFrom([]engine.Interpreter{"", engine.InterpreterFresh, engine.InterpreterSession}).Draw(t, "interpreter"),
			Network:     anyNetwork.Draw(t, "network"),
		}
		if rapid.Bool().Draw(t, "terminal") {
			want.Terminal = &engine.TerminalSize{Rows: int(rapid.Int32().Draw(t, "rows")), Cols: int(rapid.Int32().Draw(t, "columns"))}
		}
		wantScript, stdin := anyName.Draw(t, "script"), rapid.SliceOf(rapid.Byte()).Draw(t, "stdin")
		m, err := RunRequest(wantScript, want)
		if err != nil {
			t.Fatal(err)
		}
		m.Stdin = stdin
		script, got, err := ToRun(sent(t, m))
		if err != nil || script != wantScript {
			t.Fatalf("script %q, %v; want %q", script, err, wantScript)
		}
		same(t, stdin, readAll(t, got.Stdin))
		same(t, want, got, cmpopts.IgnoreFields(engine.RunOptions{}, "Stdin"))
	})
}

func readAll(t *rapid.T, r io.Reader) []byte {
	if r == nil {
		return nil
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	if b.Len() == 0 {
		t.Fatal("a stdin without bytes is no reader")
	}
	return b.Bytes()
}

func TestResult_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figure := func(name string) int64 { return rapid.Int64Min(engine.Unknown).Draw(t, name) }
		want := engine.Result{
			ExitCode: int(rapid.Int32Min(engine.Unknown).Draw(t, "code")),
			Signal:   int(rapid.Int32().Draw(t, "signal")),
			Reason:   reasons.rows[rapid.IntRange(0, len(reasons.rows)-1).Draw(t, "reason")].name,
			Tier:     anyTier.Draw(t, "tier"),
			Backend:  rapid.String().Draw(t, "backend"), Route: rapid.String().Draw(t, "route"), Advice: rapid.String().Draw(t, "advice"),
			WallTime: time.Duration(figure("wall time")), CPUTime: time.Duration(figure("cpu time")), PeakMemory: figure("peak memory"),
			StdoutBytes: figure("stdout"), StderrBytes: figure("stderr"),
			Truncated: rapid.Bool().Draw(t, "truncated"), Value: rapid.String().Draw(t, "value"),
			InterpreterLost: rapid.Bool().Draw(t, "lost"),
		}
		got := ToResult(sent(t, Result(&want)))
		if want.Reason == engine.ReasonLost {
			want.ExitCode = engine.Unknown
		}
		same(t, want, got)
	})
}

// TestResult_Hostile: what a script has a hand in is never why a result cannot be sent.
func TestResult_Hostile(t *testing.T) {
	m := sent(t, Result(&engine.Result{Value: "'\xff\xfe'", Advice: "\x80", ExitCode: math.MaxInt, Signal: math.MinInt}))
	if m.GetValue() != "'\uFFFD'" || m.GetAdvice() != "\uFFFD" {
		t.Errorf("%v", m)
	}
}

func TestInfo_RoundTrip(t *testing.T) {
	names := rapid.SliceOfN(rapid.String(), 1, 3)
	words := rapid.MapOf(rapid.String(), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		limits := drawLimits(t)
		want := engine.Info{
			Overlay: rapid.String().Draw(t, "overlay"), OverlayKind: engine.OverlayFS, Limits: limits, Network: anyNetwork.Draw(t, "network"),
			Unenforced: rapid.MapOf(anyTier, names).Draw(t, "unenforced"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "tiers") {
			want.Tiers = append(want.Tiers, engine.DriverInfo{
				Tier: anyTier.Draw(t, "tier"), Backend: rapid.String().Draw(t, "backend"),
				Versions: words.Draw(t, "versions"), Enforced: words.Draw(t, "enforced"),
				Unenforced: names.Draw(t, "unenforced"), Unmeasured: names.Draw(t, "unmeasured"), Warnings: names.Draw(t, "warnings"),
			})
		}
		wantWarnings := names.Draw(t, "warnings")
		got, warnings := ToInfo(sent(t, Info(&want, wantWarnings)))
		same(t, want, got)
		same(t, wantWarnings, warnings)
	})
}

func TestUsage_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figure := func(name string) int64 { return rapid.Int64Min(engine.Unknown).Draw(t, name) }
		count := rapid.IntMin(0)
		want := engine.Usage{
			Runs: count.Draw(t, "runs"), Running: count.Draw(t, "running"),
			ByTier:   rapid.MapOf(anyTier, count).Draw(t, "by tier"),
			ByReason: map[engine.Reason]int{engine.ReasonExited: count.Draw(t, "exited")},
			WallTime: time.Duration(figure("wall time")), CPUTime: time.Duration(figure("cpu time")), PeakMemory: figure("peak memory"),
			StdoutBytes: figure("stdout"), StderrBytes: figure("stderr"),
			Unmeasured: rapid.MapOf(rapid.String(), count).Draw(t, "unmeasured"),
		}
		same(t, want, ToUsage(sent(t, Usage(&want))))
	})
}

func TestFileInfo_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := engine.FileInfo{
			Name: anyName.Draw(t, "name"), Size: rapid.Int64().Draw(t, "size"), Mode: anyMode.Draw(t, "mode"), ModTime: anyTime.Draw(t, "time"),
		}
		same(t, want, ToFileInfo(sent(t, FileInfo(&want))))
	})
}

func TestChange_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := engine.Change{
			Path: anyName.Draw(t, "path"), Target: anyName.Draw(t, "target"),
			Kind: rapid.SampledFrom([]engine.ChangeKind{engine.Added, engine.Changed, engine.Removed}).Draw(t, "kind"),
			Size: rapid.Int64().Draw(t, "size"), OldSize: rapid.Int64().Draw(t, "old size"),
			SHA256: rapid.StringMatching(`([0-9a-f]{8})?`).Draw(t, "hash"), Unread: rapid.Bool().Draw(t, "unread"),
		}
		if want.Kind != engine.Removed {
			want.Mode = anyMode.Draw(t, "mode")
		}
		if want.Kind != engine.Added {
			want.OldMode = anyMode.Draw(t, "old mode")
		}
		same(t, want, ToChange(sent(t, Change(&want))))
	})
}

// TestChange_Nothing: a regular file without any permission has the mode 0, as has what is not there.
func TestChange_Nothing(t *testing.T) {
	const none, regular = sandboxv2.FileType_FILE_TYPE_UNSPECIFIED, sandboxv2.FileType_FILE_TYPE_REGULAR
	for kind, want := range map[engine.ChangeKind][2]sandboxv2.FileType{
		engine.Added: {none, regular}, engine.Changed: {regular, regular}, engine.Removed: {regular, none},
	} {
		if m := Change(&engine.Change{Kind: kind}); m.GetOldType() != want[0] || m.GetType() != want[1] {
			t.Errorf("%s: from %v to %v, want %v", kind, m.GetOldType(), m.GetType(), want)
		}
	}
}

// TestTimestamp_Range: a script can give its files any time. JSON refuses what no Timestamp can be.
func TestTimestamp_Range(t *testing.T) {
	for _, sec := range []int64{math.MinInt64, -1 << 62, firstSecond - 1, firstSecond, -1, 0, lastSecond, lastSecond + 1, math.MaxInt64} {
		m := FileInfo(&engine.FileInfo{ModTime: time.Unix(sec, 5)})
		if _, err := protojson.Marshal(m); err != nil {
			t.Errorf("%d s: %v", sec, err)
		}
	}
	if got := Timestamp(time.Time{}); got != nil {
		t.Errorf("the zero time is %v", got)
	}
	if got := ToTimestamp(nil); !got.IsZero() {
		t.Errorf("not set is %v", got)
	}
}

func TestSetText(t *testing.T) {
	for _, want := range []string{"", "plain", "\u00e9", "\xff", "a\x80b", strings.Repeat("\xff", 1000)} {
		var str string
		var raw []byte
		SetText(&str, &raw, want)
		if str != "" && raw != nil {
			t.Errorf("%q is in both fields", want)
		}
		if got, err := Text(str, raw, "path"); err != nil || got != want {
			t.Errorf("%q became %q, %v", want, got, err)
		}
	}
}
