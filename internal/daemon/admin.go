package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/sandbar-dev/sandbar/server"
)

// readiness is whether the server is to be sent work.
type readiness struct {
	interpreter atomic.Bool
	server      *server.Server
}

// problem is why it is not ready; empty when it is.
func (r *readiness) problem() string {
	switch {
	case r.server.Draining():
		return "draining"
	case !r.interpreter.Load():
		return "the interpreter is being prepared"
	}
	return ""
}

// adminHandler answers /healthz as long as the process does anything, and /readyz with 503 while it should be sent no work.
// It needs no credentials, and has no way into the service.
func adminHandler(c *Config, r *readiness) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if problem := r.problem(); problem != "" {
			http.Error(w, problem, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	guard, err := server.NewBrowserGuard(&server.BrowserOptions{Hosts: c.AllowHost})
	if err != nil {
		return nil, err
	}
	return guard.Wrap(mux), nil
}

// adminDoor opens the listener for the people and programs that watch the server. Nil: there is none.
func adminDoor(ctx context.Context, c *Config, r *readiness, log *slog.Logger) (*door, error) {
	if c.AdminListen == "" {
		return nil, nil
	}
	handler, err := adminHandler(c, r)
	if err != nil {
		return nil, err
	}
	l, err := server.Listen(ctx, c.AdminListen)
	if err != nil {
		return nil, err
	}
	return &door{listener: l, http: server.NewHTTP(handler, log)}, nil
}
