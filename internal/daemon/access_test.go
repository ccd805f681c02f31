package daemon

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

func TestServe_BeyondLoopbackNeedsCredentials(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		p := launch(t, backend, "--listen="+address)
		if code := p.code(); code != exitFailed || !strings.Contains(p.logText(), "everybody there could run code") {
			t.Errorf("listen on %s: exit code %d, stderr %q", address, code, p.logText())
		}
	}
	tokens := write(t, "")
	p := launch(t, backend, "--listen=0.0.0.0:0", "--tokens="+tokens, "--admin-listen=0.0.0.0:0")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.line("listening on "), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p.logs("in clear text")
	p.logs("set allow-host")
	p.logs("the administrators' listener asks for no credentials")
	if _, err := sessions(t, client(t, "http://127.0.0.1:"+port)); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("ListSessions without a token = %v, want unauthenticated", err)
	}
}

func TestServe_TokensAreReadAgain(t *testing.T) {
	line1, token1, err := tokenLine("ann", false, "")
	if err != nil {
		t.Fatal(err)
	}
	line2, token2, err := tokenLine("ben", true, "")
	if err != nil {
		t.Fatal(err)
	}
	tokens := write(t, line1+"\n")
	socket := onSocket(t)
	p := launch(t, backend, "--listen=127.0.0.1:0", socket, "--tokens="+tokens)
	for _, address := range []string{p.line("listening on "), p.line("listening on ")} {
		if _, err := sessions(t, client(t, address)); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s: without a token: %v, want unauthenticated", address, err)
		}
		if _, err := sessions(t, client(t, address, bearer(token1))); err != nil {
			t.Errorf("%s: with a token: %v", address, err)
		}
		replace(t, tokens, line2+"\n")
		until(t, "the new token counts", func() bool { _, err := sessions(t, client(t, address, bearer(token2))); return err == nil })
		if _, err := sessions(t, client(t, address, bearer(token1))); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s: with a token of before: %v, want unauthenticated", address, err)
		}
		replace(t, tokens, line1+"\n")
		until(t, "the old token counts again", func() bool { _, err := sessions(t, client(t, address, bearer(token1))); return err == nil })
	}
	if strings.Contains(p.logText(), token1) || strings.Contains(p.logText(), token2) {
		t.Error("a token is in the log")
	}
}

func TestServe_PolicyOfCallersWithoutCredentials(t *testing.T) {
	policy := write(t, "default:\n  max_timeout: 10s\n")
	p := launch(t, backend, "--listen=127.0.0.1:0", "--policy="+policy)
	c := client(t, p.line("listening on "))
	if _, err := openSession(t.Context(), c); connect.CodeOf(err) != connect.CodePermissionDenied || !strings.Contains(err.Error(), "Network") && !strings.Contains(err.Error(), "Backend") {
		t.Errorf("OpenSession with an open network = %v, want permission denied", err)
	}
}

func TestServe_ConsoleIsAsked(t *testing.T) {
	for _, flags := range [][]string{nil, {"--console"}} {
		p := launch(t, append(flags, backend, "--listen=127.0.0.1:0")...)
		code, _ := get(t, p.line("listening on ")+"/console/")
		if want := map[bool]int{false: http.StatusNotFound, true: http.StatusOK}[len(flags) > 0]; code != want {
			t.Errorf("/console/ with %v: %d, want %d", flags, code, want)
		}
	}
}

func TestServe_CollectorOfTelemetry(t *testing.T) {
	bad := launch(t, backend, "--listen=127.0.0.1:0", "--otlp-endpoint=ftp://x")
	if code := bad.code(); code != exitFailed || !strings.Contains(bad.logText(), "--otlp-endpoint: ") {
		t.Errorf("exit code %d, stderr %q", code, bad.logText())
	}
	heard := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case heard <- r.URL.Path:
		default:
		}
	}))
	defer collector.Close()
	p := launch(t, backend, "--listen=127.0.0.1:0", "--otlp-endpoint="+collector.URL)
	if _, err := sessions(t, client(t, p.line("listening on "))); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	paths := map[string]bool{}
	for len(heard) > 0 {
		paths[<-heard] = true
	}
	if !paths["/v1/traces"] || !paths["/v1/metrics"] {
		t.Errorf("the collector heard %v, want traces and metrics", paths)
	}
}

func TestServe_BackendThatDoesNotWork(t *testing.T) {
	p := launch(t, "--backend=none", "--backend=sandbox-exec", "--listen=127.0.0.1:0")
	if code := p.code(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	for _, want := range []string{"the backend sandbox-exec does not work here: ", "\n  remedy: ", "WARNING: the backend none isolates nothing"} {
		if !strings.Contains(p.logText(), want) {
			t.Errorf("stderr %q, want %q", p.logText(), want)
		}
	}
}

func TestTokenCommand(t *testing.T) {
	out, code := command(t, "token", "ann.b", "--admin", "--policy", "big")
	token, line, _ := strings.Cut(strings.TrimSpace(out), "\n")
	if code != 0 || !strings.HasPrefix(token, "sbr_") || !strings.HasPrefix(line, "ann.b ") || !strings.HasSuffix(line, " admin policy=big") {
		t.Errorf("token: %q, code %d", out, code)
	}
	for _, args := range [][]string{{"token"}, {"token", "a b"}, {"token", "a", "--policy", "x y"}, {"token", ""}} {
		if out, code := command(t, args...); code != exitUsage || out != "" {
			t.Errorf("%q: %q, code %d, want code %d", args, out, code, exitUsage)
		}
	}
}

func TestCheckConfigCommand(t *testing.T) {
	line, _, err := tokenLine("ann", false, "big")
	if err != nil {
		t.Fatal(err)
	}
	tokens, policy := write(t, line+"\n"), write(t, "default:\nbig: {gpu: true}\n")
	good := write(t, fmt.Sprintf("tokens: %s\npolicy: %s\n", tokens, policy))
	if out, code := command(t, "check-config", "--config", good); code != 0 || out != "the configuration can be used\n" {
		t.Errorf("check-config: %q, code %d", out, code)
	}
	bad := write(t, fmt.Sprintf("tokens: %s\n", tokens)) // the token's policy is in no file
	if out, code := command(t, "check-config", "--config", bad); code != exitUsage || out != "" {
		t.Errorf("check-config of a token without its policy: %q, code %d, want code %d", out, code, exitUsage)
	}
	if out, code := command(t, "--version"); code != 0 || out != "sandbox-server v0-test\n" {
		t.Errorf("--version: %q, code %d", out, code)
	}
}

// command runs the command to its end.
func command(t *testing.T, args ...string) (stdout string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, args...)
	c.Env = append(os.Environ(), asServer+"=1")
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// sessions lists those of a client.
func sessions(t *testing.T, c sandboxv2connect.SandboxServiceClient) ([]*sandboxv2.Session, error) {
	t.Helper()
	r, err := c.ListSessions(t.Context(), connect.NewRequest(&sandboxv2.ListSessionsRequest{}))
	if err != nil {
		return nil, err
	}
	return r.Msg.Sessions, nil
}

// replace puts a file with other content in the place of one.
func replace(t *testing.T, path, text string) {
	t.Helper()
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
}

// onSocket is the flag for a unix socket of the test's own, by which the backend none may be used.
func onSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbd-") // the names of tests are too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return "--listen=unix:" + filepath.Join(dir, "s")
}
