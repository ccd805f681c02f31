//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// A remoteShell types commands for a server.
type remoteShell struct {
	t      *testing.T
	server string
	dir    string // where they run
	flags  []string
}

// serveForTest starts a server, and returns the address that it has printed. It is ended in good order with the test.
func serveForTest(t *testing.T, args ...string) (address string) {
	t.Helper()
	key, value := cacheVariable(preparedCache(t))
	// Not with the test's context, which would kill it before the clean-up.
	c := exec.Command("sandbar", append([]string{"serve", "--state-dir", filepath.Join(t.TempDir(), "state")}, args...)...)
	c.Env = append(os.Environ(), key+"="+value)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("the server ended with %v:\n%s", err, &stderr)
		}
	})
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server prints no address: %v", err)
		}
		if address, ok := strings.CutPrefix(line, "listening on "); ok {
			return strings.TrimSpace(address)
		}
	}
}

// run runs a command to its end.
func (s *remoteShell) run(stdin string, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), "sandbar", append(s.flags, args...)...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), envServer+"="+s.server)
	c.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}

// want runs a command that must succeed, and checks its output.
func (s *remoteShell) want(stdout string, args ...string) {
	s.t.Helper()
	out, errs, code := s.run("", args...)
	if out != stdout || code != 0 {
		s.t.Errorf("sandbar %q: %q, code %d, stderr %q, want %q", args, out, code, errs, stdout)
	}
}

// fails runs a command that must end with a code and a text on stderr.
func (s *remoteShell) fails(code int, stderr string, args ...string) {
	s.t.Helper()
	out, errs, got := s.run("", args...)
	if got != code || !strings.Contains(errs, stderr) {
		s.t.Errorf("sandbar %q: code %d, stdout %q, stderr %q, want %d, %q", args, got, out, errs, code, stderr)
	}
}

func (s *remoteShell) ps() []listedSession {
	s.t.Helper()
	out, errs, code := s.run("", "ps", "--json")
	var list []listedSession
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		s.t.Fatalf("ps --json: %q, %q, code %d: %v", out, errs, code, err)
	}
	return list
}

var keptSession = regexp.MustCompile(`session ([a-z0-9]+) is left on the server`)

// keep runs a command with --keep, and returns the session.
func (s *remoteShell) keep(args ...string) string {
	s.t.Helper()
	_, errs, code := s.run("", append([]string{"run", "--keep"}, args...)...)
	m := keptSession.FindStringSubmatch(errs)
	if code != 0 || m == nil {
		s.t.Fatalf("run --keep: code %d, stderr %q", code, errs)
	}
	return m[1]
}

func TestServer_Commands(t *testing.T) {
	address := serveForTest(t, "--backend", "none", "--listen", "unix:"+filepath.Join(shortDir(t), "s"))
	s := &remoteShell{t: t, server: address, dir: t.TempDir()}
	s.want("4\n", "run", "-c", "print(2+2)")
	s.want("['main.py', 'a']\n", "run", "--tier", "wasm", "-c", "import sys, os; print([os.path.basename(sys.argv[0]), *sys.argv[1:]])", "a")
	if len(s.ps()) != 0 {
		t.Errorf("ps = %v, want no session", s.ps())
	}
	s.fails(3, "oops", "run", "-c", "import sys; print('oops', file=sys.stderr); sys.exit(3)")
	s.fails(exitTimeout, "the timeout of 300ms passed", "run", "--timeout", "0.3", "-c", "while 1: pass")
	if out, _, code := s.run("typed", "run", "-c", "print(input())"); out != "typed\n" || code != 0 {
		t.Errorf("run with stdin: %q, code %d", out, code)
	}

	id := s.keep("-c", "open('f', 'w').write('kept')")
	s.want("kept b\n", "run", "--session", id, "--env", "A=b", "-c", "import os; print(open('f').read(), os.environ['A'])")
	s.want("kept", "cp", id+":f", "-")
	if _, errs, code := s.run("from stdin", "cp", "-", id+":dir/g"); code != 0 {
		t.Errorf("cp from stdin: %q, code %d", errs, code)
	}
	s.want("", "cp", id+":dir/g", ".")
	if text, err := os.ReadFile(filepath.Join(s.dir, "g")); string(text) != "from stdin" {
		t.Errorf("cp to a directory: %q, %v", text, err)
	}
	s.want("", "cp", "g", id+":up/")
	s.want("from stdin", "cp", id+":up/g", "/dev/stdout")
	s.fails(exitFailed, "no such file", "cp", id+":missing", "here")
	if list, err := os.ReadDir(s.dir); err != nil || len(list) != 1 {
		t.Errorf("after a copy that failed there are %v, %v, want g alone", list, err)
	}

	out, errs, code := s.run("", "run", "--session", id, "--detach", "-c", "import time\nfor i in range(3): print(i); time.sleep(.1)\nraise SystemExit(7)")
	run := strings.TrimSpace(out)
	if code != 0 || !strings.HasPrefix(run, id+"/") {
		t.Fatalf("run --detach: %q, %q, code %d", out, errs, code)
	}
	for _, name := range []string{run, strings.TrimPrefix(run, id+"/")} {
		if out, errs, code := s.run("", "logs", name); out != "0\n1\n2\n" || code != 7 {
			t.Errorf("logs %s: %q, %q, code %d", name, out, errs, code)
		}
	}
	list := s.ps()
	if len(list) != 1 || list[0].ID != id || !hasRun(list[0].Runs, strings.TrimPrefix(run, id+"/"), 7) {
		t.Errorf("ps = %+v, want the session %s with the run %s", list, id, run)
	}
	if out, _, _ := s.run("", "ps"); !strings.Contains(out, id) || !strings.Contains(out, "exited 7") {
		t.Errorf("ps: %q", out)
	}

	out, _, _ = s.run("", "run", "--session", id, "--detach", "-c", "import time; time.sleep(1000)")
	run = strings.TrimSpace(out)
	s.want("", "stop", run)
	if _, _, code := s.run("", "logs", run); code == 0 {
		t.Error("logs of a run that was stopped: code 0")
	}
	s.want("", "stop", id)
	if list := s.ps(); len(list) != 0 {
		t.Errorf("ps after stop = %v, want no session", list)
	}
	s.fails(exitFailed, "no such session", "run", "--session", id, "-c", "1")
	s.fails(exitFailed, "there is no session and no run "+id, "stop", id)
	s.fails(exitFailed, "there is no run nothing", "logs", "nothing")
}

func hasRun(list []listedRun, id string, code int) bool {
	for _, r := range list {
		if r.ID == id && r.Detached && r.ExitCode != nil && *r.ExitCode == code {
			return true
		}
	}
	return false
}

func TestServer_Shell(t *testing.T) {
	address := serveForTest(t, "--backend", "none", "--listen", "unix:"+filepath.Join(shortDir(t), "s"))
	c := exec.CommandContext(t.Context(), "sandbar", "--server", address, "shell", "--network", "open")
	tty, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if _, err := tty.WriteString("echo $((40+2))-here; exit 5\n"); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	_, _ = seen.ReadFrom(tty) // it ends with an error when the other side is closed
	err = c.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 5 || !strings.Contains(seen.String(), "42-here") {
		t.Errorf("shell: %v, want code 5; on the terminal was %q", err, &seen)
	}
}

func TestServer_Usage(t *testing.T) {
	s := &remoteShell{t: t, dir: t.TempDir()}
	for _, verb := range [][]string{{"ps"}, {"stop", "x"}, {"logs", "x"}, {"cp", "abc:f", "-"}, {"run", "--keep", "-c", "1"}, {"run", "--detach", "-c", "1"}, {"run", "--session=x", "-c", "1"}} {
		s.fails(exitUsage, "--server", verb...)
	}
	s.fails(exitUsage, "--server: has the scheme", "--server", "ftp://x", "ps")
	s.fails(exitUsage, "--server: doctor is about this machine", "--server", "http://127.0.0.1:1", "doctor")
	s.server = "http://127.0.0.1:1"
	s.fails(exitFailed, "connection refused", "run", "-c", "1")
	s.fails(exitUsage, "--memory is for a new session", "run", "--session", "x", "--memory", "1Gi", "-c", "1")
	s.fails(exitUsage, "one of the two is SESSION:PATH", "cp", "a", "b")
	s.fails(exitUsage, "one of the two is SESSION:PATH", "cp", "abc:a", "abc:b")
	s.fails(exitUsage, "--token-file: open none", "--token-file", "none", "ps")
	s.fails(exitUsage, "--ca-file: open none", "--ca-file", "none", "ps")
	token := filepath.Join(s.dir, "t")
	if err := os.WriteFile(token, []byte("sbr_0123456789012345678901\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.fails(exitUsage, "--token-file: would go to another machine in the clear", "--server", "http://192.0.2.1:1", "--token-file", token, "ps")
}

func TestServer_TokenAndTLS(t *testing.T) {
	dir := t.TempDir()
	made, err := exec.CommandContext(t.Context(), "sandbar", "serve", "token", "ann").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(made), "\n")
	cert, key := certificate(t)
	for name, text := range map[string]string{"token": string(made), "tokens": line, "cert": cert, "key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := serveForTest(t, "--backend", "none", "--listen", "127.0.0.1:0", "--tokens", filepath.Join(dir, "tokens"),
		"--tls-cert", filepath.Join(dir, "cert"), "--tls-key", filepath.Join(dir, "key"))
	if !strings.HasPrefix(address, "https://") {
		t.Errorf("listening on %s, want https", address)
	}
	s := &remoteShell{t: t, server: address, dir: dir}
	s.fails(exitFailed, "certificate", "--token-file", "token", "ps")
	s.fails(exitFailed, "not authenticated", "--ca-file", "cert", "ps")
	s.want("ID  AGE  STATE  WHERE  NAME\n", "--ca-file", "cert", "--token-file", "token", "ps")
}

// certificate is one for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	der, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// shortDir is a folder whose path leaves room for the name of a socket: the names of tests are long.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbc-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
