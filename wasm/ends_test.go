package wasm

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// How a script ends by itself.
func TestRun_Ends(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct {
		name, script string
		code         int
		reason       engine.Reason
		stdout       string
		stderr       string // its last line
	}{
		{"end", "print(1)", 0, engine.ReasonExited, "1\n", ""},
		{"empty", "", 0, engine.ReasonExited, "", ""},
		{"exit code", "import sys; sys.exit(3)", 3, engine.ReasonExited, "", ""},
		{"exit code, large", "import sys; sys.exit(259)", 3, engine.ReasonExited, "", ""},
		{"exit code, negative", "import sys; sys.exit(-1)", 255, engine.ReasonExited, "", ""},
		{"exit text", "import sys; sys.exit('bye')", 1, engine.ReasonExited, "", "bye"},
		{"exit None", "import sys; sys.exit(None)", 0, engine.ReasonExited, "", ""},
		{"os._exit", "import os; print('lost', end=''); os._exit(5)", 5, engine.ReasonExited, "", ""},
		{"os._exit, large", "import os; os._exit(261)", 5, engine.ReasonExited, "", ""},
		{"exception", "raise ValueError('x')", 1, engine.ReasonExited, "", "ValueError: x"},
		{"syntax error", "def f(: pass", 1, engine.ReasonExited, "", "SyntaxError: invalid syntax"},
		{"KeyboardInterrupt of its own", "raise KeyboardInterrupt", 130, engine.ReasonExited, "", "KeyboardInterrupt"},
		{"recursion", "def f(): f()\nf()", 1, engine.ReasonExited, "", "RecursionError: maximum recursion depth exceeded"},
		{"exception group", "raise ExceptionGroup('g', [ValueError(1)])", 1, engine.ReasonExited, "", "+------------------------------------"},
		{"abort", "import os; os.abort()", codeAbort, engine.ReasonSignaled, "", "sandbar: the interpreter crashed: wasm error: unreachable"},
		{"not UTF-8", "x = '\xff'", 1, engine.ReasonExited, "", "SyntaxError: Non-UTF-8 code starting with '\\xff' in file /run/sandbar/main.py on line 1, but no encoding declared; see https://peps.python.org/pep-0263/ for details"},
		{"other encoding", "# coding: latin-1\nprint('\xe4')", 0, engine.ReasonExited, "ä\n", ""},
		{"standard output closed", "import sys; sys.stdout.close()", 0, engine.ReasonExited, "", ""},
		{"exit in atexit", "import atexit, sys\natexit.register(sys.exit, 4)", 0, engine.ReasonExited, "", "SystemExit: 4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, stdout, stderr := runScript(t, s, tt.script)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			last := strings.TrimSpace(lines[len(lines)-1])
			if exit.Code != tt.code || exit.Reason != tt.reason || exit.Err != nil || stdout != tt.stdout || last != tt.stderr {
				t.Errorf("%+v, stdout %q, stderr %q; want code %d, reason %s, stdout %q, last line of stderr %q",
					exit, stdout, stderr, tt.code, tt.reason, tt.stdout, tt.stderr)
			}
			if exit.WallTime <= 0 || exit.CPUTime == 0 || exit.PeakMemory <= 0 {
				t.Errorf("figures are missing: %+v", exit)
			}
		})
	}
}

// Scripts that wreck their interpreter end, and the next run of the session has another one.
func TestRun_Wrecked(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct{ name, script string }{
		{"deep recursion in Python", "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return 1 + f(n + 1)\ntry: f(0)\nexcept (RecursionError, MemoryError): pass"},
		{"deep recursion in Python, traceback", "import sys\nsys.setrecursionlimit(3000)\ndef f(n): return 1 + f(n + 1)\nf(0)"},
		{"deep recursion in C", "import sys\nsys.setrecursionlimit(10**6)\nclass A:\n    def __getattr__(self, n): return getattr(self, n)\nA().x"},
		{"deep nesting of lists", "l = []\nfor _ in range(10**6): l = [l]\nrepr(l)"},
		{"deep nesting, freed", "l = []\nfor _ in range(10**6): l = [l]\ndel l"},
		{"deep nesting of source", "eval('(' * 10**5 + ')' * 10**5)"},
		{"deep json", "import json; json.loads('[' * 10**6)"},
		{"deep pickle", "import pickle\nl = []\nfor _ in range(10**5): l = [l]\npickle.dumps(l)"},
		{"deep regular expression", "import re; re.compile('(' * 2*10**4 + ')' * 2*10**4)"},
		{"crafted bytecode", "f = lambda: 0\nf.__code__ = f.__code__.replace(co_code=bytes(range(2, 254)))\nf()"},
		{"crafted bytecode, loads from nowhere", "import dis\nf = lambda: 0\nop = dis.opmap\nf.__code__ = f.__code__.replace(co_code=bytes([op['RESUME'], 0, op['LOAD_FAST'], 255, op['RETURN_VALUE'], 0]))\nf()"},
		{"crafted constants", "f = lambda: 0\nf.__code__ = f.__code__.replace(co_consts=())\nf()"},
		{"crafted marshal", "import marshal; marshal.loads(b'(\\xff\\xff\\xff\\x7f')"},
		{"module table gone", "import sys; sys.modules.clear(); import os"},
		{"builtins gone", "import builtins; vars(builtins).clear()"},
		{"runner changed", "import sys\nr = sys.modules['_sandbar_runner']\nr.finish = r.advise = None\nraise ValueError"},
		{"image's objects changed", "import gc\nfor o in gc.get_objects():\n    if type(o) is dict and o is not globals(): o.clear()"},
		{"image unfrozen and collected", "import gc\ngc.unfreeze(); gc.collect()"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			exit, _, stderr := runScript(t, s, tt.script)
			if exit.Err != nil {
				t.Errorf("%+v, stderr %.500q", exit, stderr)
			}
			if got := mustPrint(t, s, "import json, sys; print(json.dumps([2 + 2]), sys.getrecursionlimit())"); got != "[4] 1000\n" {
				t.Errorf("the next run printed %q", got)
			}
		})
	}
}

// panicky panics when it is written to or read from.
type panicky struct{ with func() }

func (p panicky) Write(b []byte) (int, error)               { p.with(); return len(b), nil }
func (p panicky) Read([]byte, <-chan struct{}) (int, error) { p.with(); return 0, nil }
func (p panicky) Wait(<-chan struct{}) error                { p.with(); return nil }

// A panic in a host function ends that run, whose end is not known then, and nothing else.
func TestRun_HostPanic(t *testing.T) {
	s := openSession(t, shared(t))
	errOurs := errors.New("a panic of the test's")
	panics := map[string]func(){
		"error":         func() { panic(errOurs) },
		"text":          func() { panic("a panic of the test's") },
		"nil pointer":   func() { var p *testRun; _ = p.stdout.b },
		"out of bounds": func() { var b []byte; i := len(b); b[i] = 1 },
		"no function":   func() { var f func(); f() },
	}
	for name, with := range panics {
		bad := panicky{with}
		tests := []struct {
			name, script string
			change       func(*engine.RunSpec)
		}{
			{"stdout", "print('x', flush=True)\nwhile True: pass", func(spec *engine.RunSpec) { spec.Stdout = bad }},
			{"stderr", "import sys; print('x', file=sys.stderr)\nwhile True: pass", func(spec *engine.RunSpec) { spec.Stderr = bad }},
			{"stdin", "input()\nwhile True: pass", func(spec *engine.RunSpec) { spec.Stdin = bad }},
			{"caught by the script", "while True:\n    try: print('x', flush=True)\n    except BaseException: pass", func(spec *engine.RunSpec) { spec.Stdout = bad }},
			{"while buffered text is delivered", "import os\nprint('x', end='')\nos.abort()", func(spec *engine.RunSpec) { spec.Stdout = bad }},
			{"while the end is told", "import os\nos.abort()", func(spec *engine.RunSpec) { spec.Stderr = bad }},
		}
		for _, tt := range tests {
			t.Run(name+"/"+tt.name, func(t *testing.T) {
				bystander := begin(t, s, "print('started', flush=True)\nfor i in range(300000): pass\nprint('done')")
				bystander.waitFor(t, "started")
				exit, _, stderr := runScript(t, s, tt.script, tt.change)
				if !strings.Contains(tt.script, "abort") && exit.Err == nil {
					t.Errorf("%+v, stderr %q: no error", exit, stderr)
				}
				if bystander.end(t); bystander.stdout.String() != "started\ndone\n" {
					t.Errorf("another run wrote %q, %q", bystander.stdout.String(), bystander.stderr.String())
				}
				mustPrint(t, s, "print(1)")
			})
		}
	}
}

// The advice that a script can send to the host is one line of plain text, whatever the script makes of it.
func TestOneLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "this needs the native tier", "this needs the native tier"},
		{"lines", "a\nb\rc\td", "a b c d"},
		{"escape sequence", "\x1b[31mred\x7f", " [31mred "},
		{"C1 control", "a\u009b31mb", "a 31mb"},
		{"right to left", "a\u202eb", "a b"},
		{"not UTF-8", "a\xff\xfeb", "a?b"},
		{"cut in a character", strings.Repeat("x", 199) + "é", strings.Repeat("x", 199) + "?"},
		{"long", strings.Repeat("x", 10_000), strings.Repeat("x", 200)},
		{"other scripts", "größer, 日本", "größer, 日本"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := oneLine([]byte(tt.in)); got != tt.want {
				t.Errorf("oneLine(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
