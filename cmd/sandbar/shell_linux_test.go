package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native"
)

// nativeWorks tells whether the native tier's default backend does.
func nativeWorks(tb testing.TB) bool {
	tb.Helper()
	d, err := native.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Close()
	err = d.Prepare(tb.Context())
	if err != nil && strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "bwrap") {
		tb.Fatal(err)
	}
	return err == nil
}

// A person at a terminal: what is typed goes to the shell, Ctrl-C and the window's size too, and the
// terminal is as it was afterwards.
func TestShell_Terminal(t *testing.T) {
	if !nativeWorks(t) {
		t.Skip("the native tier does not work here")
	}
	screen, terminal := openTerminal(t)
	before := termios(t, terminal)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "shell")
	cmd.Args[0] = "sandbar" // the test binary is the command when it is called so
	cmd.Env = append(os.Environ(), "TERM=vt100", "TMPDIR="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &conversation{t: t, screen: screen}
	// What is typed while the shell takes its line editor away or puts it back is nobody's: so wait for the prompt, or for
	// the command's own words.
	const prompt = "~$ "
	s.enter("", prompt)
	s.enter("echo $((40+2)) $TERM $(stty size); tty\r", "42 vt100 24 100", prompt)
	if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 70}); err != nil {
		t.Fatal(err)
	}
	s.enter("sleep 0.3; stty size\r", "30 70", prompt)
	s.enter("echo be''gun; cat\r", "begun")
	s.enter("hello\r", "hello\r\n", "hello\r\n") // typed, and copied by cat
	s.enter("\x03", prompt)
	s.enter("echo over $?\r", "over 130", prompt)
	s.enter("echo rea''dy; read x; echo got-$x\r", "ready\r\n")
	s.enter("typed\r", "got-typed", prompt)
	if _, err := screen.WriteString("exit 7\r"); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d (%v), want 7; on the screen:\n%s", code, err, s.seen.String())
	}
	if after := termios(t, terminal); after != before {
		t.Errorf("the terminal is left as %+v, it was %+v", after, before)
	}
}

func termios(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *state
}

// conversation is typing and reading at a terminal.
type conversation struct {
	t      *testing.T
	screen *os.File
	seen   bytes.Buffer
}

// enter types text and waits until each of want is on the screen after that, in this order.
func (c *conversation) enter(text string, want ...string) {
	c.t.Helper()
	if _, err := c.screen.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
	if err := c.screen.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	fresh := ""
	for b := make([]byte, 4096); len(want) > 0; {
		if _, after, ok := strings.Cut(fresh, want[0]); ok {
			fresh, want = after, want[1:]
			continue
		}
		n, err := c.screen.Read(b)
		fresh += string(b[:n])
		c.seen.Write(b[:n])
		if err != nil {
			c.t.Fatalf("after %q no %q: %v; on the screen:\n%s", text, want[0], err, c.seen.String())
		}
	}
}
