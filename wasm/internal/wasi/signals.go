package wasi

import (
	"context"

	"github.com/tetratelabs/wazero/api"
)

// Stdin is a run's standard input. It is used by one goroutine at a time.
type Stdin interface {
	// Read gives at least one byte, or io.EOF at the end. When cancel is closed while it waits, it
	// returns another error and no byte is lost.
	Read(p []byte, cancel <-chan struct{}) (int, error)
	// Wait blocks until Read would not: nil. It returns an error when cancel is closed while it waits;
	// with a channel that is closed already it tells whether Read would block.
	Wait(cancel <-chan struct{}) error
}

// Signals is how a run is interrupted and ended. Its methods are called on the guest's goroutine.
type Signals interface {
	// Wait returns a channel that is closed when something wants to interrupt blocking calls. It may be
	// another channel after Deliver. A nil channel is never closed.
	Wait() <-chan struct{}
	// Deliver is called by a host function when Wait's channel is closed. It panics to end the run, or
	// returns after it has left a pending interrupt in the guest; the host function then answers EINTR.
	// mod is the guest; Deliver may call into it.
	Deliver(ctx context.Context, mod api.Module)
	// Exit ends the run with the guest's exit code: it panics.
	Exit(code uint32)
}

// closed is a channel for asking Stdin without waiting.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// pending reports whether something wants to interrupt.
func (c call) pending() bool {
	select {
	case <-c.env.signals.Wait():
		return true
	default:
		return false
	}
}

// interrupted hands over what wants to interrupt, if anything does. Guest code may have run when it
// returns true: views of memory are void then.
func (c call) interrupted() bool {
	if !c.pending() {
		return false
	}
	c.env.signals.Deliver(c.ctx, c.mod)
	return true
}
