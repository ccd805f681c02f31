// Package testserver starts the real sandbox-server for tests.
package testserver

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Server is a process of the program.
type Server struct {
	// URLs are those that it listens on, in the order of its --listen.
	URLs []string

	cmd  *exec.Cmd
	done chan struct{}
}

// program is built once for each process of tests. It stays: the next one finds it in Go's cache.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sandbar-testserver-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sandbox-server")
	cmd := exec.Command("go", "build", "-o", path, "github.com/sandbar-dev/sandbar/cmd/sandbox-server")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// Remove takes away what Start has built. TestMain calls it last.
func Remove() {
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // there is nobody to tell
	}
}

// Start starts a server that has a state directory of its own. It ends with the test; what it said on stderr is shown when that
// has failed. Without a --listen it is at a port of loopback.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	path, err := program()
	if err != nil {
		tb.Fatalf("build sandbox-server: %v", err)
	}
	listeners := 0
	for _, a := range args {
		if a == "--listen" || strings.HasPrefix(a, "--listen=") {
			listeners++
		}
	}
	if listeners == 0 {
		args, listeners = append(args, "--listen", "127.0.0.1:0"), 1
	}
	dir := tb.TempDir()
	s := &Server{done: make(chan struct{})}
	s.cmd = exec.Command(path, append(args, "--state-dir", filepath.Join(dir, "state"))...)
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.end(tb)
		if text, err := os.ReadFile(log.Name()); err == nil && tb.Failed() {
			tb.Logf("the server said:\n%s", text[max(0, len(text)-4000):])
		}
		log.Close()
	})
	lines := bufio.NewScanner(out)
	for len(s.URLs) < listeners && lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			s.URLs = append(s.URLs, url)
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, out) // it never waits for who reads it
		_ = s.cmd.Wait()
		close(s.done)
	}()
	if len(s.URLs) < listeners {
		tb.Fatal("the server does not say where it listens")
	}
	return s
}

// PID is that of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// endTime is how long a server may take to end.
const endTime = 60 * time.Second

func (s *Server) end(tb testing.TB) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.done:
	case <-time.After(endTime):
		tb.Error("the server does not end")
		_ = s.cmd.Process.Kill()
		<-s.done
	}
}
