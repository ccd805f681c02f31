package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

// launch starts a server process with a setup. Its temporary directory is its own: see process.dir.
func launch(tb testing.TB, c setup) *process {
	tb.Helper()
	return launchIn(tb, c, tb.TempDir())
}

// launchIn is launch with a temporary directory. The words before are a command that starts another one.
func launchIn(tb testing.TB, c setup, dir string, before ...string) *process {
	tb.Helper()
	c.fill()
	text, err := json.Marshal(c)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := childCommand(tb, before, "server", string(text))
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	p := spawn(tb, cmd)
	p.dir = dir
	for {
		line := p.line(tb)
		if line == "ready" {
			break
		}
		p.urls = append(p.urls, line)
	}
	p.drain()
	return p
}

// childCommand is one of children as a command, behind the words of another one.
func childCommand(tb testing.TB, before []string, args ...string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	words := append(append(slices.Clone(before), self), args...)
	return exec.Command(words[0], words[1:]...)
}

// A process is one that a test has started, and that ends with it.
type process struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	dir  string   // temporary
	urls []string // of a server

	once sync.Once
	done chan struct{}
}

// spawn starts a process. What it writes to stderr is shown when the test fails.
func spawn(tb testing.TB, cmd *exec.Cmd) *process {
	tb.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	log, err := os.CreateTemp(tb.TempDir(), "log")
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &process{cmd: cmd, out: bufio.NewReader(out), done: make(chan struct{})}
	tb.Cleanup(func() {
		p.end()
		log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && tb.Failed() {
			tb.Logf("%s, the last it said:\n%s", cmd.Path, text[max(0, len(text)-4000):])
		}
	})
	return p
}

// pid is the process's.
func (p *process) pid() int { return p.cmd.Process.Pid }

// url is the first one of a server.
func (p *process) url() string { return p.urls[0] }

// line waits for the next line of stdout.
func (p *process) line(tb testing.TB) string {
	tb.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("%s has said %q: %v", p.cmd.Path, line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// drain reads the rest of stdout, so that the process never waits for who reads it.
func (p *process) drain() { go func() { _, _ = io.Copy(io.Discard, p.out) }() }

// end asks the process to end, and waits.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.wait()
}

// kill has the kernel end it, and waits.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.wait()
}

func (p *process) wait() {
	p.once.Do(func() {
		_ = p.cmd.Wait()
		close(p.done)
	})
	<-p.done
}

// open opens a session of the server, which is closed with the test.
func open(tb testing.TB, url string, opts *remote.Options) *engine.Session {
	tb.Helper()
	s, err := remote.Open(tb.Context(), url, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			tb.Logf("close: %v", err)
		}
	})
	return s
}

// client is one whose connections are closed with the test.
func client(tb testing.TB, url string, opts *remote.ClientOptions) *remote.Client {
	tb.Helper()
	c, err := remote.NewClient(url, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}
