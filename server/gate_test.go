package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// A nameService answers with the name of the principal, and counts what reaches it.
type nameService struct {
	sandboxv2connect.UnimplementedSandboxServiceHandler
	mu    sync.Mutex
	calls []string
}

func (s *nameService) called(ctx context.Context, what string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, what)
	p := principalOf(ctx)
	switch {
	case p == nil:
		return "nobody"
	case p.Policy == nil:
		return "without a policy"
	}
	return p.Name
}

// count is how many calls there were since the last time.
func (s *nameService) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.calls)
	s.calls = nil
	return n
}

func (s *nameService) Health(ctx context.Context, _ *connect.Request[sandboxv2.HealthRequest]) (*connect.Response[sandboxv2.HealthResponse], error) {
	return connect.NewResponse(&sandboxv2.HealthResponse{Version: s.called(ctx, "Health")}), nil
}

func (s *nameService) OpenSession(
	ctx context.Context, _ *connect.Request[sandboxv2.OpenSessionRequest],
) (*connect.Response[sandboxv2.OpenSessionResponse], error) {
	session := &sandboxv2.Session{Principal: s.called(ctx, "OpenSession")}
	return connect.NewResponse(&sandboxv2.OpenSessionResponse{Session: session}), nil
}

func (s *nameService) Run(ctx context.Context, _ *connect.Request[sandboxv2.RunRequest], out *connect.ServerStream[sandboxv2.RunResponse]) error {
	return out.Send(&sandboxv2.RunResponse{Event: &sandboxv2.RunEvent{Stdout: []byte(s.called(ctx, "Run"))}})
}

func (s *nameService) RunInteractive(
	ctx context.Context, in *connect.BidiStream[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse],
) error {
	return in.Send(&sandboxv2.RunInteractiveResponse{Event: &sandboxv2.RunEvent{Stdout: []byte(s.called(ctx, "RunInteractive"))}})
}

func (s *nameService) PutFile(
	ctx context.Context, _ *connect.ClientStream[sandboxv2.PutFileRequest],
) (*connect.Response[sandboxv2.PutFileResponse], error) {
	s.called(ctx, "PutFile")
	return connect.NewResponse(&sandboxv2.PutFileResponse{}), nil
}

// guarded is the service as a server has it: behind the guard and the gate.
func guarded(t *testing.T, who Authenticator, opts *BrowserOptions, logger *slog.Logger) (*nameService, http.Handler) {
	t.Helper()
	guard, err := NewBrowserGuard(opts)
	if err != nil {
		t.Fatal(err)
	}
	gate := NewGate(who, logger)
	service := &nameService{}
	mux := http.NewServeMux()
	mux.Handle(sandboxv2connect.NewSandboxServiceHandler(service, connect.WithRequestGate(gate.Request)))
	mux.Handle("/wrapped/", gate.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, service.called(r.Context(), "wrapped")) //nolint:errcheck // the client sees it
	})))
	return service, guard.Wrap(gate.Callers(mux))
}

// serve serves h over HTTP/1 and h2c. Config may be changed before it starts.
func serve(t *testing.T, h http.Handler, l net.Listener) {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: h, Protocols: protocols, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { srv.Close(); <-done })
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// client is an HTTP client of one version: "h1" or "h2c".
func client(t *testing.T, version string) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(version == "h1")
	protocols.SetUnencryptedHTTP2(version == "h2c")
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

var protocolOptions = map[string][]connect.ClientOption{
	"connect":      nil,
	"connect json": {connect.WithProtoJSON()},
	"grpc":         {connect.WithGRPC()},
	"grpc-web":     {connect.WithGRPCWeb()},
}

func TestGate(t *testing.T) {
	token, hash := NewToken()
	var logged bytes.Buffer
	service, h := guarded(t, openTokens(t, "ada "+hash), nil, slog.New(slog.NewTextHandler(&logged, nil)))
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	for name, options := range protocolOptions {
		for _, tt := range []struct {
			name, header string
			ok           bool
		}{
			{"good token", "Bearer " + token, true},
			{"no token", "", false},
			{"empty token", "Bearer ", false},
			{"truncated token", "Bearer " + token[:30], false},
		} {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				c := sandboxv2connect.NewSandboxServiceClient(client(t, "h2c"), "http://"+l.Addr().String(), options...)
				calls := callAll(t, c, tt.header)
				for method, result := range calls {
					if tt.ok && (result.err != nil || result.name != "ada") {
						t.Errorf("%s = %q, %v, want ada", method, result.name, result.err)
					}
					if !tt.ok {
						checkUnauthenticated(t, method, result.err)
					}
				}
				wantCalls := map[bool]int{true: len(calls)}[tt.ok]
				if n := service.count(); n != wantCalls {
					t.Errorf("%d calls reached the service, want %d", n, wantCalls)
				}
				health, err := c.Health(t.Context(), withHeader(&sandboxv2.HealthRequest{}, tt.header))
				want := map[bool]string{true: "ada", false: "nobody"}[tt.ok]
				if err != nil || health.Msg.GetVersion() != want {
					t.Errorf("Health = %v, %v, want %s", health, err, want)
				}
				service.count()
			})
		}
	}
	if strings.Contains(logged.String(), token[:12]) || !strings.Contains(logged.String(), "caller refused") {
		t.Errorf("the log has a token, or no refusal:\n%s", &logged)
	}
}

type callResult struct {
	name string
	err  error
}

func withHeader[T any](msg *T, header string) *connect.Request[T] {
	req := connect.NewRequest(msg)
	if header != "" {
		req.Header().Set("Authorization", header)
	}
	return req
}

// callAll makes a call of each kind: unary, with a stream in each direction, and in both.
func callAll(t *testing.T, c sandboxv2connect.SandboxServiceClient, header string) map[string]callResult {
	t.Helper()
	results := map[string]callResult{}
	opened, err := c.OpenSession(t.Context(), withHeader(&sandboxv2.OpenSessionRequest{}, header))
	if err != nil {
		results["OpenSession"] = callResult{"", err}
	} else {
		results["OpenSession"] = callResult{opened.Msg.GetSession().GetPrincipal(), nil}
	}
	run, err := c.Run(t.Context(), withHeader(&sandboxv2.RunRequest{}, header))
	if err == nil {
		defer run.Close()
		run.Receive()
		err = run.Err()
	}
	result := callResult{err: err}
	if err == nil {
		result.name = string(run.Msg().GetEvent().GetStdout())
	}
	results["Run"] = result

	both := c.RunInteractive(t.Context())
	if header != "" {
		both.RequestHeader().Set("Authorization", header)
	}
	// A server that has refused may have closed the stream: what it said comes with Receive.
	if err := both.Send(&sandboxv2.RunInteractiveRequest{}); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	response, err := both.Receive()
	results["RunInteractive"] = callResult{string(response.GetEvent().GetStdout()), err}
	both.CloseRequest()
	both.CloseResponse()
	return results
}

func checkUnauthenticated(t *testing.T, method string, err error) {
	t.Helper()
	var coded *connect.Error
	if !errors.As(err, &coded) || coded.Code() != connect.CodeUnauthenticated || coded.Message() != engine.ErrUnauthenticated.Error() {
		t.Errorf("%s = %v, want Unauthenticated", method, err)
		return
	}
	for _, d := range coded.Details() {
		value, err := d.Value()
		if detail, ok := value.(*sandboxv2.ErrorDetail); ok && err == nil && len(detail.GetKinds()) == 1 &&
			detail.GetKinds()[0] == sandboxv2.ErrorKind_ERROR_KIND_UNAUTHENTICATED {
			return
		}
	}
	t.Errorf("%s = %v with details %v, want the kind UNAUTHENTICATED", method, err, coded.Details())
}

// The gate answers before the body is there.
func TestGate_BeforeTheBody(t *testing.T) {
	_, hash := NewToken()
	_, h := guarded(t, openTokens(t, "ada "+hash), nil, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	for _, contentType := range []string{"application/json", "application/proto", "application/connect+proto"} {
		method := "OpenSession"
		if strings.Contains(contentType, "connect+") {
			method = "Run"
		}
		body, w := io.Pipe() // nothing ever comes
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/sandbox.v2.SandboxService/"+method, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		resp, err := client(t, "h2c").Do(req)
		if err != nil {
			t.Fatalf("%s: %v", contentType, err)
		}
		resp.Body.Close()
		w.Close()
		if method == "OpenSession" && (resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "") {
			t.Errorf("%s: status %d with %v, want 401 with a challenge", contentType, resp.StatusCode, resp.Header)
		}
	}
}

func TestGate_TokenInURL(t *testing.T) {
	token, hash := NewToken()
	service, h := guarded(t, openTokens(t, "ada "+hash), nil, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	for _, query := range []string{"?token=" + token, "?access_token=" + token, "?authorization=Bearer+" + token} {
		status, _, _ := post(t, client(t, "h1"), "http://"+l.Addr().String()+"/sandbox.v2.SandboxService/OpenSession"+query, nil)
		if n := service.count(); status != http.StatusUnauthorized || n != 0 {
			t.Errorf("%s: status %d and %d calls, want 401 and none", query[:8], status, n)
		}
	}
}

// post makes a request of an empty JSON message. A header Host sets that of the request, an empty Content-Type leaves it out.
func post(t *testing.T, c *http.Client, url string, header http.Header) (status int, body string, got http.Header) {
	t.Helper()
	return do(t, c, http.MethodPost, url, "{}", header)
}

func do(t *testing.T, c *http.Client, method, url, text string, header http.Header) (status int, body string, got http.Header) {
	t.Helper()
	var content io.Reader
	if text != "" {
		content = strings.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	maps.Copy(req.Header, header)
	if host := header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Del("Content-Type")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all), resp.Header
}

func TestGate_HTTP(t *testing.T) {
	token, hash := NewToken()
	service, h := guarded(t, openTokens(t, "ada "+hash), nil, nil)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, h, l)
	url := "http://" + l.Addr().String() + "/wrapped/x"
	status, body, _ := post(t, client(t, "h1"), url, http.Header{"Authorization": {"Bearer " + token}})
	if status != http.StatusOK || body != "ada" {
		t.Errorf("with a token: %d %q", status, body)
	}
	service.count()
	for contentType, want := range map[string]int{"text/plain": 401, "application/json": 401, "application/grpc": 200} {
		status, body, header := post(t, client(t, "h2c"), url, http.Header{"Content-Type": {contentType}})
		if n := service.count(); status != want || n != 0 {
			t.Errorf("%s without a token: %d %q, %v, %d calls", contentType, status, body, header, n)
		}
	}
}

// Client certificates reach the gate through Callers, and not otherwise.
func TestGate_Certificate(t *testing.T) {
	ca := newAuthority(t)
	service, h := guarded(t, openCertificates(t, certificateLines), nil, nil)
	srv := httptest.NewUnstartedServer(h)
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{
		MinVersion: tls.VersionTLS12, ClientCAs: ca.pool(), ClientAuth: tls.VerifyClientCertIfGiven,
		Certificates: []tls.Certificate{ca.issue(t, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, x509.ExtKeyUsageServerAuth)},
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	for _, name := range []string{"dave", "eve", ""} {
		config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ca.pool()}
		if name != "" {
			config.Certificates = []tls.Certificate{ca.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: name}}, x509.ExtKeyUsageClientAuth)}
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		t.Cleanup(transport.CloseIdleConnections)
		c := sandboxv2connect.NewSandboxServiceClient(&http.Client{Transport: transport}, srv.URL, connect.WithGRPC())
		for method, result := range callAll(t, c, "") {
			if name == "dave" && (result.err != nil || result.name != "dave") {
				t.Errorf("%s = %q, %v, want dave", method, result.name, result.err)
			}
			if name != "dave" {
				checkUnauthenticated(t, method, result.err)
			}
		}
	}
	if n := service.count(); n != 3 {
		t.Errorf("%d calls reached the service, want 3", n)
	}
}
