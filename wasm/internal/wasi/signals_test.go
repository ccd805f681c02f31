package wasi

import (
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sys"
)

// blocking are calls that wait for more than the test's time.
var blocking = []struct {
	name string
	call func(g *guest) (string, []uint64)
}{
	{"read of stdin", func(g *guest) (string, []uint64) {
		ptr, n := g.iovecs(atBuf, 10)
		return "fd_read", []uint64{0, ptr, n, atResult}
	}},
	{"sleep of 10^6 s", func(g *guest) (string, []uint64) {
		return "poll_oneoff", g.subscribe(clockSub(1, clockMonotonic, 1e15, 0))
	}},
	{"sleep until 2^64-1", func(g *guest) (string, []uint64) {
		return "poll_oneoff", g.subscribe(clockSub(1, clockRealtime, math.MaxUint64, subclockAbstime))
	}},
	{"poll of stdin", func(g *guest) (string, []uint64) {
		return "poll_oneoff", g.subscribe(fdSub(1, eventFdRead, 0))
	}},
	{"poll of stdin and a clock", func(g *guest) (string, []uint64) {
		return "poll_oneoff", g.subscribe(fdSub(1, eventFdRead, 0), clockSub(2, clockMonotonic, math.MaxUint64, 0))
	}},
	{"poll of what never comes", func(g *guest) (string, []uint64) {
		return "poll_oneoff", g.subscribe(fdSub(1, eventFdRead, 1), fdSub(1, eventFdWrite, 0))
	}},
}

func TestSignals_InterruptBlockingCalls(t *testing.T) {
	for _, test := range blocking {
		for _, early := range []bool{false, true} {
			name := test.name + " while it waits"
			if early {
				name = test.name + " before it waits"
			}
			t.Run(name, func(t *testing.T) {
				g := newGuest(t)
				base := goruntime.NumGoroutine()
				f, args := test.call(g)
				signal := g.signals.signal
				if early {
					close(signal)
				} else {
					time.AfterFunc(20*time.Millisecond, func() { close(signal) })
				}
				g.want(eINTR, f, args...)
				if g.signals.delivered != 1 {
					t.Errorf("delivered %d times, want once", g.signals.delivered)
				}
				for i := 0; goruntime.NumGoroutine() > base && i < 100; i++ {
					time.Sleep(time.Millisecond)
				}
				if n := goruntime.NumGoroutine(); n > base {
					t.Errorf("%d goroutines, %d before", n, base)
				}
				// Nothing was lost, and the next call works.
				g.stdin.data <- []byte("later")
				if got := g.read(0, 10); got != "later" {
					t.Errorf("read %q", got)
				}
			})
		}
	}
}

func TestSignals_DeliverEndsTheRun(t *testing.T) {
	for _, test := range blocking {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest(t)
			g.signals.kill = true
			f, args := test.call(g)
			time.AfterFunc(10*time.Millisecond, func() { close(g.signals.signal) })
			if _, err := g.try(f, args...); !errors.Is(err, errKilled) {
				t.Errorf("%s: %v, want what Deliver panicked with", f, err)
			}
		})
	}
}

// A program that only ever polls what is ready is interrupted too.
func TestSignals_InterruptReadyPoll(t *testing.T) {
	g := newGuest(t)
	close(g.signals.signal)
	g.want(eINTR, "poll_oneoff", g.subscribe(fdSub(1, eventFdWrite, 1))...)
	g.want(ok, "poll_oneoff", g.subscribe(fdSub(1, eventFdWrite, 1))...)
}

func TestSchedYield(t *testing.T) {
	g := newGuest(t)
	g.want(ok, "sched_yield")
	close(g.signals.signal)
	g.want(eINTR, "sched_yield")
	g.want(ok, "sched_yield")
}

func TestRandomGet_Interrupted(t *testing.T) {
	g := newGuest(t)
	close(g.signals.signal)
	g.want(ok, "random_get", atBuf, 256) // short ones are not worth a look
	g.want(eINTR, "random_get", 0, memorySize)
	g.want(ok, "random_get", 0, memorySize)
}

// A long read or write stops short; the next call meets the signal.
func TestTransfer_Interrupted(t *testing.T) {
	moved := 0
	g := newGuest(t)
	c := call{env: g.env, mem: g.mem}
	move := func(p []byte) (int, sys.Errno) {
		moved += len(p)
		if moved == 2*piece {
			close(g.signals.signal)
		}
		return len(p), 0
	}
	n, err := c.pieces(make([]byte, 100*piece), move)
	if n != 2*piece || err != 0 {
		t.Errorf("pieces = %d, %v, want %d", n, err, 2*piece)
	}
	if g.signals.delivered != 0 {
		t.Error("delivered in the middle of a transfer")
	}
}

// brokenStdin fails without having been interrupted.
type brokenStdin struct{}

var errBroken = errors.New("broken")

func (brokenStdin) Read([]byte, <-chan struct{}) (int, error) { return 0, errBroken }
func (brokenStdin) Wait(<-chan struct{}) error                { return errBroken }

func TestStdin_Broken(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Stdin = brokenStdin{} })
	ptr, n := g.iovecs(atBuf, 10)
	g.want(eIO, "fd_read", 0, ptr, n, atResult)
	// Ready, so that the program comes to read and sees it.
	in := fdSub(1, eventFdRead, 0)
	g.wantEvents(g.poll(in), event{1, 0, eventFdRead, 1})
	g.wantEvents(g.poll(in, clockSub(2, clockMonotonic, 1e15, 0)), event{1, 0, eventFdRead, 1})
	if g.signals.delivered != 0 {
		t.Error("Deliver without a signal")
	}
}

// panickyFS panics; the instance and the Env stay usable.
type panickyFS struct{ sys.UnimplementedFS }

var errPanicky = errors.New("a bug in the FS")

func (panickyFS) Unlink(string) sys.Errno { panic(errPanicky) }

func TestPanicPassesThrough(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.FS = panickyFS{} })
	p, n := g.path("x")
	if _, err := g.try("path_unlink_file", preopenFd, p, n); !errors.Is(err, errPanicky) {
		t.Errorf("path_unlink_file: %v", err)
	}
	g.write(1, "still here")
	if g.stdout.String() != "still here" {
		t.Errorf("stdout = %q", g.stdout)
	}
}

// panickyStdin panics while a poll waits with a goroutine beside it.
type panickyStdin struct{ testStdin }

func (panickyStdin) Wait(cancel <-chan struct{}) error {
	if cancel == (<-chan struct{})(closed) {
		return errInterrupted
	}
	panic(errPanicky)
}

func TestPoll_PanicLeavesNoGoroutine(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Stdin = &panickyStdin{} })
	base := goruntime.NumGoroutine()
	_, err := g.try("poll_oneoff", g.subscribe(fdSub(1, eventFdRead, 0), clockSub(2, clockMonotonic, 1e15, 0))...)
	if !errors.Is(err, errPanicky) {
		t.Errorf("poll_oneoff: %v", err)
	}
	if n := goruntime.NumGoroutine(); n > base {
		t.Errorf("%d goroutines, %d before", n, base)
	}
}

// reentrant calls into the guest while a signal is delivered, as a runner that sets a flag there does.
type reentrant struct {
	testSignals
	g *guest
}

func (s *reentrant) Deliver(ctx context.Context, mod api.Module) {
	s.testSignals.Deliver(ctx, mod)
	// The inner call needs the same scratch as the outer one.
	results, err := mod.ExportedFunction("poll_oneoff").Call(ctx, s.g.subscribe(fdSub(9, eventFdWrite, 1))...)
	if err != nil || results[0] != ok {
		panic(errors.Join(errPanicky, err))
	}
}

func TestSignals_DeliverCallsTheGuest(t *testing.T) {
	var signals *reentrant
	g := newGuest(t, func(c *Config) {
		signals = &reentrant{testSignals: testSignals{signal: make(chan struct{})}}
		c.Signals = signals
	})
	signals.g = g
	time.AfterFunc(10*time.Millisecond, func() { close(signals.signal) })
	g.want(eINTR, "poll_oneoff", g.subscribe(clockSub(1, clockMonotonic, 1e15, 0))...)
}
