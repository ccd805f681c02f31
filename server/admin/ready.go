package admin

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
)

var errPages = &engine.InvalidError{Field: "Browser", Problem: "lets pages in"}

// Readiness is what /readyz answers.
type Readiness struct {
	Ready bool `json:"ready"`
	// Reasons are why it is not, in the order of the checks.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is one reason why a server is not ready.
type Reason struct {
	// Check is the name of a Check, or "draining".
	Check string `json:"check"`
	// Problem is the text of its error.
	Problem string `json:"problem"`
}

// readiness answers /readyz.
type readiness struct {
	checks   []Check
	draining func() bool
	logger   *slog.Logger

	mu      sync.Mutex
	failing map[string]bool // by check, for the log
}

func newReadiness(opts *Options) *readiness {
	r := &readiness{checks: opts.Checks, draining: opts.Draining, logger: opts.Logger, failing: map[string]bool{}}
	if r.draining == nil {
		r.draining = func() bool { return false }
	}
	if r.logger == nil {
		r.logger = slog.New(slog.DiscardHandler)
	}
	return r
}

// ServeHTTP implements http.Handler.
func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	answer := r.look(req.Context())
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, answer)
}

func (r *readiness) look(ctx context.Context) Readiness {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var reasons []Reason
	if r.draining() {
		reasons = append(reasons, Reason{"draining", "the server takes no new sessions and runs: it is about to end"})
	}
	for _, c := range r.checks {
		err := c.Ready(ctx)
		r.tell(ctx, c.Name, err)
		if err != nil {
			reasons = append(reasons, Reason{c.Name, err.Error()})
		}
	}
	return Readiness{Ready: len(reasons) == 0, Reasons: reasons}
}

// tell logs what has changed.
func (r *readiness) tell(ctx context.Context, name string, err error) {
	r.mu.Lock()
	changed := r.failing[name] != (err != nil)
	r.failing[name] = err != nil
	r.mu.Unlock()
	switch {
	case !changed || ctx.Err() != nil: // who asked has gone, and that says nothing
	case err != nil:
		r.logger.LogAttrs(ctx, slog.LevelWarn, "not ready", slog.String("check", name), slog.Any("err", err))
	default:
		r.logger.LogAttrs(ctx, slog.LevelInfo, "ready again", slog.String("check", name))
	}
}
