package remote

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server"
)

// silent is a script that writes nothing, and is found by its sleep.
const silent = "date > started; sleep %d; date > finished"

// TestClientGone ends a client in the middle of a silent run: cases C141. The run ends, unless it is detached.
func TestClientGone(t *testing.T) {
	p := launch(t, setup{})
	for _, protocol := range []string{viaHTTP1, viaHTTP2} {
		t.Run("killed, "+protocol, func(t *testing.T) {
			seconds := mark()
			c := startClient(t, nil, p.url(), protocol, 1, fmt.Sprintf(silent, seconds))
			until(t, "the run sleeps", func() bool { return asleep(t, seconds) == 1 })
			c.kill()
			until(t, "the run has ended", func() bool { return asleep(t, seconds) == 0 })
		})
	}
	t.Run("connection closed", func(t *testing.T) {
		seconds := mark()
		s := open(t, p.url(), nil)
		conn := dial(t, p.url())
		body := envelope(0, marshal(t, shellRun(s.ID(), fmt.Sprintf(silent, seconds))))
		if _, err := fmt.Fprintf(conn, "%s%s", head(pathTo("Run"), "application/connect+proto", fmt.Sprintf("Content-Length: %d", len(body))), body); err != nil {
			t.Fatal(err)
		}
		until(t, "the run has begun", func() bool { return asleep(t, seconds) == 1 })
		conn.Close()
		until(t, "the run has ended", func() bool { return asleep(t, seconds) == 0 })
	})
}

// TestClientGone_Detached: such a run goes on, and is found again.
func TestClientGone_Detached(t *testing.T) {
	p := launch(t, setup{})
	first := client(t, p.url(), nil)
	m, err := first.RPC().OpenSession(t.Context(), connectRequest(&sandboxv2.OpenSessionRequest{Options: &sandboxv2.SessionOptions{Backend: "userns"}}))
	if err != nil {
		t.Fatal(err)
	}
	id := m.Msg.GetSession().GetSessionId()
	conn := dial(t, p.url())
	req := shellRun(id, "echo 0123456789; while ! [ -e go ]; do sleep 0.05; done; echo end; exit 3")
	req.Detach = true
	body := envelope(0, marshal(t, req))
	if _, err := fmt.Fprintf(conn, "%s%s", head(pathTo("Run"), "application/connect+proto", fmt.Sprintf("Content-Length: %d", len(body))), body); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for !strings.Contains(seen.String(), "0123456789") {
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(buf[:n])
	}
	conn.Close()

	second := client(t, p.url(), nil).RPC()
	list, err := second.ListRuns(t.Context(), connectRequest(&sandboxv2.ListRunsRequest{SessionId: id}))
	if err != nil || len(list.Msg.GetRuns()) != 1 {
		t.Fatalf("ListRuns = %v, %v, want the run", list, err)
	}
	run := list.Msg.GetRuns()[0]
	if run.GetResult() != nil {
		t.Fatalf("the run has ended with its client: %v", run)
	}
	stream, err := second.AttachRun(t.Context(), connectRequest(&sandboxv2.AttachRunRequest{SessionId: id, RunId: run.GetRunId(), StdoutOffset: 4}))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var result *sandboxv2.Result
	for stream.Receive() {
		ev := stream.Msg().GetEvent()
		if ev.GetStarted() != nil { // it is attached: now the run may end
			if _, err := second.PutBytes(t.Context(), connectRequest(&sandboxv2.PutBytesRequest{SessionId: id, Path: "go"})); err != nil {
				t.Fatal(err)
			}
		}
		out.Write(ev.GetStdout())
		result = ev.GetExited()
	}
	if out.String() != "456789\nend\n" || result.GetExitCode() != 3 || stream.Err() != nil {
		t.Errorf("attached from 4: %q, %v, %v, want the rest and exit code 3", out.String(), result, stream.Err())
	}
}

// TestCableOut takes the cable out between a server that is full and its clients: cases C141, C150. Nothing tells the server,
// and yet the runs end, and their slots and sessions are free.
func TestCableOut(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keep-alives")
	}
	t.Parallel()
	for _, protocol := range []string{viaHTTP1, viaHTTP2} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			const n = 3
			c := newCable(t)
			dir := t.TempDir()
			socket := "unix:" + filepath.Join(dir, "s") // the way in from elsewhere
			p := launchIn(t, setup{
				Listen:  []string{serverAddress + ":0", socket},
				Limits:  server.Limits{Sessions: n, Runs: n, QueuedRuns: -1},
				Options: times{Idle: 1e9},
			}, dir, inside(c.server)...)
			seconds := mark()
			startClient(t, inside(c.client), p.urls[0], protocol, n, fmt.Sprintf(silent, seconds))
			elsewhere := client(t, p.urls[1], nil)
			// The sessions are in use, and so not idle.
			if _, err := elsewhere.Open(t.Context(), nil); !errors.Is(err, engine.ErrLimit) {
				t.Fatalf("a session more than the limit: %v, want ErrLimit", err)
			}
			until(t, "the runs sleep", func() bool { return asleep(t, seconds) == n })
			c.pull(t)
			untilLong(t, "the runs have ended", func() bool { return asleep(t, seconds) == 0 })
			until(t, "there is room for other sessions", func() bool {
				s, err := elsewhere.Open(t.Context(), &remote.SessionOptions{Backend: "userns"})
				if err != nil {
					if !errors.Is(err, engine.ErrLimit) {
						t.Fatal(err)
					}
					return false
				}
				defer s.Close()
				out, err := s.Exec(t.Context(), "echo ok", &engine.RunOptions{Type: engine.Shell})
				return err == nil && string(out.Stdout) == "ok\n"
			})
		})
	}
}

// startClient starts a client process, and returns when its runs have begun.
func startClient(t *testing.T, before []string, url, protocol string, n int, script string) *process {
	t.Helper()
	c := spawn(t, childCommand(t, before, "client", url, protocol, fmt.Sprint(n), script))
	for c.line(t) != "all" {
	}
	c.drain()
	return c
}
