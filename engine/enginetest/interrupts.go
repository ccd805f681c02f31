package enginetest

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// interruptTests are about Process.Signal.
var interruptTests = []test{
	{"a script that catches it goes on", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.catch, nil)
		var got []string
		for line := range p.StdoutLines() {
			if got = append(got, line); strings.HasPrefix(line, "round") {
				signal(t, p, engine.SignalInterrupt)
			}
		}
		if want := "round 0,round 1,round 2,on"; strings.Join(got, ",") != want {
			t.Errorf("lines %q, want %q", got, want)
		}
		wantEnd(t, wait(t, p), engine.ReasonExited, 7)
	}},
	{"a script that does not catch it ends", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for name, script := range map[string]string{"sleep": s.scripts.sleep, "busy": s.scripts.busy, "stdin": s.scripts.cat} {
			t.Run(name, func(t *testing.T) {
				p := s.start(t, session, script, &engine.RunOptions{StdinPipe: true})
				time.Sleep(300 * time.Millisecond) // till the script waits for what it waits for
				signal(t, p, engine.SignalInterrupt)
				s.wantInterrupted(t, wait(t, p))
				if got := s.output(t, session, s.scripts.hello, nil); got != "hello\n" {
					t.Errorf("the next run: %q", got)
				}
			})
		}
	}},
	{"one that ignores it goes on", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.deaf, nil)
		if _, err := io.ReadFull(p.Stdout(), make([]byte, len("before\n"))); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			signal(t, p, engine.SignalInterrupt)
			time.Sleep(5 * time.Millisecond)
		}
		select {
		case <-p.Done():
			t.Errorf("it has ended: %+v", wait(t, p))
		default:
		}
		signal(t, p, engine.SignalKill)
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
	}},
	{"kill", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		var runs []*engine.Process
		for _, script := range []string{s.scripts.sleep, s.scripts.busy, s.scripts.stubborn, s.scripts.save} {
			for _, delay := range []time.Duration{0, 50 * time.Millisecond} {
				p := s.start(t, session, script, nil)
				time.Sleep(delay)
				signal(t, p, engine.SignalKill)
				signal(t, p, engine.SignalKill)
				runs = append(runs, p)
			}
		}
		for _, p := range runs {
			out, err := p.Communicate(within(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			wantEnd(t, out.Result, engine.ReasonCancelled, 137)
			if strings.Contains(string(out.Stdout), "saved") {
				t.Errorf("it was asked first: %q", out.Stdout)
			}
		}
	}},
	{"terminate", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.save, nil)
		var got []string
		for line := range p.StdoutLines() {
			if got = append(got, line); line == "ready" {
				signal(t, p, engine.SignalTerminate)
			}
		}
		if strings.Join(got, ",") != "ready,saved" {
			t.Errorf("lines %q", got)
		}
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
	}},
	{"after the end", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.hello, nil)
		first := wait(t, p)
		for _, sig := range []engine.Signal{engine.SignalInterrupt, engine.SignalTerminate, engine.SignalKill} {
			signal(t, p, sig)
		}
		if again := wait(t, p); again != first {
			t.Errorf("%+v, then %+v", first, again)
		}
		wantEnd(t, first, engine.ReasonExited, 0)
	}},
	{"an unknown one", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.hello, nil)
		wantErr(t, "Signal of a run", p.Signal("hup"), engine.ErrInvalid)
		wantEnd(t, wait(t, p), engine.ReasonExited, 0)
		wantErr(t, "Signal of a run that has ended", p.Signal(""), engine.ErrInvalid)
	}},
	{"never another run", func(t *testing.T, s *suite) { // whenever it comes: an interpreter or a cell serves many runs
		session := s.open(t, nil)
		for i := range 30 {
			p := s.start(t, session, s.scripts.hello, nil)
			var all sync.WaitGroup
			for j := range 4 {
				all.Go(func() {
					time.Sleep(time.Duration(i*j) * 200 * time.Microsecond)
					signal(t, p, engine.SignalInterrupt)
				})
			}
			if r := wait(t, p); r.Reason != engine.ReasonExited && r.Reason != engine.ReasonSignaled {
				t.Errorf("%+v", r)
			}
			if got := s.output(t, session, s.scripts.hello, nil); got != "hello\n" {
				t.Errorf("the next run: %q", got)
			}
			all.Wait()
		}
	}},
}

// liveInterruptTests are about interrupts of the interpreter that a session keeps.
var liveInterruptTests = []test{
	{"it ends the statement and keeps the interpreter", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = 1", "")
		p := s.start(t, session, "x = 2\nprint('ready')\nwhile True: pass\nx = 3", live(nil))
		for range p.StdoutLines() {
			signal(t, p, engine.SignalInterrupt)
		}
		r := wait(t, p)
		wantEnd(t, r, engine.ReasonExited, 130)
		if r.InterpreterLost {
			t.Error("the interpreter is lost")
		}
		s.cell(t, session, "x", "2")
	}},
	{"it ends a run that waits for its turn, and no other", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, "print('ready')\nwhile True: pass", live(nil))
		if _, err := io.ReadFull(p.Stdout(), make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		waiting := s.start(t, session, "executed = True", live(nil))
		signal(t, waiting, engine.SignalInterrupt)
		r := wait(t, waiting)
		wantEnd(t, r, engine.ReasonExited, 130)
		if r.InterpreterLost {
			t.Error("the interpreter is lost")
		}
		signal(t, p, engine.SignalInterrupt)
		wantEnd(t, wait(t, p), engine.ReasonExited, 130)
		s.cell(t, session, "'executed' in globals()", "False")
	}},
}

// signal sends a signal to a run.
func signal(t testing.TB, p *engine.Process, sig engine.Signal) {
	t.Helper()
	if err := p.Signal(sig); err != nil {
		t.Errorf("Signal(%s): %v", sig, err)
	}
}

// wantInterrupted checks the end of a run that an interrupt has ended: a process dies of the signal.
func (s *suite) wantInterrupted(t testing.TB, r engine.Result) {
	t.Helper()
	if r.Tier == engine.TierWasm {
		wantEnd(t, r, engine.ReasonExited, 130)
		return
	}
	wantEnd(t, r, engine.ReasonSignaled, 130)
	if r.Signal != 2 {
		t.Errorf("signal %d", r.Signal)
	}
}
