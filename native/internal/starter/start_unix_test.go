//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package starter

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// command is one whose output goes to a pipe.
func command(t *testing.T, path string, argv ...string) (c *Command, output func() string) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		null.Close()
		r.Close()
		w.Close()
	})
	c = &Command{Path: path, Argv: argv, Env: []string{}, Dir: t.TempDir(), Stdin: null, Stdout: w, Stderr: w, Timeout: 30 * time.Second}
	return c, func() string {
		w.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestStart(t *testing.T) {
	c, output := command(t, "/bin/sh", "sh", "-c", `printf '%s|' "$0" "$@" "$A"; pwd -P; exit 7`, "zero", "", "\xff\xfe \"\n")
	c.Env = []string{"A=\xffvalue", "PATH=/nowhere"}
	p, spent, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sid, err := unix.Getsid(p.Pid)
	if err != nil || sid != p.Pid {
		t.Errorf("session %d of process %d, %v", sid, p.Pid, err)
	}
	state, err := p.Wait()
	if err != nil || state.ExitCode() != 7 {
		t.Errorf("it ended with %v, %v", state, err)
	}
	if total := state.UserTime() + state.SystemTime(); spent <= 0 || spent > total {
		t.Errorf("it had spent %v of %v before it was executed", spent, total)
	}
	dir, err := filepath.EvalSymlinks(c.Dir)
	if got, want := output(), "zero||\xff\xfe \"\n|\xffvalue|"+dir+"\n"; got != want || err != nil {
		t.Errorf("output %q, want %q, %v", got, want, err)
	}
}

func TestStart_Limits(t *testing.T) {
	c, output := command(t, "/bin/sh", "sh", "-c", "ulimit -n; ulimit -Hn; ulimit -c")
	c.Limits = []Limit{{unix.RLIMIT_NOFILE, 33}, {unix.RLIMIT_CORE, 0}}
	p, _, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait()
	if got := output(); got != "33\n33\n0\n" {
		t.Errorf("limits %q", got)
	}
	// One that is higher than the hard limit changes nothing.
	var hard unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &hard); err != nil {
		t.Fatal(err)
	}
	c, output = command(t, "/bin/sh", "sh", "-c", "ulimit -Hn")
	c.Limits = []Limit{{unix.RLIMIT_NOFILE, 1 << 62}}
	if p, _, err = c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait()
	before := exec.Command("/bin/sh", "-c", "ulimit -Hn")
	want, err := before.Output()
	if got := output(); got != string(want) || err != nil {
		t.Errorf("hard limit %q, want %q, %v", got, want, err)
	}
}

func TestStart_Errors(t *testing.T) {
	c, _ := command(t, "/missing/program", "program")
	_, _, err := c.Start(t.Context())
	var e *Error
	if !errors.As(err, &e) || e.Step != "execute /missing/program" || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a program that is not there: %v", err)
	}
	c, _ = command(t, "/bin/sh", "sh", "-c", ":", strings.Repeat("x", 8<<20))
	if _, _, err := c.Start(t.Context()); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("an argument of 8 MiB: %v", err)
	}
	c, _ = command(t, "/bin/sh", "sh")
	c.Dir = "/missing/dir"
	if _, _, err := c.Start(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	c, _ = command(t, "/bin/sh", "sh")
	c.Limits = []Limit{{-1, 0}}
	if _, _, err := c.Start(t.Context()); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "setrlimit") {
		t.Errorf("a limit that does not exist: %v", err)
	}
	c, output := command(t, "/bin/sh", "sh", "-c", "echo executed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	c.Timeout = -time.Second
	if _, _, err := c.Start(t.Context()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("no time: %v", err)
	}
	if got := output(); got != "" {
		t.Errorf("what was not started wrote %q", got)
	}
}

// TestExecuted has the answers of a child.
func TestExecuted(t *testing.T) {
	ready := string(ready(7 * time.Millisecond))
	for answer, want := range map[string]string{
		ready: "",
		"":    errGone.Error(),
		ready + `{"Step":"s","Errno":2,"Text":"t"}`: "s: t",
		`{"Step":"s","Errno":2,"Text":"t"}`:         "s: t",
		ready + "x":                                 "answer of the process that was to become the script",
		ready[:8]:                                   "answer of the process that was to become the script",
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, answer)
		w.Close()
		spent, err := executed(r, time.Now().Add(30*time.Second))
		r.Close()
		if (spent == 7*time.Millisecond) != (answer == ready) {
			t.Errorf("answer %q: it had spent %v", answer, spent)
		}
		got := ""
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("answer %q: error %q, want %q", answer, got, want)
		}
	}
}

// TestChild_Alone starts what waits for a parent without one. It must end, and not run this test again.
func TestChild_Alone(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Close() // a parent that has gone
	defer r.Close()
	for name, files := range map[string][]*os.File{"no descriptors": nil, "no request": {r}} {
		cmd := exec.Command(self, Arg, "-test.v")
		cmd.ExtraFiles = files
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || len(out) > 0 {
			t.Errorf("%s: %v, output %q", name, err, out)
		}
	}
}
