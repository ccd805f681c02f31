package console

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/server"
	"github.com/sandbar-dev/sandbar/wasm"
)

var (
	python    = wasm.New(nil)
	processes = sync.OnceValues(func() (*native.Driver, error) {
		d, err := native.New(&native.Options{Backend: native.Userns})
		if err == nil {
			err = d.Prepare(context.Background())
		}
		return d, err
	})
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, end := range []func() error{python.Close, closeProcesses} {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func closeProcesses() error {
	d, err := processes()
	if err != nil {
		return nil // the tests have said so
	}
	return d.Close()
}

// host opens sessions with both tiers. Where the native one does not work, scripts of the shell fail.
type host struct{}

func (host) Open(ctx context.Context, _ string, opts *engine.Options) (*engine.Session, error) {
	drivers := []engine.Driver{python}
	if d, err := processes(); err == nil {
		drivers = append(drivers, engine.Deferred(d))
	}
	return engine.Open(ctx, drivers, opts)
}

func (host) ReadSnapshot(context.Context, io.Reader, int64) (*engine.Snapshot, error) {
	return nil, engine.ErrNotAvailable
}

// A testServer is a server on a port of loopback.
type testServer struct {
	*server.Server
	url  string
	http *http.Server

	mu   sync.Mutex
	seen []string // "METHOD PATH STATUS", in the order in which they ended
}

// serve starts a server, and ends it with the test. Nil: everybody may use it.
func serve(t *testing.T, who server.Authenticator, opts *server.HandlerOptions) *testServer {
	t.Helper()
	s, err := server.New(host{}, &server.Options{Version: "test", Backends: []string{"userns"}, Authenticator: who})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := s.Handler(opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := server.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ts := &testServer{Server: s, url: "http://" + l.Addr().String()}
	h := server.NewHTTP(ts.recorded(handler), nil)
	ts.http = h
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return ts
}

// recorded notes how requests end.
func (s *testServer) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(status, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, status.status))
	})
}

func (s *testServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *statusWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// elsewhere is another site, on another port of this machine.
func elsewhere(t *testing.T, html string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := server.NewHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}), nil)
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	t.Cleanup(func() {
		h.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}
