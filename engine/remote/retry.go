package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/internal/wire"
)

// The tries of a call that changes nothing, and the time before the second one. It doubles, and is drawn from its second half so
// that clients of a server that comes back do not all come at once.
const (
	tries      = 5
	firstPause = 50 * time.Millisecond
)

// again makes a call that changes nothing, and makes it again when there was no connection or it broke.
func again[Q, A any](ctx context.Context, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), req *Q) (*A, error) {
	pause := firstPause
	for left := tries - 1; ; left-- {
		answer, err := call(ctx, connect.NewRequest(req))
		if err == nil {
			return answer.Msg, nil
		}
		if left == 0 || !broken(err) {
			return nil, wire.FromError(err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): //nolint:gosec // no secret
		case <-ctx.Done():
			return nil, wire.FromError(err)
		}
		pause *= 2
	}
}

// soon has a call by the short road watched.
func soon[Q, A any](c *Client, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error)) func(context.Context, *connect.Request[Q]) (*connect.Response[A], error) {
	return func(ctx context.Context, req *connect.Request[Q]) (*connect.Response[A], error) {
		ctx, w := c.watch(ctx)
		defer w.stop()
		answer, err := call(ctx, req)
		if err != nil && errors.Is(context.Cause(ctx), errSilent) {
			return nil, errSilent
		}
		return answer, err
	}
}

// once makes a call.
func once[Q, A any](ctx context.Context, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), req *Q) (*A, error) {
	answer, err := call(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, wire.FromError(err)
	}
	return answer.Msg, nil
}
