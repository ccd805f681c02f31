package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// asServer has the test binary be the command itself.
const asServer = "SANDBAR_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	cmd := NewCommand("sandbox-server", &Program{Version: "v0-test", Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr})
	cmd.SetArgs(os.Args[1:])
	err := cmd.Execute()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-server:", err)
	}
	os.Exit(ExitCode(err))
}

// patience bounds what a test waits for. It is no measure of speed.
const patience = 30 * time.Second

// A process is a server of its own.
type process struct {
	*exec.Cmd
	t     *testing.T
	state string
	lines chan string   // of stdout
	ended chan struct{} // closed when it has been waited for
	err   error         // of Wait

	mu  sync.Mutex
	log strings.Builder // stderr
}

// backend is that of the tests that need none: it works everywhere but on Windows.
const backend = "--backend=none"

// launch starts a server with a state directory of its own, unless args name one. It is killed at the end of the test.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	return launchWith(t, nil, args...)
}

// launchWith is launch with something to do before the start.
func launchWith(t *testing.T, prepare func(*exec.Cmd), args ...string) *process {
	t.Helper()
	p := &process{t: t, lines: make(chan string, 100), ended: make(chan struct{})}
	if i := indexOf(args, "--state-dir="); i >= 0 {
		p.state = strings.TrimPrefix(args[i], "--state-dir=")
	} else {
		p.state = filepath.Join(t.TempDir(), "state")
		args = append(args, "--state-dir="+p.state)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Cmd = exec.Command(self, args...)
	p.Env = append(os.Environ(), asServer+"=1")
	if prepare != nil {
		prepare(p.Cmd)
	}
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stderr = (*logged)(p)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(stdout); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
		p.err = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("log of the server:\n%s", p.logText())
		}
	})
	return p
}

func indexOf(args []string, prefix string) int {
	for i, a := range args {
		if strings.HasPrefix(a, prefix) {
			return i
		}
	}
	return -1
}

// logged collects what a server writes to stderr.
type logged process

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

func (p *process) logText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// line waits for a line of stdout that begins with a prefix, and returns the rest.
func (p *process) line(prefix string) string {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if rest, found := strings.CutPrefix(line, prefix); found {
				return rest
			}
			if !ok {
				<-p.ended
				p.t.Fatalf("the server has ended (%v) before a line %q:\n%s", p.err, prefix, p.logText())
			}
		case <-timeout:
			p.t.Fatalf("no line %q", prefix)
		}
	}
}

// logs waits until the log has a text.
func (p *process) logs(text string) {
	p.t.Helper()
	until(p.t, fmt.Sprintf("log has %q", text), func() bool { return strings.Contains(p.logText(), text) })
}

// code waits for the end, and gives the exit code.
func (p *process) code() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("the server does not end")
	}
	if exit, ok := errors.AsType[*exec.ExitError](p.err); ok {
		return exit.ExitCode()
	}
	if p.err != nil {
		p.t.Fatal(p.err)
	}
	return 0
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// client is for an address that a server has printed. The transport may be changed before.
func client(t *testing.T, address string, opts ...connect.ClientOption) sandboxv2connect.SandboxServiceClient {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		address = "http://sandbar"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}
	}
	return clientOver(t, transport, address, opts...)
}

func clientOver(t *testing.T, transport *http.Transport, address string, opts ...connect.ClientOption) sandboxv2connect.SandboxServiceClient {
	t.Helper()
	t.Cleanup(transport.CloseIdleConnections)
	return sandboxv2connect.NewSandboxServiceClient(&http.Client{Transport: transport}, address, opts...)
}

// bearer has a client send a token.
func bearer(token string) connect.ClientOption {
	return connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			r.Header().Set("Authorization", "Bearer "+token)
			return next(ctx, r)
		}
	}))
}

// openSession opens one whose network is open, which the backend none needs.
func openSession(ctx context.Context, c sandboxv2connect.SandboxServiceClient) (string, error) {
	opts := &sandboxv2.SessionOptions{Network: sandboxv2.NetworkMode_NETWORK_MODE_OPEN, BestEffort: true}
	r, err := c.OpenSession(ctx, connect.NewRequest(&sandboxv2.OpenSessionRequest{Options: opts}))
	if err != nil {
		return "", err
	}
	return r.Msg.Session.SessionId, nil
}

// A stream is a run.
type stream = connect.ServerStreamForClient[sandboxv2.RunResponse]

// runShell starts a script in a new session, and waits until it has written a line.
func runShell(t *testing.T, c sandboxv2connect.SandboxServiceClient, script string) *stream {
	t.Helper()
	id, err := openSession(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Run(t.Context(), connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Type: sandboxv2.ScriptType_SCRIPT_TYPE_SHELL, Script: script}))
	if err != nil {
		t.Fatal(err)
	}
	for s.Receive() {
		if len(s.Msg().Event.Stdout) > 0 {
			return s
		}
	}
	t.Fatalf("the run has written nothing: %v", s.Err())
	return nil
}

// result reads a stream to its end.
func result(s *stream) (stdout string, r *sandboxv2.Result, err error) {
	for s.Receive() {
		stdout += string(s.Msg().Event.Stdout)
		if e := s.Msg().Event.Exited; e != nil {
			r = e
		}
	}
	return stdout, r, s.Err()
}

func logHas(p *process, text string) bool { return strings.Contains(p.logText(), text) }

// get reads a page.
func get(t *testing.T, url string) (code int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(body)
}
