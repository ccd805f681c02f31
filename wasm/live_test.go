package wasm

import (
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// inLive makes a run one of the session's live interpreter.
func inLive(spec *engine.RunSpec) { spec.Live = true }

// cell runs a script in the live interpreter, and returns what it printed and the value of its last expression.
func cell(tb testing.TB, s engine.DriverSession, script string, changes ...func(*engine.RunSpec)) (stdout, value string) {
	tb.Helper()
	exit, stdout, stderr := runScript(tb, s, script, append(changes, inLive)...)
	if exit.Code != 0 || exit.Reason != engine.ReasonExited || exit.Err != nil || exit.InterpreterLost || stderr != "" {
		tb.Fatalf("%q: %+v, stdout %q, stderr %q", script, exit, stdout, stderr)
	}
	return stdout, exit.Value
}

func TestLive_StatePersists(t *testing.T) {
	s := openSession(t, shared(t))
	steps := []struct{ script, stdout, value string }{
		{"x = 40", "", ""},
		{"x + 2", "", "42"},
		{"_", "", "42"},
		{"import json\ndef f(v):\n    return json.dumps(v)", "", ""},
		{"print('out'); f({'a': x})", "out\n", `'{"a": 40}'`},
		{"class C:\n    pass\nimport pickle; pickle.loads(pickle.dumps(C())).__class__ is C", "", "True"},
		{"None", "", ""},
		{"'text'", "", "'text'"},
		{"'\\ud800'", "", `'\ud800'`},
		{"'ü€'", "", "'ü€'"},
		{"", "", ""},
		{"# only this", "", ""},
		{"for i in range(2):\n    i", "", ""},
		{"y = 1; y", "", "1"},
		{"from __future__ import annotations\ndef g(v: undefined): pass\ng.__annotations__", "", "{'v': 'undefined'}"},
		{"f = open('kept.txt', 'w'); n = f.write('abc')", "", ""},
		{"f.write('def'); f.close(); open('kept.txt').read()", "", "'abcdef'"},
		{"import tempfile; t = tempfile.NamedTemporaryFile()", "", ""},
		{"import os; os.path.exists(t.name)", "", "True"},
		{"__name__", "", "'__main__'"},
	}
	for _, step := range steps {
		if stdout, value := cell(t, s, step.script); stdout != step.stdout || value != step.value {
			t.Errorf("%q printed %q, value %q; want %q, %q", step.script, stdout, value, step.stdout, step.value)
		}
	}
	// A fresh interpreter has nothing of it.
	if got := mustPrint(t, s, "print('x' in globals())"); got != "False\n" {
		t.Errorf("a fresh run prints %q", got)
	}
}

func TestLive_ExceptionLeavesTheState(t *testing.T) {
	s := openSession(t, shared(t))
	cell(t, s, "x = 1")
	tests := []struct {
		script string
		code   int
		stderr string // its last line
	}{
		{"x = 2\nx / 0", 1, "ZeroDivisionError: division by zero"},
		{"x ==", 1, "SyntaxError: invalid syntax"},
		{"import sys; sys.exit(3)", 3, ""},
		{"raise SystemExit('bye')", 1, "bye"},
		{"raise KeyboardInterrupt", 130, "KeyboardInterrupt"},
		{"def f(n): return f(n + 1)\nf(0)", 1, "RecursionError: maximum recursion depth exceeded"},
		{"class R:\n    def __repr__(self): raise ValueError('no')\nR()", 1, "ValueError: no"},
		{"import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module'"},
	}
	for _, tt := range tests {
		exit, _, stderr := runScript(t, s, tt.script, inLive)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if exit.Code != tt.code || exit.Reason != engine.ReasonExited || exit.InterpreterLost || lines[len(lines)-1] != tt.stderr {
			t.Errorf("%q: %+v, stderr %q", tt.script, exit, stderr)
		}
	}
	if _, value := cell(t, s, "x"); value != "2" {
		t.Errorf("x is %s", value)
	}
}

// A traceback shows the lines of functions that earlier runs have defined.
func TestLive_Traceback(t *testing.T) {
	s := openSession(t, shared(t))
	cell(t, s, "def f():\n    return 1 / 0")
	_, _, stderr := runScript(t, s, "f()", inLive)
	for _, want := range []string{`File "<cell 2>", line 1, in <module>`, "\n    f()\n", `File "<cell 1>", line 2, in f`, "\n    return 1 / 0\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
}

func TestLive_LostByStopAndExit(t *testing.T) {
	s := openSession(t, shared(t))
	for _, tt := range []struct {
		name, script string
		stop         bool
	}{
		{"stopped busy loop", "print('go', flush=True)\nwhile True: pass", true},
		{"stopped, and it caught that", "print('go', flush=True)\ntry:\n    while True: pass\nexcept BaseException: pass", true},
		{"stopped sleep", "print('go', flush=True)\nimport time; time.sleep(1000)", true},
		{"os._exit", "import os; os._exit(3)", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cell(t, s, "x = 1")
			r := begin(t, s, tt.script, inLive)
			if tt.stop {
				r.waitFor(t, "go")
				r.Stop(50 * time.Millisecond)
			}
			if exit := r.end(t); !exit.InterpreterLost {
				t.Errorf("%+v", exit)
			}
			if _, value := cell(t, s, "'x' in globals()"); value != "False" {
				t.Errorf("x is there: %s", value)
			}
		})
	}
}

// What a run asks for differs from what the run before asked for: that is applied. What scripts have changed stays.
func TestLive_EnvironmentAndDirectory(t *testing.T) {
	s := openSession(t, shared(t))
	env := func(add ...string) func(*engine.RunSpec) {
		return func(spec *engine.RunSpec) { spec.Env = append(spec.Env, add...) }
	}
	cell(t, s, "import os; os.mkdir('d'); os.environ['OWN'] = '1'", env("A=1", "B=2"))
	const show = "[os.environ.get(k) for k in ('OWN', 'A', 'B', 'C')] + [os.path.basename(os.getcwd())]"
	for _, tt := range []struct {
		add  []string
		cwd  string
		want string
	}{
		{[]string{"A=1", "B=2"}, "", "['1', '1', '2', None, 'sandbox-work']"},
		{[]string{"A=9", "C=3"}, "/d", "['1', '9', None, '3', 'd']"},
		{nil, "/d", "['1', None, None, None, 'd']"},
		{nil, "", "['1', None, None, None, 'sandbox-work']"},
	} {
		_, got := cell(t, s, show, env(tt.add...), func(spec *engine.RunSpec) { spec.Cwd += tt.cwd })
		if got != tt.want {
			t.Errorf("with %q in %q: %s, want %s", tt.add, tt.cwd, got, tt.want)
		}
	}
	cell(t, s, "os.chdir('d')")
	if _, got := cell(t, s, "os.path.basename(os.getcwd())"); got != "'d'" {
		t.Errorf("after a script's own chdir: %s", got)
	}
	if _, got := cell(t, s, "import sys; sys.argv[1:]", func(spec *engine.RunSpec) { spec.Args = []string{"a", "b"} }); got != "['a', 'b']" {
		t.Errorf("argv: %s", got)
	}
}

// Runs that overlap take turns; one that waits can be stopped, and that does not disturb the interpreter.
func TestLive_Turns(t *testing.T) {
	s := openSession(t, shared(t))
	cell(t, s, "n = 0; import time")
	first := begin(t, s, "print('go', flush=True)\nfor _ in range(20):\n    n += 1; time.sleep(0.01)", inLive)
	first.waitFor(t, "go")
	waits := begin(t, s, "n = -1", inLive)
	waits.Stop(time.Second)
	if exit := waits.end(t); exit.Reason != engine.ReasonSignaled || exit.InterpreterLost || exit.Err != nil {
		t.Errorf("the one that waited: %+v", exit)
	}
	if _, value := cell(t, s, "n"); value != "20" {
		t.Errorf("n is %s", value)
	}
}

func TestLive_MemoryError(t *testing.T) {
	s := openSession(t, shared(t))
	cell(t, s, "x = 1")
	exit, _, stderr := runScript(t, s, "y = []\nwhile True: y.append(bytearray(1 << 20))", inLive)
	if exit.Reason != engine.ReasonMemory || exit.InterpreterLost || !strings.Contains(stderr, "MemoryError") {
		t.Errorf("%+v, stderr %q", exit, stderr)
	}
	if _, value := cell(t, s, "n = len(y); del y; x, n > 50"); value != "(1, True)" {
		t.Errorf("then: %s", value)
	}
}

func TestLive_Reset(t *testing.T) {
	s := openSession(t, shared(t)).(engine.LiveSession)
	cell(t, s, "x = 1; import atexit; atexit.register(lambda: open('atexit.txt', 'w').write('called')); f = open('buffered.txt', 'w'); f.write('abc')")
	if err := s.ResetInterpreter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, value := cell(t, s, "'x' in globals(), open('atexit.txt').read(), open('buffered.txt').read()"); value != "(False, 'called', 'abc')" {
		t.Errorf("after the reset: %s", value)
	}
}

// The limits of a run hold in the live interpreter, and one that ends it says so.
func TestLive_Limits(t *testing.T) {
	s := openSession(t, shared(t))
	if threadCPU() < 0 {
		t.Skip("the processor time of a run is not known here")
	}
	for range 2 {
		cell(t, s, "x = 1")
		exit, _, _ := runScript(t, s, "while True: pass", inLive, func(spec *engine.RunSpec) { spec.Limits.CPU = 30 * time.Millisecond })
		if exit.Reason != engine.ReasonCPU || !exit.InterpreterLost {
			t.Errorf("%+v", exit)
		}
	}
	// Each run's own time counts, and not that of those before.
	cell(t, s, "sum(range(10**6))", func(spec *engine.RunSpec) { spec.Limits.CPU = 5 * time.Second })
	exit, _, _ := runScript(t, s, "1", inLive, func(spec *engine.RunSpec) { spec.Limits.CPU = 5 * time.Second })
	if exit.CPUTime > time.Second || exit.InterpreterLost {
		t.Errorf("%+v", exit)
	}
	cell(t, s, "files = []")
	exit, _, stderr := runScript(t, s, "while True: files.append(open('f', 'a'))", inLive)
	if exit.Code != 1 || !strings.Contains(stderr, "OSError") || exit.InterpreterLost {
		t.Errorf("%+v, %q", exit, stderr)
	}
	if _, value := cell(t, s, "n = len(files); del files; open('f').close(); 200 < n < 256"); value != "True" {
		t.Errorf("after too many files: %s", value)
	}
}
