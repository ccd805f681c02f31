//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"testing"
	"time"
)

// A command is a process of its own, with its streams in the hands of the test.
type command struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
	temp   string // where sandbar makes its work directory
}

// startCommand starts a program with sandbar in its PATH. It is killed when it has not ended after a minute.
func startCommand(t *testing.T, name string, args ...string) *command {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	key, value := cacheVariable(preparedCache(t))
	c := &command{Cmd: exec.CommandContext(ctx, name, args...), temp: t.TempDir()}
	c.Env = append(os.Environ(), "TMPDIR="+c.temp, key+"="+value)
	c.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdout = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// line waits for a line of output.
func (c *command) line(t *testing.T, want string) {
	t.Helper()
	got, err := c.stdout.ReadString('\n')
	if err != nil || got != want+"\n" {
		t.Fatalf("output %q, %v, want the line %q", got, err, want)
	}
}

// send writes to the command's standard input.
func (c *command) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c.stdin, text); err != nil {
		t.Fatal(err)
	}
}

// signal sends a signal. Where it is ignored, as under nohup, sandbar ignores it too, and there is nothing
// to test.
func (c *command) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if signal.Ignored(sig) {
		t.Skipf("%v is ignored here", sig)
	}
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// end waits for the end, and checks the exit code, the rest of the output and that no work directory stayed.
func (c *command) end(t *testing.T, code int, want string) {
	t.Helper()
	rest, _ := io.ReadAll(c.stdout) // Wait says it too
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || !exit.Exited()) {
		t.Fatalf("wait: %v; stderr: %s", err, c.stderr.Bytes())
	}
	if got := c.ProcessState.ExitCode(); got != code || string(rest) != want {
		t.Errorf("exit code %d, output %q, want %d, %q; stderr: %s", got, rest, code, want, c.stderr.Bytes())
	}
	left, err := os.ReadDir(c.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
