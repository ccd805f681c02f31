package remote

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server"
)

// torrent writes two gigabytes.
const torrent = `yes "$(head -c 200 /dev/zero | tr '\0' q)" | head -c 2000000000`

// stuckRoom is what a server may take for clients that do not read, in bytes: far less than torrent.
const stuckRoom = 150 << 20

// TestStuck has a Go client that does not read: cases C142.
func TestStuck(t *testing.T) {
	p := launch(t, setup{Limits: server.Limits{Runs: 2, QueuedRuns: -1}, Options: times{Stall: 2 * time.Second}})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	shell := func(timeout time.Duration) *engine.RunOptions {
		return &engine.RunOptions{Type: engine.Shell, Timeout: timeout}
	}
	mustExec(t, s, "echo warm")
	forget(t, p.pid())
	before := memory(t, p.pid(), "VmRSS")
	stuck, err := s.Run(t.Context(), torrent, shell(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stuck.Stdout().Read(make([]byte, 1)); err != nil { // it streams, and from here on nobody reads
		t.Fatal(err)
	}
	mustExec(t, s, "echo beside") // over the same connection
	result, err := stuck.Wait(t.Context())
	if err != nil || result.Reason != engine.ReasonTimeout {
		t.Errorf("the run that nobody reads: %v, %v, want timeout", result.Reason, err)
	}
	if took := memory(t, p.pid(), "VmHWM") - before; took > stuckRoom {
		t.Errorf("the server took %d MiB for a client that does not read, want at most %d", took>>20, stuckRoom>>20)
	}
	bothFree(t, s)
}

// TestStuck_Raw has clients that take nothing from their sockets, or open no window.
func TestStuck_Raw(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, string, []byte){"http1": stuckHTTP1, "http2": stuckHTTP2} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, setup{Limits: server.Limits{Runs: 2, QueuedRuns: -1}, Options: times{Stall: 2 * time.Second}})
			s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
			mustExec(t, s, "echo warm")
			forget(t, p.pid())
			before := memory(t, p.pid(), "VmRSS")
			m := shellRun(s.ID(), torrent)
			m.StreamOutput, m.Timeout = true, durationpb.New(2*time.Second)
			begin(t, p.url(), envelope(0, marshal(t, m)))
			c := client(t, p.url(), nil).RPC()
			until(t, "the run has ended by its timeout", func() bool {
				list, err := c.ListRuns(t.Context(), connectRequest(&sandboxv2.ListRunsRequest{SessionId: s.ID()}))
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list.Msg.GetRuns() {
					if r.GetResult().GetReason() == sandboxv2.Reason_REASON_TIMEOUT {
						return true
					}
				}
				return false
			})
			if took := memory(t, p.pid(), "VmHWM") - before; took > stuckRoom {
				t.Errorf("the server took %d MiB for a client that does not read, want at most %d", took>>20, stuckRoom>>20)
			}
			bothFree(t, s)
		})
	}
}

// bothFree wants two runs to have a place at once.
func bothFree(t *testing.T, s *engine.Session) {
	t.Helper()
	until(t, "two runs have a place", func() bool {
		r, err := s.Run(t.Context(), "read x", &engine.RunOptions{Type: engine.Shell, StdinPipe: true})
		if errors.Is(err, engine.ErrLimit) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		defer r.Kill()
		out, err := s.Exec(t.Context(), "echo ok", &engine.RunOptions{Type: engine.Shell})
		return err == nil && string(out.Stdout) == "ok\n"
	})
}

// mustExec runs a script that has to end well.
func mustExec(t *testing.T, s *engine.Session, script string) {
	t.Helper()
	out, err := s.Exec(t.Context(), script, &engine.RunOptions{Type: engine.Shell})
	if err != nil || out.Result.ExitCode != 0 {
		t.Fatalf("%s: %v, %v", script, out, err)
	}
}

func stuckHTTP1(t *testing.T, url string, body []byte) {
	t.Helper()
	conn := dial(t, url)
	if _, err := fmt.Fprintf(conn, "%s%s", head(pathTo("Run"), "application/connect+proto", fmt.Sprintf("Content-Length: %d", len(body))), body); err != nil {
		t.Fatal(err)
	}
}

func stuckHTTP2(t *testing.T, url string, body []byte) {
	t.Helper()
	f := frames(t, dial(t, url))
	f.request(t, 1, "Run", "application/connect+proto", body)
	go func() { // windows stay as they are; pings are answered, as by a client that is alive
		for {
			if _, err := f.next(); err != nil {
				return
			}
		}
	}()
}
