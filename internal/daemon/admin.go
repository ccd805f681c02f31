package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/sandbar-dev/sandbar/server"
	"github.com/sandbar-dev/sandbar/server/admin"
)

// readiness is whether the interpreter is ready: the backends have worked when there is a server.
type readiness struct{ interpreter atomic.Bool }

var errPreparing = errors.New("it is being prepared")

func (r *readiness) check(context.Context) error {
	if !r.interpreter.Load() {
		return errPreparing
	}
	return nil
}

// adminDoor opens the listener for the people and programs that watch the server. Nil: there is none.
func adminDoor(ctx context.Context, c *Config, s *server.Server, r *readiness, w *watching, log *slog.Logger) (*door, error) {
	if c.AdminListen == "" {
		return nil, nil
	}
	handler, err := admin.Handler(&admin.Options{
		Checks:   []admin.Check{{Name: "interpreter", Ready: r.check}},
		Draining: s.Draining,
		Metrics:  w.metrics.Handler(),
		Browser:  &server.BrowserOptions{Hosts: c.AllowHost},
		Logger:   log,
	})
	if err != nil {
		return nil, err
	}
	l, err := server.Listen(ctx, c.AdminListen)
	if err != nil {
		return nil, err
	}
	d := &door{listener: l, http: server.NewHTTP(handler, log)}
	if !server.Loopback(l) {
		log.WarnContext(ctx, "the administrators' listener asks for no credentials, and is reachable from beyond this machine", "listener", d.String())
	}
	return d, nil
}
