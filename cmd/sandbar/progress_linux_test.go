package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a new terminal, pty(7), of 100 columns: screen is where the person would look.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100})
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("open a terminal: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return screen, terminal
}

// On a real terminal the line appears, as wide as fits, and goes.
func TestProgress_Terminal(t *testing.T) {
	screen, terminal := openTerminal(t)
	p := newProgress(terminal)
	if p.columns != 100 {
		t.Errorf("columns = %d, want 100", p.columns)
	}
	p.step("compile interpreter", 0, 2)
	time.Sleep(2 * progressDelay)
	p.close()
	fmt.Fprint(terminal, "end\n")
	var seen bytes.Buffer
	for b := make([]byte, 4096); !strings.Contains(seen.String(), "end"); {
		n, err := screen.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(b[:n])
	}
	text, _, _ := strings.Cut(seen.String(), "end")
	if !strings.Contains(text, "compile interpreter, 1 of 2") {
		t.Errorf("no line on the terminal: %q", text)
	}
	var after screenLine
	fmt.Fprint(&after, text)
	if after.String() != "" {
		t.Errorf("%q is left on the terminal", after.String())
	}
}
