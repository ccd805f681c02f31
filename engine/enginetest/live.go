package enginetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// liveTests are about the interpreter that a session keeps, and about copies of it.
var liveTests = []test{
	{"state and value", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = 40", "")
		s.cell(t, session, "print('out'); x + 2", "42")
		s.cell(t, session, "x = _ + 1\nNone", "")
		s.cell(t, session, "x", "43")
		out := s.exec(t, session, "print('x' in globals())", nil)
		if string(out.Stdout) != "False\n" {
			t.Errorf("a run with an interpreter of its own prints %q", out.Stdout)
		}
	}},
	{"exception", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = 1", "")
		for script, code := range map[string]int{"1 / 0": 1, "import sys; sys.exit(7)": 7, "x =": 1} {
			out := s.exec(t, session, script, live(nil))
			wantEnd(t, out.Result, engine.ReasonExited, code)
			if out.Result.InterpreterLost {
				t.Errorf("%q ended the interpreter", script)
			}
		}
		s.cell(t, session, "x", "1")
	}},
	{"timeout", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = 1", "")
		out := s.exec(t, session, s.scripts.busy, live(&engine.RunOptions{Timeout: soon}))
		wantEnd(t, out.Result, engine.ReasonTimeout, 124)
		if !out.Result.InterpreterLost {
			t.Error("InterpreterLost is not set")
		}
		s.cell(t, session, "'x' in globals()", "False")
	}},
	{"reset", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		if err := session.ResetInterpreter(within(t)); err != nil {
			t.Errorf("without an interpreter: %v", err)
		}
		s.cell(t, session, "x = 1", "")
		if err := session.ResetInterpreter(within(t)); err != nil {
			t.Error(err)
		}
		s.cell(t, session, "'x' in globals()", "False")
	}},
	{"overlapping runs take turns", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "n = 0; import time", "")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { s.cell(t, session, "m = n; time.sleep(0.005); n = m + 1", "") })
		}
		all.Wait()
		s.cell(t, session, "n", "8")
	}},
	{"snapshot and branches", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = [1]; n = open('d.txt', 'w').write('base'); import os; os.symlink('d.txt', 'l'); os.mkdir('dir')", "")
		snap := takeSnapshot(t, session)
		s.cell(t, session, "x.append(2); n = open('d.txt', 'w').write('changed')", "")
		for range 2 {
			branch := s.open(t, &engine.Options{From: snap})
			s.cell(t, branch, "x, open('l').read(), os.path.isdir('dir')", "([1], 'base', True)")
			s.cell(t, branch, "x.append(3); n = open('d.txt', 'w').write('branch'); open('l').read()", "'branch'")
		}
		s.cell(t, session, "x, open('l').read()", "([1, 2], 'changed')")
	}},
	{"snapshot without an interpreter", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		put(t, session, "a/b.txt", "content")
		branch := s.open(t, &engine.Options{From: takeSnapshot(t, session)})
		s.cell(t, branch, "open('a/b.txt').read()", "'content'")
	}},
	{"snapshot outlives its session", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.cell(t, session, "x = 5", "")
		snap := takeSnapshot(t, session)
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		branch := s.open(t, &engine.Options{From: snap})
		if err := errors.Join(snap.Close(), snap.Close()); err != nil {
			t.Error(err)
		}
		s.cell(t, branch, "x", "5")
		if _, err := session.Snapshot(within(t)); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("of a closed session: %v", err)
		}
	}},
	{"warm", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Warm: "import mylib"})
		put(t, session, "mylib.py", "n = 7\n")
		out := s.exec(t, session, "import sys; print('mylib' in sys.modules); import mylib; print(mylib.n)", nil)
		if string(out.Stdout) != "True\n7\n" {
			t.Errorf("printed %q, stderr %q", out.Stdout, out.Stderr)
		}
		session = s.open(t, &engine.Options{Warm: "1 / 0"})
		if _, err := session.Exec(within(t), "1", s.options(nil)); !errors.Is(err, engine.ErrNotStarted) || !strings.Contains(err.Error(), "ZeroDivisionError") {
			t.Errorf("with a Warm that fails: %v", err)
		}
	}},
	{"bad input", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, opts := range []*engine.RunOptions{
			{Interpreter: "mine"},
			{Interpreter: engine.InterpreterSession, Type: engine.Shell},
			{Interpreter: engine.InterpreterSession, Terminal: &engine.TerminalSize{Rows: 24, Cols: 80}},
		} {
			if _, err := session.Run(within(t), "1", opts); !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%+v: %v", opts, err)
			}
		}
	}},
}

// live makes of run options those of a run in the live interpreter.
func live(opts *engine.RunOptions) *engine.RunOptions {
	var o engine.RunOptions
	if opts != nil {
		o = *opts
	}
	o.Interpreter = engine.InterpreterSession
	return &o
}

// cell runs a script in the live interpreter, whose last expression must have the value.
func (s *suite) cell(t testing.TB, session *engine.Session, script, value string) {
	t.Helper()
	out := s.exec(t, session, script, live(nil))
	r := out.Result
	if r.ExitCode != 0 || r.Reason != engine.ReasonExited || r.InterpreterLost || r.Value != value || r.Tier != engine.TierWasm {
		t.Errorf("%q: %+v, stderr %q; want the value %q", script, r, out.Stderr, value)
	}
}

func takeSnapshot(t testing.TB, session *engine.Session) *engine.Snapshot {
	t.Helper()
	snap, err := session.Snapshot(within(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	})
	return snap
}
