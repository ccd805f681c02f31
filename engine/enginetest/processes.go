package enginetest

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// processTests are about what a script starts and what it starts with.
var processTests = []test{
	{"a child that is left does not delay the end", func(t *testing.T, s *suite) { // cases C009
		session := s.open(t, nil)
		out := s.exec(t, session, s.native.leave, nil) // within patience
		wantEnd(t, out.Result, engine.ReasonExited, 0)
		if string(out.Stdout) != "hello\n" {
			t.Errorf("output %q", out.Stdout)
		}
		s.wantNoProcess(t, session, "sleep")
	}},
	{"nothing gets away", func(t *testing.T, s *suite) { // cases C018, C031
		session := s.open(t, nil)
		if got := s.output(t, session, s.native.escape, nil); got != "hello\n" {
			t.Fatalf("output %q", got)
		}
		if got := s.output(t, session, s.native.beats, nil); got != "0\n" {
			t.Errorf("what the script started goes on: %q more beats", got)
		}
		s.wantNoProcess(t, session, "sleep")
	}},
	{"nothing gets away from a run that is ended", func(t *testing.T, s *suite) { // cases C016, C018
		session := s.open(t, nil)
		p := s.start(t, session, s.native.escape+s.scripts.sleep, nil)
		for line := range p.StdoutLines() {
			if line == "hello" {
				break
			}
		}
		p.Kill()
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
		if got := s.output(t, session, s.native.beats, nil); got != "0\n" {
			t.Errorf("what the script started goes on: %q more beats", got)
		}
	}},
	{"background", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		out := s.exec(t, session, s.native.late, &engine.RunOptions{Background: true})
		wantEnd(t, out.Result, engine.ReasonExited, 3)
		if string(out.Stdout) != "hello\nlate\n" {
			t.Errorf("output %q", out.Stdout)
		}
		out = s.exec(t, session, s.native.late, nil)
		wantEnd(t, out.Result, engine.ReasonExited, 3)
		if string(out.Stdout) != "hello\n" {
			t.Errorf("without Background: output %q", out.Stdout)
		}
	}},
	{"background until it is stopped", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		killed := s.start(t, session, s.native.forever, &engine.RunOptions{Background: true})
		late := s.start(t, session, s.native.forever, &engine.RunOptions{Background: true, Timeout: soon})
		closed := s.start(t, session, s.native.forever, &engine.RunOptions{Background: true})
		for line := range killed.StdoutLines() {
			if line != "hello" {
				t.Errorf("line %q", line)
			}
			break
		}
		time.Sleep(200 * time.Millisecond)
		select {
		case <-killed.Done():
			t.Error("the run ended with its script")
		default:
		}
		killed.Kill()
		wantEnd(t, wait(t, killed), engine.ReasonCancelled, 137)
		wantEnd(t, wait(t, late), engine.ReasonTimeout, 124)
		s.output(t, session, s.scripts.hello, nil) // other runs go on meanwhile
		if err := session.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wantEnd(t, wait(t, closed), engine.ReasonCancelled, 137)
	}},
	{"not the first process", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		got := s.output(t, session, s.native.pid, nil)
		if pid, err := strconv.Atoi(strings.TrimSpace(got)); err != nil || pid <= 1 {
			t.Errorf("the script is process %q", got)
		}
	}},
	{"no descriptors but three", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		const want = "0\n1\n2\n3\n" // 3 is the directory that ls reads
		for name, opts := range map[string]*engine.RunOptions{
			"no stdin": nil, "a pipe": {StdinPipe: true}, "a reader": {Stdin: io.MultiReader()}, "background": {Background: true},
		} {
			if got := s.output(t, session, s.native.fds, opts); got != want {
				t.Errorf("with %s: %q", name, got)
			}
		}
	}},
	{"temporary directories are empty for each", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		fresh := s.output(t, session, s.native.list, nil)
		if !strings.Contains(fresh, "sandbox-work") || strings.Count(fresh, "\n") != 1 || strings.Contains(fresh, ",") {
			t.Errorf("the first run finds %q", fresh)
		}
		for range 3 {
			s.output(t, session, s.native.leftover, nil)
			if got := s.output(t, session, s.native.list, nil); got != fresh {
				t.Errorf("the next run finds %q", got)
			}
		}
		// Runs at the same time do not share them.
		p := s.start(t, session, s.native.leftover+s.scripts.save, nil)
		for line := range p.StdoutLines() {
			if line == "ready" {
				break
			}
		}
		if got := s.output(t, session, s.native.list, nil); got != fresh {
			t.Errorf("another run finds %q", got)
		}
		p.Kill()
		wait(t, p)
	}},
}

// wantNoProcess checks that the next run sees no process of that name.
func (s *suite) wantNoProcess(t *testing.T, session *engine.Session, name string) {
	t.Helper()
	if got := s.output(t, session, s.native.names, nil); got == "" || strings.Contains("\n"+got, "\n"+name+"\n") {
		t.Errorf("the next run sees the processes %q", got)
	}
}

var signalTests = []test{
	{"death by a signal", func(t *testing.T, s *suite) { // cases C024
		session := s.open(t, nil)
		for _, sig := range []int{1, 2, 4, 6, 8, 9, 10, 11, 13, 14, 15, 34, 64} {
			out := s.exec(t, session, fmt.Sprintf(s.native.signalf, sig), nil)
			wantEnd(t, out.Result, engine.ReasonSignaled, 128+sig)
			if out.Result.Signal != sig || len(out.Stdout) > 0 {
				t.Errorf("signal %d: %+v, output %q", sig, out.Result, out.Stdout)
			}
		}
		// SIGQUIT is not among them: bash ignores it. An exit code above 128 is no signal.
		r := s.exec(t, session, fmt.Sprintf(s.scripts.exitf, 139), nil).Result
		wantEnd(t, r, engine.ReasonExited, 139)
		if r.Signal != 0 {
			t.Errorf("signal %d", r.Signal)
		}
	}},
	{"a script that stops itself", func(t *testing.T, s *suite) { // cases C020
		session := s.open(t, nil)
		out := s.exec(t, session, s.native.stopped, &engine.RunOptions{Timeout: soon})
		wantEnd(t, out.Result, engine.ReasonTimeout, 124)
		if string(out.Stdout) != "before\n" {
			t.Errorf("output %q", out.Stdout)
		}
		s.output(t, session, s.scripts.hello, nil)
	}},
	{"none is ignored or blocked", func(t *testing.T, s *suite) { // cases C021
		session := s.open(t, nil)
		if got, want := s.output(t, session, s.native.ignored, nil), "SigBlk:0000000000000000SigIgn:0000000000000000"; got != want {
			t.Errorf("a child has %q", got)
		}
		out := s.exec(t, session, s.native.pipe, nil)
		if string(out.Stdout) != "141\n" || len(out.Stderr) > 0 {
			t.Errorf("a pipe without a reader: %q, %q", out.Stdout, out.Stderr)
		}
	}},
	{"no controlling terminal", func(t *testing.T, s *suite) { // cases C020
		session := s.open(t, nil)
		if got := s.output(t, session, s.native.tty, nil); got != "no\n" {
			t.Errorf("/dev/tty: %q", got)
		}
	}},
}
