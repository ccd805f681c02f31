package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

// serve starts a listener on loopback with the handler of the options.
func serve(t *testing.T, opts *Options) string {
	t.Helper()
	h, err := Handler(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func ask(t *testing.T, method, url string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func TestHandler_Status(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("m 1\n")) })
	bare, full := serve(t, nil), serve(t, &Options{Metrics: metrics, Profiles: true})
	for _, row := range []struct {
		base, method, path string
		status             int
		has                string
	}{
		{bare, "GET", "/healthz", 200, "ok"},
		{bare, "HEAD", "/healthz", 200, ""},
		{bare, "POST", "/healthz", 405, ""},
		{bare, "GET", "/readyz", 200, `{"ready":true}`},
		{bare, "GET", "/metrics", 404, ""},
		{bare, "GET", "/debug/pprof/", 404, ""},
		{bare, "GET", "/debug/pprof/heap", 404, ""},
		{bare, "GET", "/debug/pprof/profile", 404, ""},
		{bare, "GET", "/", 404, ""},
		{full, "GET", "/metrics", 200, "m 1"},
		{full, "POST", "/metrics", 405, ""},
		{full, "GET", "/debug/pprof/", 200, "goroutine"},
		{full, "GET", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		{full, "GET", "/debug/pprof/goroutine?debug=3", 400, "debug"},
		{full, "GET", "/debug/pprof/cmdline", 404, ""},
		{full, "GET", "/debug/pprof/unknown", 404, ""},
		{full, "GET", "/debug/pprof/profile?seconds=0.05", 200, ""},
		{full, "GET", "/debug/pprof/trace?seconds=0.05", 200, "go 1."},
		{full, "GET", "/debug/pprof/profile?seconds=0", 400, "seconds"},
		{full, "GET", "/debug/pprof/profile?seconds=NaN", 400, "seconds"},
		{full, "GET", "/debug/pprof/profile?seconds=1e9", 400, "seconds"},
	} {
		status, body, header := ask(t, row.method, row.base+row.path, nil)
		if status != row.status || !strings.Contains(body, row.has) {
			t.Errorf("%s %s = %d %.80q, want %d with %q", row.method, row.path, status, body, row.status, row.has)
		}
		if header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be cached: %v", row.method, row.path, header)
		}
	}
}

// A page whose name leads to this listener by DNS sends that name, and gets nothing; nor does a page of another site.
func TestHandler_Pages(t *testing.T) {
	base := serve(t, &Options{Profiles: true})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/healthz", "/readyz", "/debug/pprof/heap"} {
		for name, change := range map[string]func(*http.Request){
			"a name of another site": func(r *http.Request) { r.Host = "rebind.test:" + u.Port() },
			"a page's origin":        func(r *http.Request) { r.Header.Set("Origin", base) },
			"another site's request": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		} {
			if status, body, _ := ask(t, "GET", base+path, change); status != http.StatusForbidden {
				t.Errorf("GET %s with %s = %d %q, want 403", path, name, status, body)
			}
		}
	}
	named := serve(t, &Options{Browser: &server.BrowserOptions{Hosts: []string{"admin.test"}}})
	if status, _, _ := ask(t, "GET", named+"/healthz", func(r *http.Request) { r.Host = "admin.test" }); status != 200 {
		t.Errorf("GET /healthz of a name that was set up = %d, want 200", status)
	}
}

func TestHandler_InvalidOptions(t *testing.T) {
	for _, browser := range []*server.BrowserOptions{
		{Console: true}, {Origins: []string{"https://a.test"}}, {Hosts: []string{"a b"}},
	} {
		if _, err := Handler(&Options{Browser: browser}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("Handler(%+v) = %v, want ErrInvalid", browser, err)
		}
	}
}

// A check that hangs is given up with the request.
func TestReady_Hanging(t *testing.T) {
	entered := make(chan struct{})
	r := newReadiness(&Options{Checks: []Check{{Name: "slow", Ready: func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		return context.Cause(ctx)
	}}}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	if got := r.look(ctx); got.Ready || len(got.Reasons) != 1 || got.Reasons[0].Check != "slow" {
		t.Errorf("look() = %+v, want it not ready because of slow", got)
	}
}
