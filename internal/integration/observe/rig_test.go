package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
	"github.com/sandbar-dev/sandbar/server"
	"github.com/sandbar-dev/sandbar/server/admin"
	"github.com/sandbar-dev/sandbar/server/metrics"
	"github.com/sandbar-dev/sandbar/server/telemetry"
	"github.com/sandbar-dev/sandbar/wasm"
)

// A rig is a server on loopback, with all that observes it.
type rig struct {
	t         *testing.T
	server    *server.Server
	pool      *wasm.Driver
	telemetry *telemetry.Telemetry // nil without a collector
	log       *logBuffer
	url       string
	adminURL  string
	tokens    [2]string // of the principals alice and bob
	alice     sandboxv2connect.SandboxServiceClient
	bob       sandboxv2connect.SandboxServiceClient
	transport http.RoundTripper
}

// rigOptions are for newRig.
type rigOptions struct {
	limits    server.Limits
	collector string // its endpoint; empty: no telemetry
	checks    []admin.Check
}

const backend = "none" // nothing that these tests run is to be kept from anything

func newRig(t *testing.T, opts rigOptions) *rig {
	t.Helper()
	r := &rig{t: t, log: &logBuffer{}}
	logger := slog.New(slog.NewJSONHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.pool = wasm.New(&wasm.Options{Idle: 1, Logger: logger})
	t.Cleanup(func() { check(t, r.pool.Close()) })
	check(t, r.pool.Prepare(t.Context()))
	processes, err := native.New(&native.Options{Backend: backend, Logger: logger})
	check(t, err)

	count := metrics.New(&metrics.Options{Version: "v0.test", Backends: []string{backend}})
	check(t, count.WatchPool(func() metrics.Pool { return metrics.Pool(r.pool.Stats()) }))
	options := &server.Options{
		Version: "v0.test", Backends: []string{backend}, Authenticator: r.authenticator(), Limits: opts.limits, Logger: logger, Observer: count,
	}
	var handlers server.HandlerOptions
	if opts.collector != "" {
		r.telemetry, err = telemetry.Start(t.Context(), &telemetry.Options{Endpoint: opts.collector, Version: "v0.test", Logger: logger})
		check(t, err)
		t.Cleanup(func() { check(t, r.telemetry.Shutdown(context.Background())) })
		options.Tracer = r.telemetry
		handlers.Connect = []connect.HandlerOption{connect.WithInterceptors(r.telemetry.Interceptor())}
	}
	r.server, err = server.New(&host{r.pool, processes}, options)
	check(t, err)
	check(t, count.WatchServer(r.server.Figures))
	service, err := r.server.Handler(&handlers)
	check(t, err)
	r.url = r.serve(service, logger)
	watch, err := admin.Handler(&admin.Options{
		Draining: r.server.Draining, Metrics: count.Handler(), Checks: opts.checks, Logger: logger,
	})
	check(t, err)
	r.adminURL = r.serve(watch, logger)
	t.Cleanup(func() { check(t, r.server.Close()) })
	r.connect()
	return r
}

// authenticator knows alice and bob by their tokens.
func (r *rig) authenticator() server.Authenticator {
	var lines strings.Builder
	for i, name := range []string{"alice", "bob"} {
		token, hash := server.NewToken()
		r.tokens[i] = token
		lines.WriteString(name + " " + hash + "\n")
	}
	path := filepath.Join(r.t.TempDir(), "tokens")
	check(r.t, os.WriteFile(path, []byte(lines.String()), 0o600))
	tokens, err := server.OpenTokens(path, &server.FileOptions{Policies: server.OnePolicy(server.OwnerPolicy())})
	check(r.t, err)
	return tokens
}

func (r *rig) serve(handler http.Handler, logger *slog.Logger) (url string) {
	l, err := server.Listen(r.t.Context(), "127.0.0.1:0")
	check(r.t, err)
	h := server.NewHTTP(handler, logger)
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	r.t.Cleanup(func() {
		check(r.t, h.Close())
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			r.t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func (r *rig) connect() {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	r.t.Cleanup(transport.CloseIdleConnections)
	r.transport = transport
	r.alice, r.bob = r.client(r.tokens[0]), r.client(r.tokens[1])
}

// client makes a client with a token.
func (r *rig) client(token string) sandboxv2connect.SandboxServiceClient {
	return sandboxv2connect.NewSandboxServiceClient(&http.Client{Transport: withHeader{r.transport, "Authorization", "Bearer " + token}}, r.url)
}

type withHeader struct {
	next       http.RoundTripper
	key, value string
}

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.key, h.value)
	return h.next.RoundTrip(r)
}

// host opens sessions with both tiers.
type host struct {
	python    *wasm.Driver
	processes *native.Driver
}

func (h *host) Open(ctx context.Context, _ string, opts *engine.Options) (*engine.Session, error) {
	for _, v := range opts.Env {
		if strings.HasPrefix(v, "panic ") {
			panic(v)
		}
	}
	return engine.Open(ctx, []engine.Driver{h.python, engine.Deferred(h.processes)}, opts)
}

func (h *host) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	return engine.ReadSnapshot(ctx, []engine.Driver{h.python}, r, limit)
}

// open opens a session of alice.
func (r *rig) open(opts *sandboxv2.SessionOptions) (id string) {
	r.t.Helper()
	if opts == nil {
		opts = &sandboxv2.SessionOptions{}
	}
	opts.BestEffort = true // the backend holds few limits
	res, err := r.alice.OpenSession(r.t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{Options: opts}))
	check(r.t, err)
	return res.Msg.GetSession().GetSessionId()
}

// run runs a script of alice to its end.
func (r *rig) run(m *sandboxv2.RunRequest) (runID string, result *sandboxv2.Result, err error) {
	r.t.Helper()
	stream, err := r.alice.Run(r.t.Context(), connect.NewRequest(m))
	if err != nil {
		return "", nil, err
	}
	defer stream.Close()
	for stream.Receive() {
		ev := stream.Msg().GetEvent()
		if s := ev.GetStarted(); s != nil {
			runID = s.GetRunId()
		}
		if e := ev.GetExited(); e != nil {
			result = e
		}
	}
	return runID, result, stream.Err()
}

// get asks the admin listener.
func (r *rig) get(path string) (status int, body []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.adminURL+path, nil)
	check(r.t, err)
	res, err := (&http.Client{Transport: r.transport}).Do(req)
	check(r.t, err)
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	check(r.t, err)
	return res.StatusCode, body
}

// A logBuffer has the lines of a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// lines are the lines with a message, as maps.
func (b *logBuffer) lines(t *testing.T, msg string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(b.text()) {
		var m map[string]any
		check(t, json.Unmarshal([]byte(line), &m))
		if m["msg"] == msg {
			out = append(out, m)
		}
	}
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ok holds: what a client has been told of is counted a moment later.
func eventually(t *testing.T, what string, ok func() bool, why ...func() string) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			for _, f := range why {
				t.Log(f())
			}
			t.Fatalf("%s: it never was", what)
		}
	}
}

// post sends a request of alice that is no proper call.
func (r *rig) post(path string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+path, strings.NewReader("{}"))
	check(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+r.tokens[0])
	res, err := (&http.Client{Transport: r.transport}).Do(req)
	check(r.t, err)
	res.Body.Close()
}
