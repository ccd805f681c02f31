package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"connectrpc.com/connect"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// errSilent is why a call or stream is given up.
var errSilent = errors.New("the server does not answer")

// A watch gives up a call by the short road when the server is not there any more. HTTP/1.1 has no pings: when nothing has come for
// as long as a keep-alive, the server is asked on the long road, and as long as it answers there the call may take its time.
type watch struct {
	client *Client
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	waiting bool
}

// watch begins at once. Stop is to be called.
func (c *Client) watch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{client: c, cancel: cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = true
	w.timer = time.AfterFunc(c.alive, func() { w.look(ctx) })
	return ctx, w
}

// look asks the server.
func (w *watch) look(ctx context.Context) {
	if !w.client.answers(ctx) {
		w.mu.Lock()
		waiting := w.waiting
		w.mu.Unlock()
		if waiting {
			w.cancel(errSilent)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting {
		w.timer.Reset(w.client.alive)
	}
}

// pause says that what follows waits for somebody else than the server.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	w.timer.Stop()
}

// resume says that it waits for the server again.
func (w *watch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = true
	w.timer.Reset(w.client.alive)
}

// stop ends the watch, and the context that it has made.
func (w *watch) stop() {
	w.pause()
	w.cancel(nil)
}

// answers reports whether the server says anything within half of a keep-alive.
func (c *Client) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.alive/2)
	defer cancel()
	_, err := c.rpc.Health(ctx, connect.NewRequest(&sandboxv2.HealthRequest{}))
	return err == nil || connect.IsWireError(err)
}
