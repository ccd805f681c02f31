package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/sandbar-dev/sandbar/server"
)

// Options are for Handler. Nil and the zero value mean the defaults.
type Options struct {
	// Checks say whether the server is ready, beside Draining. All must pass.
	Checks []Check
	// Draining is server.Server.Draining. Nil: it never is.
	Draining func() bool
	// Metrics answers /metrics. Nil: there is none.
	Metrics http.Handler
	// Profiles offers profiles of the process under /debug/pprof/. Who reads them learns much of the program, and slows it
	// down; the memory of sessions is not in them.
	Profiles bool
	// Browser has the names that requests may be for, as those of the service. Nil: names of this machine on loopback.
	// Pages never get anything: Origins and Console must not be set.
	Browser *server.BrowserOptions
	// Logger is told when a check begins to fail, and when it passes again. Nil: none.
	Logger *slog.Logger
}

// A Check says whether a part that the server needs is ready.
type Check struct {
	// Name is in the answer: "backend", "interpreter".
	Name string
	// Ready returns why it is not. It is quick, and does not wait for the part: who has to find out for long remembers what was
	// found. It is called by several goroutines at once, and given up when ctx ends.
	Ready func(ctx context.Context) error
}

// checkTime bounds all checks of one request.
const checkTime = 5 * time.Second

// Handler makes the handler:
//
//	/healthz       200 as long as the process answers
//	/readyz        200 or 503, with a Readiness as JSON
//	/metrics       the metrics, if there are any
//	/debug/pprof/  profiles, if they were asked for
//
// Errors are *engine.InvalidError.
func Handler(opts *Options) (http.Handler, error) {
	if opts == nil {
		opts = &Options{}
	}
	browser := opts.Browser
	if browser == nil {
		browser = &server.BrowserOptions{}
	}
	if len(browser.Origins) > 0 || browser.Console {
		return nil, fmt.Errorf("admin: %w", errPages)
	}
	guard, err := server.NewBrowserGuard(browser)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", healthy)
	mux.Handle("GET /readyz", newReadiness(opts))
	if opts.Metrics != nil {
		mux.Handle("GET /metrics", opts.Metrics)
	}
	if opts.Profiles {
		addProfiles(mux)
	}
	return guard.Wrap(withoutBody(mux)), nil
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // what it returns is that the client has gone
}

// withoutBody reads nothing of a request but its head, and has nobody remember an answer.
func withoutBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.NoBody
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // as above
}
