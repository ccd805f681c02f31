package remote

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"

	"connectrpc.com/connect"
)

// breaking is a handler that breaks the connection of the first calls of each procedure.
type breaking struct {
	next  http.Handler
	first atomic.Int32 // how many

	mu    sync.Mutex
	calls map[string]int
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.calls[r.URL.Path]++
	broken := b.calls[r.URL.Path] <= int(b.first.Load())
	b.mu.Unlock()
	if broken {
		panic(http.ErrAbortHandler)
	}
	b.next.ServeHTTP(w, r)
}

func (b *breaking) count(path string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[path]
}

// Calls that change nothing are made again when the connection breaks; others, and runs above all, are not. An answer is one,
// whatever it says.
func TestRetry(t *testing.T) {
	s := newStrange()
	_, service := sandboxv2connect.NewSandboxServiceHandler(s)
	b := &breaking{next: service, calls: map[string]int{}}
	se, err := Open(t.Context(), serveHandler(t, b), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = se.Close() })
	b.first.Store(2)
	s.list = func(*sandboxv2.ListFilesRequest) (*sandboxv2.ListFilesResponse, error) {
		return &sandboxv2.ListFilesResponse{}, nil
	}
	if _, err := se.List(t.Context(), "."); err != nil || b.count(sandboxv2connect.SandboxServiceListFilesProcedure) != 3 {
		t.Errorf("list = %v after %d calls, want 3", err, b.count(sandboxv2connect.SandboxServiceListFilesProcedure))
	}
	if _, err := se.Exec(t.Context(), "1", nil); !errors.Is(err, engine.ErrLost) || b.count(sandboxv2connect.SandboxServiceRunProcedure) != 1 {
		t.Errorf("run = %v after %d calls, want %v after 1", err, b.count(sandboxv2connect.SandboxServiceRunProcedure), engine.ErrLost)
	}
	p, err := se.Run(t.Context(), "1", &engine.RunOptions{StdinPipe: true})
	if !errors.Is(err, engine.ErrLost) || b.count(sandboxv2connect.SandboxServiceRunInteractiveProcedure) != 1 {
		t.Errorf("run = %v, %v after %d calls, want %v after 1", p, err, b.count(sandboxv2connect.SandboxServiceRunInteractiveProcedure), engine.ErrLost)
	}
	for path, call := range map[string]func() error{
		sandboxv2connect.SandboxServiceRemoveFileProcedure: func() error { return se.Remove(t.Context(), "f") },
		sandboxv2connect.SandboxServicePutBytesProcedure:   func() error { return se.PutBytes(t.Context(), "f", nil, nil) },
		sandboxv2connect.SandboxServiceMarkFilesProcedure:  func() error { return se.Mark(t.Context()) },
	} {
		if err := call(); err == nil || b.count(path) != 1 {
			t.Errorf("%s = %v after %d calls, want an error after 1", path, err, b.count(path))
		}
	}
	b.first.Store(100)
	before := b.count(sandboxv2connect.SandboxServiceStatFileProcedure)
	if _, err := se.Stat(t.Context(), "f"); err == nil || b.count(sandboxv2connect.SandboxServiceStatFileProcedure)-before != tries {
		t.Errorf("stat = %v after %d calls, want an error after %d", err, b.count(sandboxv2connect.SandboxServiceStatFileProcedure)-before, tries)
	}
	b.first.Store(0)
	s.list = func(*sandboxv2.ListFilesRequest) (*sandboxv2.ListFilesResponse, error) {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("busy"))
	}
	before = b.count(sandboxv2connect.SandboxServiceListFilesProcedure)
	if _, err := se.List(t.Context(), "."); err == nil || b.count(sandboxv2connect.SandboxServiceListFilesProcedure)-before != 1 {
		t.Errorf("list = %v after %d calls, want the server's error after 1", err, b.count(sandboxv2connect.SandboxServiceListFilesProcedure)-before)
	}
}

// A run that finds nobody was not started.
func TestRun_NobodyThere(t *testing.T) {
	s := newStrange()
	se := openStrange(t, s)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := &peer{client: mustClient(t, "http://"+l.Addr().String(), nil), id: "s"}
	lonely, err := engine.OpenPeer(t.Context(), nil, func(_ context.Context, _ *engine.Options) (engine.Peer, error) { return p, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lonely.Exec(t.Context(), "1", nil); !errors.Is(err, engine.ErrNotStarted) || errors.Is(err, engine.ErrLost) {
		t.Errorf("run = %v, want %v", err, engine.ErrNotStarted)
	}
	_ = se.Close()
}

// The token goes over TLS, a unix socket and loopback, and over nothing else unless that is asked for.
func TestClient_Token(t *testing.T) {
	const token = "sbr_0123456789012345678901"
	for _, test := range []struct {
		url   string
		plain bool
		ok    bool
	}{
		{url: "https://example.com", ok: true},
		{url: "unix:///run/x.sock", ok: true},
		{url: "http://127.0.0.1:1", ok: true},
		{url: "http://127.9.9.9:1", ok: true},
		{url: "http://[::1]:1", ok: true},
		{url: "http://localhost:1", ok: true},
		{url: "http://example.com"},
		{url: "http://10.0.0.1"},
		{url: "http://127.0.0.1.example.com"},
		{url: "http://localhost.example.com"},
		{url: "http://[::ffff:10.0.0.1]"},
		{url: "http://0.0.0.0:1"},
		{url: "http://127.0.0.1@example.com", plain: true},
		{url: "http://example.com", plain: true, ok: true},
		{url: "http://user:secret@127.0.0.1", plain: true},
		{url: "ftp://127.0.0.1", plain: true},
		{url: "unix://host/x", plain: true},
		{url: "://", plain: true},
		{url: "http://", plain: true},
	} {
		c, err := NewClient(test.url, &ClientOptions{Token: token, PlainToken: test.plain})
		switch {
		case test.ok != (err == nil), err != nil && !errors.Is(err, engine.ErrInvalid):
			t.Errorf("NewClient(%q) = %v, want it to pass: %v", test.url, err, test.ok)
		case err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), "secret")):
			t.Errorf("NewClient(%q): the error has a secret: %v", test.url, err)
		case c != nil:
			c.Close()
		}
	}
	for _, bad := range []string{"a b", "a\r\nX: y", "ä"} {
		if _, err := NewClient("http://127.0.0.1:1", &ClientOptions{Token: bad}); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("the token %q is taken", bad)
		}
	}
}

// A server cannot send a call, and the token with it, elsewhere.
func TestClient_NoRedirect(t *testing.T) {
	var got atomic.Int32
	elsewhere := serveHandler(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		url := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere+r.URL.Path, status)
		}))
		if se, err := Open(t.Context(), url, &Options{ClientOptions: ClientOptions{Token: "sbr_x"}}); err == nil {
			t.Errorf("status %d: a session %q", status, se.ID())
		}
	}
	if got.Load() != 0 {
		t.Errorf("%d calls were made elsewhere", got.Load())
	}
}

// Close ends calls that are under way, and none is made after it.
func TestClient_Close(t *testing.T) {
	here := make(chan struct{})
	url := serveHandler(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(here)
		<-r.Context().Done()
	}))
	c := mustClient(t, url, nil)
	ended := make(chan error)
	go func() {
		_, err := c.Open(t.Context(), nil)
		ended <- err
	}()
	<-here
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a call has ended well")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a call goes on after Close")
	}
	if _, err := c.Open(t.Context(), nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a call after Close = %v, want %v", err, net.ErrClosed)
	}
}

func mustClient(t *testing.T, url string, opts *ClientOptions) *Client {
	t.Helper()
	c, err := NewClient(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
