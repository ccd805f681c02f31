package enginetest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// terminal are the options of a run in a terminal that somebody types into.
func terminal() *engine.RunOptions {
	return &engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 24, Cols: 80}, StdinPipe: true}
}

// What a terminal makes of the characters: termios(3).
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

var terminalTests = []test{
	{"size and streams", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		out := s.exec(t, session, s.native.terminal, &engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 12, Cols: 345}})
		wantEnd(t, out.Result, engine.ReasonExited, 0)
		got := string(out.Stdout)
		if !strings.HasPrefix(got, "12 345 ") || strings.Contains(got, "False") || !strings.HasSuffix(got, "\r\nerr\r\n") || len(out.Stderr) > 0 {
			t.Errorf("output %q, %q", got, out.Stderr)
		}
		if got := s.output(t, session, s.native.tty, terminal()); got != "yes\r\n" {
			t.Errorf("/dev/tty: %q", got)
		}
		// The next run has none.
		if got := s.output(t, session, s.native.tty, nil); got != "no\n" {
			t.Errorf("/dev/tty of the next run: %q", got)
		}
	}},
	{"input", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.line, terminal())
		typed(t, p, "hey\n")
		out, err := p.Communicate(within(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, out.Result, engine.ReasonExited, 0)
		if got := string(out.Stdout); !strings.HasPrefix(got, "hey\r\ngot hey\r\n") { // the first is the terminal's echo
			t.Errorf("output %q", got)
		}
	}},
	{"end of the input", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for name, end := range map[string]func(p *engine.Process){
			"typed":  func(p *engine.Process) { typed(t, p, "some text\n"+ctrlD) },
			"closed": func(p *engine.Process) { typed(t, p, "some text\n"); p.Stdin().Close() },
			"closed in a line": func(p *engine.Process) {
				typed(t, p, "some text")
				p.Stdin().Close()
			},
			"closed at once": func(p *engine.Process) { p.Stdin().Close() },
		} {
			t.Run(name, func(t *testing.T) {
				opts := terminal()
				opts.Timeout = 5 * time.Second // a script that does not notice waits for ever
				p := s.start(t, session, s.scripts.cat, opts)
				end(p)
				wantEnd(t, wait(t, p), engine.ReasonExited, 0)
			})
		}
		// No stdin at all is the end as well.
		r := s.exec(t, session, s.scripts.cat, &engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 1, Cols: 1}, Timeout: 5 * time.Second}).Result
		wantEnd(t, r, engine.ReasonExited, 0)
	}},
	{"interrupt", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.busy, terminal())
		for line := range p.StdoutLines() {
			if strings.HasPrefix(line, "before") {
				break
			}
		}
		typed(t, p, ctrlC)
		r := wait(t, p)
		wantEnd(t, r, engine.ReasonSignaled, 130)
		if r.Signal != 2 {
			t.Errorf("signal %d", r.Signal)
		}
	}},
	{"signal", func(t *testing.T, s *suite) { // whatever the terminal makes of characters
		session := s.open(t, nil)
		p := s.start(t, session, s.native.raw, terminal())
		for line := range p.StdoutLines() {
			if strings.HasPrefix(line, "before") {
				signal(t, p, engine.SignalInterrupt)
			}
		}
		s.wantInterrupted(t, wait(t, p))
	}},
	{"signal to the foreground", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.native.foreground, terminal())
		var last string
		for line := range p.StdoutLines() {
			if last = strings.TrimSpace(line); last == "ready" {
				signal(t, p, engine.SignalInterrupt)
			}
		}
		if last != "ended 2, and the other goes on" {
			t.Errorf("last line %q", last)
		}
		wantEnd(t, wait(t, p), engine.ReasonExited, 0)
	}},
	{"resize", func(t *testing.T, s *suite) { // and the script learns of it
		session := s.open(t, nil)
		p := s.start(t, session, s.native.resized, terminal())
		var after string
		for line := range p.StdoutLines() {
			if strings.TrimSpace(line) == "ready" {
				if err := p.Resize(engine.TerminalSize{Rows: 50, Cols: 132}); err != nil {
					t.Errorf("Resize: %v", err)
				}
				continue
			}
			after = strings.TrimSpace(line)
		}
		if after != "50 132" {
			t.Errorf("after Resize: %q", after)
		}
		wantEnd(t, wait(t, p), engine.ReasonExited, 0)
		if err := p.Resize(engine.TerminalSize{Rows: 1, Cols: 1}); err != nil {
			t.Errorf("Resize after the end: %v", err)
		}
	}},
	{"ended by us", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.busy, terminal())
		q := s.start(t, session, s.scripts.flood, &engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 24, Cols: 80}, Timeout: soon})
		p.Kill()
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
		wantEnd(t, wait(t, q), engine.ReasonTimeout, 124)
		if _, err := p.Stdin().Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write after the end: %v", err)
		}
		s.output(t, session, s.scripts.hello, nil)
	}},
	{"what a script leaves in it does not reach the next", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.sleep, terminal())
		typed(t, p, "secret\n")
		p.Kill()
		wait(t, p)
		if got := s.output(t, session, s.scripts.hello, terminal()); got != "hello\r\n" {
			t.Errorf("output %q", got)
		}
	}},
}

// typed types text into the run's terminal.
func typed(t *testing.T, p *engine.Process, text string) {
	t.Helper()
	if _, err := io.WriteString(p.Stdin(), text); err != nil {
		t.Errorf("type %q: %v", text, err)
	}
}
