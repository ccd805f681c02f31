package wasm

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/sandbar-dev/sandbar/engine"
)

// tickBudget is how many loop heads a guest passes between two calls of tick: some tenths of a
// millisecond, in Python and in C code. A garbage collection that finds every processor taken by guests
// has to wait for some hundred ticks.
const tickBudget = 20_000

// drainTicks bounds what sandbar_drain may do on the heap of a stopped interpreter.
const drainTicks = 500

// stopped is what a host function panics with to end a run. It never leaves this package.
type stopped struct{ why error }

func (s stopped) Error() string { return s.why.Error() }
func (s stopped) Unwrap() error { return s.why }

var (
	errKilled   = errors.New("wasm: stopped")
	errUnbegun  = errors.New("wasm: interrupted before it began")
	errCPU      = errors.New("wasm: processor time spent")
	errDrainEnd = errors.New("wasm: drain took too long")
)

// exited is what proc_exit panics with.
type exited struct{ code uint32 }

func (e exited) Error() string { return "wasm: proc_exit" }

// guests counts the runs under way in this process.
var guests atomic.Int32

// control is how the outside interrupts and ends a run, and what the guest's goroutine looks at. Stop and interrupt are for
// any goroutine, all else for the guest's.
type control struct {
	mu       sync.Mutex
	timer    *time.Timer
	wake     chan struct{} // closed: raise KeyboardInterrupt; replaced, by the guest's goroutine alone, when that was for an interrupt
	orderly  chan struct{} // closed: the run is to end; wake is closed too
	kill     chan struct{} // closed: end now; the others are closed too
	deadline time.Time
	ended    bool

	instance   *instance       // what is run; it is set before the guest is called
	processors int32           // GOMAXPROCS
	delivered  bool            // the orderly stop has been raised
	raised     bool            // an interrupt has been raised
	held       bool            // interrupts are not raised for now; the stop is
	with       <-chan struct{} // closed: end now too; nil: never
	draining   int
	cpu        func() time.Duration // processor time of this run so far
	cpuLimit   time.Duration
}

func newControl() *control {
	return &control{
		processors: int32(runtime.GOMAXPROCS(0)),
		wake:       make(chan struct{}), orderly: make(chan struct{}), kill: make(chan struct{}),
	}
}

// stop asks for an end in an orderly way, and forces it after grace.
func (c *control) stop(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if grace <= 0 {
		// Before the others, which wake the guest: it must find that it is to end.
		closeOnce(c.kill)
	}
	closeOnce(c.orderly)
	closeOnce(c.wake)
	if grace <= 0 {
		return
	}
	deadline := time.Now().Add(grace)
	switch {
	case c.timer == nil:
		c.timer = time.AfterFunc(grace, func() { c.stop(0) })
	case deadline.Before(c.deadline):
		c.timer.Reset(grace)
	default:
		return
	}
	c.deadline = deadline
}

// interrupt raises a KeyboardInterrupt, unless one is pending or the run is being stopped.
func (c *control) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		closeOnce(c.wake)
	}
}

// take takes what is to be raised, and reports false when there is nothing.
func (c *control) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.delivered:
		return false
	case isClosed(c.orderly):
		c.delivered = true
	case c.held || !isClosed(c.wake):
		return false
	default:
		c.wake = make(chan struct{})
		c.raised = true
	}
	return true
}

// unbegun is why a script is not begun, where the run was stopped or interrupted before: else nil.
func (c *control) unbegun() error {
	switch {
	case isClosed(c.orderly):
		return errKilled
	case isClosed(c.wake):
		return errUnbegun
	}
	return nil
}

// stopAfter ends the run by force when the timeout of a run has passed, unless cancel is called before. It is for what is
// done for a run and not by Session's clock.
func (c *control) stopAfter(timeout time.Duration) (cancel func()) {
	if timeout <= 0 || timeout == engine.NoTimeout {
		return func() {}
	}
	timer := time.AfterFunc(timeout, func() { c.stop(0) })
	return func() { timer.Stop() }
}

// end makes later stops do nothing, and lets the timer go.
func (c *control) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

func closeOnce(ch chan struct{}) {
	if !isClosed(ch) {
		close(ch)
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// tick is called from the guest's loops each tickBudget loop heads. It is what lets the garbage
// collector and other goroutines in: generated code cannot be preempted, a Go function can.
func (c *control) tick(ctx context.Context) {
	c.instance.counter.Set(tickBudget)
	// Where guests have all processors, others would wait until the runtime's monitor takes one away, 10 ms
	// later, and runtime.GC waits so for each span of memory that it sweeps. Giving it up costs a change of
	// threads, some percent of the guest's speed, which is saved where a processor is left.
	if guests.Load() >= c.processors {
		runtime.Gosched()
	}
	if c.draining > 0 {
		if c.draining--; c.draining == 0 {
			panic(stopped{errDrainEnd})
		}
		return
	}
	if c.cpuLimit > 0 && c.cpu() > c.cpuLimit {
		panic(stopped{errCPU})
	}
	if isClosed(c.with) {
		panic(stopped{errKilled})
	}
	if isClosed(c.Wait()) {
		c.Deliver(ctx, nil)
	}
}

// Wait implements wasi.Signals.
func (c *control) Wait() <-chan struct{} {
	switch {
	case c.delivered:
		return c.kill
	case c.held:
		return c.orderly
	}
	return c.wake
}

// Deliver implements wasi.Signals.
func (c *control) Deliver(ctx context.Context, _ api.Module) {
	if isClosed(c.kill) {
		panic(stopped{errKilled})
	}
	if c.take() {
		c.instance.raise(ctx)
	}
}

// Exit implements wasi.Signals.
func (c *control) Exit(code uint32) { panic(exited{code}) }
