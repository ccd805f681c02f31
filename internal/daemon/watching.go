package daemon

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
	"github.com/sandbar-dev/sandbar/server/metrics"
	"github.com/sandbar-dev/sandbar/server/telemetry"
)

// watching is how others see what the server does.
type watching struct {
	metrics   *metrics.Metrics
	telemetry *telemetry.Telemetry // nil when nothing is exported
}

func newWatching(ctx context.Context, c *Config, version string, log *slog.Logger) (*watching, error) {
	w := &watching{metrics: metrics.New(&metrics.Options{Version: version, Backends: c.Backend})}
	if c.OTLPEndpoint == "" {
		return w, nil
	}
	var err error
	w.telemetry, err = telemetry.Start(ctx, &telemetry.Options{Endpoint: c.OTLPEndpoint, Version: version, Logger: log})
	if invalid, ok := errors.AsType[*engine.InvalidError](err); ok {
		return nil, c.wrong("otlp-endpoint", "%s", invalid.Problem)
	}
	return w, err
}

// options puts it into those of the server.
func (w *watching) options(o *server.Options) *server.Options {
	o.Observer = w.metrics
	if w.telemetry != nil {
		o.Tracer = w.telemetry
	}
	return o
}

// watch adds what the server and the tiers know by themselves.
func (w *watching) watch(s *server.Server, h *host) error {
	return errors.Join(
		w.metrics.WatchServer(s.Figures),
		w.metrics.WatchPool(func() metrics.Pool { return metrics.Pool(h.wasm.Stats()) }),
	)
}

// connect are the options of the handlers.
func (w *watching) connect() []connect.HandlerOption {
	if w.telemetry == nil {
		return nil
	}
	return []connect.HandlerOption{connect.WithInterceptors(w.telemetry.Interceptor())}
}

// close sends what has not been sent.
func (w *watching) close() error {
	if w == nil || w.telemetry == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	return w.telemetry.Shutdown(ctx)
}
