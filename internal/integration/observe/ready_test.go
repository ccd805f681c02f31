package observe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server/admin"
)

func (r *rig) ready() (int, admin.Readiness) {
	r.t.Helper()
	status, body := r.get("/readyz")
	var got admin.Readiness
	check(r.t, json.Unmarshal(body, &got))
	return status, got
}

func TestReady_DrainAndChecks(t *testing.T) {
	var problem atomic.Value
	problem.Store("")
	r := newRig(t, rigOptions{checks: []admin.Check{{Name: "backend", Ready: func(context.Context) error {
		if p, _ := problem.Load().(string); p != "" {
			return errors.New(p)
		}
		return nil
	}}}})
	want := func(status int, w admin.Readiness) {
		t.Helper()
		code, got := r.ready()
		if code != status || !cmp.Equal(got, w) {
			t.Errorf("GET /readyz = %d %+v, want %d %+v", code, got, status, w)
		}
	}
	want(http.StatusOK, admin.Readiness{Ready: true})
	problem.Store("no user namespaces")
	backend := admin.Reason{Check: "backend", Problem: "no user namespaces"}
	want(http.StatusServiceUnavailable, admin.Readiness{Reasons: []admin.Reason{backend}})
	check(t, r.server.Drain(t.Context()))
	draining := admin.Reason{Check: "draining", Problem: "the server takes no new sessions and runs: it is about to end"}
	want(http.StatusServiceUnavailable, admin.Readiness{Reasons: []admin.Reason{draining, backend}})
	problem.Store("")
	want(http.StatusServiceUnavailable, admin.Readiness{Reasons: []admin.Reason{draining}})
	if status, body := r.get("/healthz"); status != http.StatusOK || string(body) != "ok\n" {
		t.Errorf("GET /healthz of a server that drains = %d %q, want 200", status, body)
	}
	if got := r.scrape()["sandbar_draining"]; got != 1 {
		t.Errorf("sandbar_draining = %v, want 1", got)
	}
	if a, b := len(r.log.lines(t, "not ready")), len(r.log.lines(t, "ready again")); a != 1 || b != 1 {
		t.Errorf("%d lines that the check fails and %d that it passes, want one each", a, b)
	}
}

// The admin listener has no way into the service.
func TestReady_NoService(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.url, r.adminURL = r.adminURL, r.url
	r.connect()
	if _, err := r.alice.Health(t.Context(), connect.NewRequest(&sandboxv2.HealthRequest{})); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("Health on the admin listener = %v, want 404", err)
	}
	for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/"} {
		if status, _ := r.get(path); status != http.StatusNotFound {
			t.Errorf("GET %s on the listener of the service = %d, want 404", path, status)
		}
	}
}
