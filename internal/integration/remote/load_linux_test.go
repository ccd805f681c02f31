package remote

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/testserver"
)

// The whole load is -load.conns 200 -load.sessions 2000 -load.runs 100000.
var (
	loadConns    = flag.Int("load.conns", 20, "clients with connections of their own")
	loadSessions = flag.Int("load.sessions", 200, "sessions that are open at the same time")
	loadRuns     = flag.Int("load.runs", 1500, "runs")
)

// Under load every call succeeds, or says which limit it has met; and the server's memory does not grow with the runs.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it is a load")
	}
	needBackend(t, sandbar.Bubblewrap)
	srv := testserver.Start(t, "--backend", "bubblewrap")
	clients := make([]*remote.Client, *loadConns)
	for i := range clients {
		c, err := remote.NewClient(srv.URLs[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients[i] = c
	}
	sessions := openMany(t, clients, *loadSessions)
	var (
		next, limited, lines atomic.Int64
		all                  sync.WaitGroup
	)
	half := make(chan int64, 1)
	for range *loadConns {
		all.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(*loadRuns) {
					return
				}
				if n == int64(*loadRuns)/2 {
					half <- memory(t, srv.PID(), "RssAnon")
				}
				switch err := loadRun(t.Context(), sessions[rand.N(len(sessions))], n); {
				case errors.Is(err, engine.ErrLimit):
					limited.Add(1)
				case err != nil:
					t.Errorf("run %d: %v", n, err)
				default:
					lines.Add(1)
				}
			}
		})
	}
	began := time.Now()
	all.Wait()
	took := time.Since(began)
	before, after := <-half, memory(t, srv.PID(), "RssAnon")
	t.Logf("%d runs in %v (%.0f/s), %d met a limit; memory %d MiB at half, %d MiB at the end",
		lines.Load(), took.Round(time.Millisecond), float64(lines.Load())/took.Seconds(), limited.Load(), before>>20, after>>20)
	if after > before+before/4+64<<20 {
		t.Errorf("the server's memory grew from %d to %d MiB in the second half", before>>20, after>>20)
	}
	var closing sync.WaitGroup
	for _, s := range sessions {
		closing.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
}

// openMany opens sessions, spread over the clients. Each has its live interpreter from the start: what is there to be kept is
// kept before the memory is looked at.
func openMany(t *testing.T, clients []*remote.Client, n int) []*engine.Session {
	t.Helper()
	sessions := make([]*engine.Session, n)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for k := i; k < n; k += len(clients) {
				s, err := clients[i].Open(t.Context(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				sessions[k] = s
				if _, err := s.Exec(t.Context(), "a = 0", &engine.RunOptions{Interpreter: engine.InterpreterSession}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sessions
}

// loadRun runs one of several kinds of scripts and checks what comes back. One in fifty is native: each cell costs memory.
func loadRun(ctx context.Context, s *engine.Session, n int64) error {
	script, want, opts := fmt.Sprintf("print(%d)", n), fmt.Sprintln(n), &engine.RunOptions{}
	switch {
	case n%50 == 0:
		script, opts.Type = fmt.Sprintf("echo %d", n), engine.Shell
	case n%10 == 1:
		script, want = "print('x' * 100000)", ""
	case n%10 == 2:
		script, opts.Interpreter = fmt.Sprintf("a = %d; print(a)", n), engine.InterpreterSession
	}
	out, err := s.Exec(ctx, script, opts)
	switch {
	case err != nil:
		return err
	case want == "" && len(out.Stdout) != 100001, want != "" && string(out.Stdout) != want, out.Result.Reason != engine.ReasonExited:
		return fmt.Errorf("%q gave %.50q and %+v; stderr %q", script, out.Stdout, out.Result, out.Stderr)
	}
	return nil
}
