package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

// frozenBound is long for a keep-alive of one second, and short for every other bound that a client has.
const frozenBound = 30 * time.Second

// TestFrozen stops a server in the middle of a run: cases C156, C005. The run is lost, and so are other calls.
func TestFrozen(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{})
	alive := &remote.Options{
		ClientOptions:  remote.ClientOptions{KeepAlive: time.Second},
		SessionOptions: remote.SessionOptions{Backend: "userns"},
	}
	s := open(t, p.url(), alive)
	for name, opts := range map[string]engine.RunOptions{"run": {}, "interactive": {StdinPipe: true}} {
		opts.Type = engine.Shell
		t.Run(name, func(t *testing.T) {
			r, err := s.Run(t.Context(), "echo first; sleep 100; echo second", &opts)
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(r.Stdout()).ReadString('\n'); line != "first\n" {
				t.Fatalf("%q, %v", line, err)
			}
			freeze(t, p)
			ctx, cancel := context.WithTimeout(t.Context(), frozenBound)
			defer cancel()
			result, err := r.Wait(ctx)
			if !errors.Is(err, engine.ErrLost) {
				t.Errorf("a run of a server that stands still: %v, %v, want ErrLost", result, err)
			}
			if _, err := s.Stat(ctx, "."); err == nil || ctx.Err() != nil {
				t.Errorf("Stat on a server that stands still: %v, and the context %v", err, ctx.Err())
			}
		})
	}
}

// TestFrozen_Stop ends a run of a server that stands still, without keep-alives: it does not wait for the server for ever.
func TestFrozen_Stop(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the time that a stop may take")
	}
	t.Parallel()
	for _, stdin := range []bool{false, true} {
		t.Run(fmt.Sprintf("stdin=%v", stdin), func(t *testing.T) {
			t.Parallel()
			p := launch(t, setup{})
			s := open(t, p.url(), &remote.Options{
				ClientOptions:  remote.ClientOptions{KeepAlive: time.Hour},
				SessionOptions: remote.SessionOptions{Backend: "userns"},
			})
			r, err := s.Run(t.Context(), "sleep 100", &engine.RunOptions{Type: engine.Shell, StdinPipe: stdin})
			if err != nil {
				t.Fatal(err)
			}
			freeze(t, p)
			r.Kill()
			ctx, cancel := context.WithTimeout(t.Context(), frozenBound)
			defer cancel()
			if result, err := r.Wait(ctx); !errors.Is(err, engine.ErrLost) {
				t.Errorf("a run that was stopped: %v, %v, want ErrLost", result, err)
			}
		})
	}
}

// freeze stops a server until the end of the test.
func freeze(t *testing.T, p *process) {
	t.Helper()
	if err := syscall.Kill(p.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(p.pid(), syscall.SIGCONT) })
}

// TestQuiet has a run that is silent for many times the keep-alives of both sides: cases C156, C157.
func TestQuiet(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{Options: times{Ping: time.Second, Header: time.Second, Message: time.Second, Silence: time.Second, Stall: time.Second}})
	s := open(t, p.url(), &remote.Options{
		ClientOptions:  remote.ClientOptions{KeepAlive: time.Second},
		SessionOptions: remote.SessionOptions{Backend: "userns"},
	})
	for _, opts := range []engine.RunOptions{{}, {StdinPipe: true}} {
		opts.Type = engine.Shell
		t.Run(fmt.Sprintf("stdin=%v", opts.StdinPipe), func(t *testing.T) {
			t.Parallel()
			r, err := s.Run(t.Context(), "sleep 7; echo ok", &opts)
			if err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(r.Stdout()).ReadString('\n')
			if result, err := r.Wait(t.Context()); err != nil || line != "ok\n" {
				t.Errorf("a quiet run: %q, %v, %v", line, result, err)
			}
		})
	}
}
