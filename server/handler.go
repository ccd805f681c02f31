package server

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// handler is the service of a Server.
type handler struct{ *Server }

var _ sandboxv2connect.SandboxServiceHandler = (*handler)(nil)

// fail makes of an error what the client gets. What is the host's own failure, the client learns nothing of: it is logged.
func (h *handler) fail(ctx context.Context, err error) error {
	out := wire.Error(err)
	if out.Code() == connect.CodeInternal || errors.Is(err, engine.ErrLost) {
		h.log.LogAttrs(ctx, slog.LevelError, "call failed", append(about(ctx), slog.String("err", withoutScript(err)))...)
	}
	return out
}

// Health implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) Health(ctx context.Context, _ *connect.Request[sandboxv2.HealthRequest]) (*connect.Response[sandboxv2.HealthResponse], error) {
	out := &sandboxv2.HealthResponse{Draining: h.Draining()}
	if p := principalOf(ctx); p != nil {
		out.Version, out.DefaultBackend = h.opts.Version, h.opts.Backends[0]
		for _, b := range h.opts.Backends {
			if p.Policy.AllowsBackend(h.named(b)) {
				out.Backends = append(out.Backends, b)
			}
		}
	}
	return connect.NewResponse(out), nil
}
