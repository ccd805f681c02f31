//go:build unix

package daemon

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"connectrpc.com/connect"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

func TestServe_DrainsOnSIGTERM(t *testing.T) {
	p := launch(t, backend, onSocket(t), "--admin-listen=127.0.0.1:0")
	c := client(t, p.line("listening on "))
	admin := p.line("administration on ")
	until(t, "readyz says 200", func() bool { code, _ := get(t, admin+"/readyz"); return code == http.StatusOK })

	if code, text := get(t, admin+"/metrics"); code != http.StatusOK || !strings.Contains(text, `sandbar_build_info{go_version=`) || !strings.Contains(text, "sandbar_wasm_instances_taken_total") {
		t.Errorf("/metrics: %d\n%s", code, text)
	}

	dir := t.TempDir()
	run := runShell(t, c, fmt.Sprintf("echo begun; while [ ! -e %s/go ]; do sleep 0.05; done; echo done", dir))
	p.signal(syscall.SIGTERM)
	until(t, "readyz says 503", func() bool {
		code, text := get(t, admin+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "draining")
	})
	if code, _ := get(t, admin+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz while draining: %d, want 200", code)
	}
	if _, err := openSession(t.Context(), c); connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("OpenSession while draining = %v, want unavailable", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, r, err := result(run)
	if err != nil || r.GetReason() != sandboxv2.Reason_REASON_EXITED || stdout != "done\n" {
		t.Errorf("run under way: %q, %v, %v, want its own end", stdout, r, err)
	}
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	nothingIn(t, filepath.Join(p.state, "work"))
}

func TestServe_EndsRunsAfterTheDrainTimeout(t *testing.T) {
	p := launch(t, backend, onSocket(t), "--drain-timeout=100ms")
	run := runShell(t, client(t, p.line("listening on ")), "echo begun; exec sleep 1000")
	p.signal(syscall.SIGINT)
	_, r, err := result(run)
	if err != nil || r.GetReason() != sandboxv2.Reason_REASON_CANCELLED {
		t.Errorf("run under way: %v, %v, want a result with the reason cancelled", r, err)
	}
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestServe_SecondSignalEndsAtOnce(t *testing.T) {
	p := launch(t, backend, onSocket(t), "--drain-timeout=1h")
	run := runShell(t, client(t, p.line("listening on ")), "echo $$; exec sleep 1000")
	pid := strings.TrimSpace(string(run.Msg().Event.Stdout))
	t.Cleanup(func() { _ = exec.Command("kill", "-9", pid).Run() }) // the backend none leaves it when its program is killed
	p.signal(syscall.SIGTERM)
	p.logs("draining")
	p.signal(syscall.SIGINT)
	if code := p.code(); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit code %d, want %d", code, 128+int(syscall.SIGINT))
	}
	if _, r, err := result(run); r != nil || err == nil {
		t.Errorf("run under way: %v, %v, want a lost stream", r, err)
	}
}

func TestServe_OneServerForAStateDirectory(t *testing.T) {
	first := launch(t, backend, "--listen=127.0.0.1:0")
	first.line("listening on ")
	second := launch(t, backend, "--listen=127.0.0.1:0", "--state-dir="+first.state)
	if code := second.code(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if want := fmt.Sprintf("another server has it, with pid %d", first.Process.Pid); !strings.Contains(second.logText(), want) {
		t.Errorf("stderr %q, want %q", second.logText(), want)
	}
	first.signal(syscall.SIGTERM)
	first.code()
	third := launch(t, backend, "--listen=127.0.0.1:0", "--state-dir="+first.state)
	third.line("listening on ")
}

func TestServe_StateDirectoryOfOthers(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	linked := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(linked, "work")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{open: "other users can write it", linked: "is not a directory"} {
		p := launch(t, backend, "--listen=127.0.0.1:0", "--state-dir="+dir)
		if code := p.code(); code != exitFailed || !strings.Contains(p.logText(), want) {
			t.Errorf("exit code %d, stderr %q, want %d, %q", code, p.logText(), exitFailed, want)
		}
	}
}

func TestServe_UnixSocketIsTheOwners(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	p := launch(t, backend, "--listen=unix:"+socket, "--listen=127.0.0.1:0")
	owner, anyone := client(t, p.line("listening on ")), client(t, p.line("listening on "))
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v, want mode 0600", info.Mode(), err)
	}
	dir := t.TempDir()
	asked := &sandboxv2.OpenSessionRequest{Options: &sandboxv2.SessionOptions{
		Network: sandboxv2.NetworkMode_NETWORK_MODE_OPEN, BestEffort: true, WorkDir: dir,
	}}
	opened, err := owner.OpenSession(t.Context(), connect.NewRequest(asked))
	if err != nil {
		t.Fatalf("OpenSession of the owner with a directory of the host: %v", err)
	}
	if got := opened.Msg.Session.Principal; got != ownerName {
		t.Errorf("principal %q, want %q", got, ownerName)
	}
	if _, err := anyone.OpenSession(t.Context(), connect.NewRequest(asked)); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("OpenSession by the port with a directory of the host = %v, want permission denied", err)
	}
	id := opened.Msg.Session.SessionId
	// The default policy does not allow the backend none, not even where it is the default.
	if _, err := openSession(t.Context(), anyone); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("OpenSession by the port with the backend none = %v, want permission denied", err)
	}
	if _, err := anyone.GetSession(t.Context(), connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: id})); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("GetSession of the owner's by the port = %v, want not found", err)
	}
}

func TestServe_SystemdSockets(t *testing.T) {
	var passed []*os.File
	config := net.ListenConfig{}
	tcp, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unix, err := config.Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []interface{ File() (*os.File, error) }{tcp.(*net.TCPListener), unix.(*net.UnixListener)} {
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		passed = append(passed, f)
	}
	notified, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notified.Close()
	p := launchWith(t, func(c *exec.Cmd) {
		c.ExtraFiles = passed
		c.Env = append(c.Env, "LISTEN_FDS=2", "NOTIFY_SOCKET="+notified.LocalAddr().String())
		// The shell becomes the server, so that its pid is known beforehand.
		c.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, c.Path}, c.Args[1:]...)
		c.Path = "/bin/sh"
	}, backend, "--listen=systemd")
	for _, want := range []string{"http://" + tcp.Addr().String(), "unix://" + unix.Addr().String()} {
		address := p.line("listening on ")
		if address != want {
			t.Errorf("listening on %s, want %s", address, want)
		}
		if _, err := client(t, address).ListSessions(t.Context(), connect.NewRequest(&sandboxv2.ListSessionsRequest{})); err != nil {
			t.Errorf("ListSessions over %s: %v", address, err)
		}
	}
	heard := func(want string) {
		t.Helper()
		buf := make([]byte, 100)
		n, err := notified.Read(buf)
		if err != nil || string(buf[:n]) != want {
			t.Errorf("systemd heard %q, %v, want %q", buf[:n], err, want)
		}
	}
	heard("READY=1")
	p.signal(syscall.SIGHUP)
	p.logs("are read again when they change")
	p.signal(syscall.SIGTERM)
	heard("STOPPING=1")
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if _, err := os.Stat(unix.Addr().String()); err != nil {
		t.Errorf("systemd's socket: %v, want it to stay", err)
	}
}

func TestServe_SystemdSocketsOfSomebodyElse(t *testing.T) {
	p := launchWith(t, func(c *exec.Cmd) { c.Env = append(c.Env, "LISTEN_FDS=1", "LISTEN_PID=1") }, backend, "--listen=systemd")
	if code := p.code(); code != exitFailed || !strings.Contains(p.logText(), "passed no sockets") {
		t.Errorf("exit code %d, stderr %q", code, p.logText())
	}
}

func nothingIn(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s has %v, %v, want nothing", dir, entries, err)
	}
}
