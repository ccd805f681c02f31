package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
	"github.com/sandbar-dev/sandbar/wasm"
)

// sharedDriver is the tier of all sessions here. It uses the user's cache, so that it is ready in a moment.
var sharedDriver = sync.OnceValue(func() *wasm.Driver { return wasm.New(nil) })

// wasmHost opens sessions with the wasm tier alone.
type wasmHost struct{}

func (wasmHost) Open(ctx context.Context, _ string, opts *engine.Options) (*engine.Session, error) {
	return engine.Open(ctx, []engine.Driver{sharedDriver()}, opts)
}

func (wasmHost) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	return engine.ReadSnapshot(ctx, []engine.Driver{sharedDriver()}, r, limit)
}

// byName takes the value of the header X-Name for the caller's name. It is an Authenticator.
type byName struct{ policy *Policy }

func (a byName) Authenticate(header http.Header, _ *tls.ConnectionState) (*Principal, error) {
	name := header.Get("X-Name")
	if name == "" {
		return nil, noCredentials("no name")
	}
	return &Principal{Name: name, Admin: name == "admin", Policy: a.policy}, nil
}

// testServer is a server on a loopback port.
type testServer struct {
	*Server
	url  string
	http *http.Server
}

// launch starts a server. Without an Authenticator its callers are who they say in X-Name. It is closed at the end of the test,
// and leaves nothing running.
func launch(t testing.TB, host Host, opts *Options) *testServer {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
	s := newServer(t, host, opts)
	handler, err := s.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return launchOn(t, s, l, handler)
}

func launchOn(t testing.TB, s *Server, l net.Listener, handler http.Handler) *testServer {
	t.Helper()
	web := NewHTTP(handler, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l) // it is closed
	}()
	t.Cleanup(func() {
		web.Close()
		<-done
	})
	return &testServer{s, "http://" + l.Addr().String(), web}
}

func newServer(t testing.TB, host Host, opts *Options) *Server {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	if len(o.Backends) == 0 {
		o.Backends = []string{"wasm"}
	}
	if o.Authenticator == nil {
		o.Authenticator = byName{DefaultPolicy()}
	}
	s, err := New(host, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a client over HTTP/2, under a name. Its connections end with the test.
func (s *testServer) client(t testing.TB, name string, opts ...connect.ClientOption) sandboxv2connect.SandboxServiceClient {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return s.clientOver(t, &http.Transport{Protocols: &protocols}, name, opts...)
}

func (s *testServer) clientOver(t testing.TB, transport *http.Transport, name string, opts ...connect.ClientOption) sandboxv2connect.SandboxServiceClient {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	return sandboxv2connect.NewSandboxServiceClient(&http.Client{Transport: named{transport, name}}, s.url, opts...)
}

type named struct {
	next http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if n.name != "" {
		r.Header.Set("X-Name", n.name)
	}
	return n.next.RoundTrip(r)
}

// openOne opens a session and gives its id.
func openOne(t testing.TB, c sandboxv2connect.SandboxServiceClient) string {
	t.Helper()
	m, err := c.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	return m.Msg.GetSession().GetSessionId()
}

// must makes a unary call that must not fail.
func must[Q, A any](t testing.TB, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), m *Q) *A {
	t.Helper()
	answer, err := call(t.Context(), connect.NewRequest(m))
	if err != nil {
		t.Fatalf("%T: %v", m, err)
	}
	return answer.Msg
}
