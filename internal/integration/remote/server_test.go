package remote

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// binary is the server's program, made once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sandbox-server")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sandbox-server")
	cmd := exec.Command("go", "build", "-o", path, "github.com/sandbar-dev/sandbar/cmd/sandbox-server")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// start starts a server and returns its URL.
func start(tb testing.TB, args ...string) string {
	tb.Helper()
	path, err := binary()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	log, err := os.Create(filepath.Join(os.TempDir(), "server.log"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	go func() { _, _ = bufio.NewReader(out).WriteTo(os.Stderr) }()
	return "http://" + strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}
