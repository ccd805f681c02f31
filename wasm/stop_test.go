package wasm

import (
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// The ends of a run that is stopped: it answers the KeyboardInterrupt, or is killed, or Python itself ignores
// the exception, as it does with those from a finalizer or an exit function.
const (
	orderly = 130
	forced  = codeKilled
	ignored = -1
)

// endless are scripts that do not end by themselves. Where it is said how they end after a stop, they can
// end in that way only.
var endless = []struct {
	name, script string
	code         int // 0: either
}{
	{"loop", "while True: pass", orderly},
	{"generator", "for _ in iter(int, 1): pass", orderly},
	{"sleep", "import time; time.sleep(10**6)", orderly},
	{"sleep for ever", "import time; time.sleep(9e9)", orderly},
	{"many short sleeps", "import time\nwhile True: time.sleep(0)", orderly},
	{"sum in C", "sum(range(10**12))", 0},
	{"power in C", "x = 9 ** (10 ** 8)", 0},
	{"power of powers", "10**10**8", 0},
	{"int to str", "import sys; sys.set_int_max_str_digits(0); str(7 ** (10 ** 7))", 0},
	{"regular expression", `import re; re.match(r"(a+)+$", "a" * 40 + "b")`, orderly},
	{"sort", "sorted(range(10**7), key=lambda v: -v)\nwhile True: pass", 0},
	{"deque in C", "import collections, itertools; collections.deque(itertools.repeat(1), maxlen=0)", 0},
	{"any in C", "import itertools; any(itertools.repeat(0))", 0},
	{"list that grows", "import itertools; collections = list(itertools.repeat(None, 10**7)); any(itertools.repeat(0))", 0},
	{"search in bytes", "h = b'a' * (50 << 20)\nwhile True: h.find(b'a' * 1000 + b'b')", 0},
	{"compression", "import lzma\nwhile True: lzma.compress(b'abc' * 300000)", 0},
	{"hash", "import hashlib\nb = bytes(64 << 20)\nwhile True: hashlib.sha256(b)", 0},
	{"many hashes", "import hashlib\nfor _ in iter(lambda: hashlib.md5(b'x').digest(), 1): pass", orderly},
	{"decimal", "import decimal; decimal.getcontext().prec = 10**6; decimal.Decimal(2).sqrt().exp()\nwhile True: pass", 0},
	{"sqlite", "import sqlite3; sqlite3.connect(':memory:').execute('with recursive c(x) as (select 1 union all select x+1 from c) select sum(x) from c').fetchone()", 0},
	{"recursion", "def f(n):\n    for _ in range(10): f(n - 1) if n else None\nf(60)", orderly},
	{"printing", "while True: print('x' * 100)", orderly},
	{"asyncio", "import asyncio; asyncio.run(asyncio.sleep(10**6))", orderly},
	{"asyncio without an end", "import asyncio\nasync def main(): await asyncio.Event().wait()\nasyncio.run(main())", orderly},
	{"lock", "import threading; l = threading.Lock(); l.acquire(); l.acquire()", 0},
	{"lock with a timeout", "import threading; threading.Event().wait(10**6)", 0},
	{"queue", "import queue; queue.Queue().get(timeout=10**6)", 0},
	{"select", "import select; select.select([], [], [], 10**6)", 0},
	{"poll", "import select; select.poll().poll(10**8)", 0},
	{"import", "import sys\nclass F:\n    def find_spec(self, *a):\n        while True: pass\nsys.meta_path.insert(0, F())\nimport nothing_of_this_name", orderly},
	{"compile", "compile('(' * 50 + 'x' + ')' * 50, '', 'eval')\nwhile True: compile('x=1\\n' * 10000, '', 'exec')", 0},
	{"finalizer", "class A:\n    def __del__(self):\n        while True: pass\na = A()\ndel a\nwhile True: pass", 0},
	{"atexit", "import atexit\n@atexit.register\ndef f():\n    while True: pass", ignored},
	{"atexit that sleeps", "import atexit, time\natexit.register(time.sleep, 10**6)", ignored},
	{"last object", "class A:\n    def __del__(self):\n        import time; time.sleep(10**6)\na = A()", ignored},
	{"ignores SIGINT", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nSTART\nwhile True: pass", forced},
	{"ignores SIGINT and sleeps", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nSTART\ntime.sleep(10**6)", forced},
	{"catches all", "while True:\n    try:\n        START\n        while True: pass\n    except BaseException: pass", forced},
	{"loops in finally", "try:\n    START\n    while True: pass\nfinally:\n    while True: pass", forced},
	{"loops in except", "import time\ntry:\n    START\n    time.sleep(10**6)\nexcept KeyboardInterrupt: time.sleep(10**6)", forced},
	{"excepthook that loops", "import sys\ndef hook(*a):\n    while True: pass\nsys.excepthook = hook\nSTART\nwhile True: pass", forced},
	{"trace function", "import sys\ndef t(*a):\n    return t\nsys.settrace(t)\ndef f():\n    while True: x = 1\nf()", orderly},
}

// beginEndless starts a script and waits until it has begun.
func beginEndless(t *testing.T, s engine.DriverSession, script string) *testRun {
	t.Helper()
	if !strings.Contains(script, "START") {
		script = "START\n" + script
	}
	r := begin(t, s, strings.Replace(script, "START", "print('started', flush=True)", 1))
	r.waitFor(t, "started")
	return r
}

// Whatever a script does, it ends when it is stopped.
func TestStop_Ends(t *testing.T) {
	s := openSession(t, shared(t))
	for _, tt := range endless {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := beginEndless(t, s, tt.script)
			grace := 20 * time.Millisecond
			if tt.code == orderly || tt.code == ignored {
				grace = patience
			}
			r.Stop(grace)
			exit := r.end(t)
			switch {
			case tt.code == ignored && exit.Code != 0,
				tt.code == 0 && exit.Code != orderly && exit.Code != forced,
				tt.code > 0 && exit.Code != tt.code:
				t.Errorf("%+v, want code %d; stderr %q", exit, tt.code, r.stderr.String())
			case exit.Forced != (exit.Code == forced):
				t.Errorf("code %d, Forced %v", exit.Code, exit.Forced)
			case exit.Code == forced && (exit.Reason != engine.ReasonSignaled || exit.Signal != 9):
				t.Errorf("reason %q, signal %d", exit.Reason, exit.Signal)
			}
		})
	}
}

// The same without a grace.
func TestStop_AtOnce(t *testing.T) {
	s := openSession(t, shared(t))
	for _, tt := range endless[:6] {
		t.Run(tt.name, func(t *testing.T) {
			r := beginEndless(t, s, tt.script)
			r.Stop(0)
			if exit := r.end(t); exit.Code != forced || !exit.Forced {
				t.Errorf("%+v", exit)
			}
			if got := r.stderr.String(); got != "" {
				t.Errorf("stderr %q: it was told", got)
			}
		})
	}
}

// The orderly stop is a KeyboardInterrupt that the script can answer.
func TestStop_KeyboardInterrupt(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct {
		name, script string
		code         int
		stdout       string
	}{
		{"except", "try:\n    while True: pass\nexcept KeyboardInterrupt: print('seen')", 0, "seen\n"},
		{"except in a sleep", "import time\ntry: time.sleep(10**6)\nexcept KeyboardInterrupt: print('seen')", 0, "seen\n"},
		{"finally", "try:\n    while True: pass\nfinally: print('clean')", orderly, "clean\n"},
		{"with", "import contextlib\n@contextlib.contextmanager\ndef c():\n    try: yield\n    finally: print('clean')\nwith c():\n    while True: pass", orderly, "clean\n"},
		{"atexit", "import atexit\natexit.register(print, 'exit')\nwhile True: pass", orderly, "exit\n"},
		{"exit code", "import sys\ntry:\n    while True: pass\nexcept KeyboardInterrupt: sys.exit(7)", 7, ""},
		{"handler", "import signal, sys\nsignal.signal(signal.SIGINT, lambda n, f: sys.exit(n))\nwhile True: pass", 2, ""},
		{"asyncio", "import asyncio\nasync def main():\n    try: await asyncio.sleep(10**6)\n    except asyncio.CancelledError:\n        print('cancelled'); raise\nasyncio.run(main())", orderly, "cancelled\n"},
		{"buffered text", "print('x', end='')\nwhile True: pass", orderly, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, s, "import sys\nprint('started', file=sys.stderr)\n"+tt.script)
			for !strings.Contains(r.stderr.String(), "started") {
				time.Sleep(time.Millisecond)
			}
			r.Stop(patience)
			exit := r.end(t)
			if exit.Code != tt.code || exit.Forced || exit.Reason != engine.ReasonExited || r.stdout.String() != tt.stdout {
				t.Errorf("%+v, stdout %q, want code %d, stdout %q", exit, r.stdout.String(), tt.code, tt.stdout)
			}
		})
	}
}

func TestStop_Calls(t *testing.T) {
	s := openSession(t, shared(t))
	const stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('started', flush=True)\nwhile True: pass"
	tests := []struct {
		name string
		stop func(r *testRun)
		code int
	}{
		{"twice", func(r *testRun) { r.Stop(time.Millisecond); r.Stop(time.Millisecond) }, forced},
		{"shorter grace later", func(r *testRun) { r.Stop(time.Hour); r.Stop(time.Millisecond) }, forced},
		{"longer grace later", func(r *testRun) { r.Stop(10 * time.Millisecond); r.Stop(time.Hour) }, forced},
		{"at once later", func(r *testRun) { r.Stop(time.Hour); r.Stop(0) }, forced},
		{"at once twice", func(r *testRun) { r.Stop(0); r.Stop(0) }, forced},
		{"negative grace", func(r *testRun) { r.Stop(-1) }, forced},
		{"from many goroutines", func(r *testRun) {
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() { r.Stop(time.Duration(i%4) * time.Millisecond) })
			}
			wg.Wait()
		}, forced},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, s, stubborn)
			r.waitFor(t, "started")
			tt.stop(r)
			if exit := r.end(t); exit.Code != tt.code {
				t.Errorf("%+v", exit)
			}
		})
	}
	t.Run("before the script", func(t *testing.T) {
		r := begin(t, s, "while True: pass")
		r.Stop(patience)
		if exit := r.end(t); exit.Code != orderly {
			t.Errorf("%+v, stderr %q", exit, r.stderr.String())
		}
	})
	t.Run("at once before the script", func(t *testing.T) {
		r := begin(t, s, "while True: pass")
		r.Stop(0)
		if exit := r.end(t); exit.Code != forced {
			t.Errorf("%+v", exit)
		}
	})
	t.Run("after the end", func(t *testing.T) {
		r := begin(t, s, "print('done')")
		first := r.end(t)
		r.Stop(0)
		r.Stop(time.Millisecond)
		if again := r.end(t); again != first || first.Code != 0 {
			t.Errorf("%+v, then %+v", first, again)
		}
		mustPrint(t, s, "print(1)")
	})
	t.Run("while it ends", func(t *testing.T) {
		for i := range 30 {
			r := begin(t, s, "pass")
			time.Sleep(time.Duration(i*20) * time.Microsecond)
			r.Stop(time.Duration(i%2) * patience)
			r.end(t)
		}
	})
}

// Standard input that nobody writes to is left when the run is stopped.
func TestStop_Stdin(t *testing.T) {
	s, err := shared(t).Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, script := range []string{
		"input()",
		"import sys; sys.stdin.read()",
		"import os; os.read(0, 1)",
		"open('/dev/stdin').read()",
		"import select; select.select([0], [], [])",
		"import select; p = select.poll(); p.register(0); p.poll(10**8)",
	} {
		t.Run(script, func(t *testing.T) {
			p, err := s.Run(t.Context(), "import sys; print('started', flush=True)\n"+script, &engine.RunOptions{StdinPipe: true})
			if err != nil {
				t.Fatal(err)
			}
			for line := range p.StdoutLines() {
				if line == "started" {
					p.Kill()
				}
			}
			result, err := p.Wait(t.Context())
			if err != nil || result.Reason != engine.ReasonCancelled {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// What Python had buffered is delivered when a run is ended by force or by a trap.
func TestStop_BufferedText(t *testing.T) {
	s := openSession(t, shared(t))
	const busy = "\nsum(range(10**12))"
	tests := []struct {
		name, script   string
		stdout, stderr string
	}{
		{"no newline", "print('x', end='')" + busy, "x", ""},
		{"lines and a rest", "print('a'); print('b', end='')" + busy, "a\nb", ""},
		{"not ASCII", "print('é☃𝄞', end='')" + busy, "é☃𝄞", ""},
		{"many pieces", "import sys\nfor i in range(100): sys.stdout.write(str(i % 10))" + busy, strings.Repeat("0123456789", 10), ""},
		{"bytes", "import sys; sys.stdout.buffer.write(b'\\xff\\0')" + busy, "\xff\x00", ""},
		{"text after bytes", "import sys; sys.stdout.buffer.write(b'a'); sys.stdout.write('b')" + busy, "ab", ""},
		{"much", "import sys; sys.stdout.write('y' * 5000)" + busy, strings.Repeat("y", 5000), ""},
		{"block buffered", "import sys; sys.stdout.reconfigure(line_buffering=False)\nfor i in range(3): print(i)" + busy, "0\n1\n2\n", ""},
		{"standard error", "import sys; sys.stderr.write('e')" + busy, "", "e"},
		{"abort", "print('x', end='')\nimport os; os.abort()", "x", "sandbar: the interpreter crashed: wasm error: unreachable\n"},
		{"stdout replaced", "import sys, io; print('x', end=''); sys.stdout = io.StringIO(); print('y')" + busy, "x", ""},
		{"stdout closed", "import sys; print('x', end=''); sys.stdout.close()" + busy, "x", ""},
		{"stdout detached", "import sys; print('x', end=''); b = sys.stdout.detach(); b.write(b'y')" + busy, "x", ""},
		{"stdout None", "import sys; print('x', end=''); sys.stdout = None" + busy, "x", ""},
		{"all references gone", "import sys; print('x', end=''); del sys.stdout, sys.__stdout__" + busy, "x", ""},
		{"descriptor closed", "import os; print('x', end=''); os.close(1)" + busy, "", ""},
		{"initialised again", "import sys, io; print('x', end='')\ntry: sys.stdout.__init__(io.BytesIO())\nexcept Exception: pass" + busy, "", ""},
		{"in the middle of a write", "import sys\nclass S(str): pass\nsys.stdout.write('x' * 100)" + busy, strings.Repeat("x", 100), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, s, tt.script)
			if !strings.Contains(tt.script, "abort") {
				waitBusy(t, r)
				r.Stop(0)
			}
			exit := r.end(t)
			if !exit.Forced {
				t.Errorf("%+v", exit)
			}
			if got := r.stdout.String(); got != tt.stdout {
				t.Errorf("stdout %q, want %q", got, tt.stdout)
			}
			if got := r.stderr.String(); got != tt.stderr {
				t.Errorf("stderr %q, want %q", got, tt.stderr)
			}
		})
	}
}

// waitBusy waits until the run has used some processor time, which the statements before its busy one do
// not need.
func waitBusy(t *testing.T, r *testRun) {
	t.Helper()
	time.Sleep(60 * time.Millisecond)
}

// A guest that does not come out of C code leaves the garbage collector in, with one processor too.
func TestStop_GarbageCollector(t *testing.T) {
	s := openSession(t, shared(t))
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for _, script := range []string{"while True: pass", "sum(range(10**12))", `import re; re.match(r"(a+)+$", "a" * 40 + "b")`, "10**10**8"} {
		t.Run(script, func(t *testing.T) {
			r := beginEndless(t, s, script)
			for range 5 {
				runtime.GC()
			}
			select {
			case <-r.DriverRun.(*execution).done:
				t.Errorf("the run has ended by itself; stderr %q", r.stderr.String())
			default:
			}
			r.Stop(0)
			r.end(t)
		})
	}
}

// A reader that does not read holds the script up, and is left when the run is stopped.
func TestStop_ReaderBehind(t *testing.T) {
	s, err := shared(t).Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Run(t.Context(), "while True: print('x' * 1000)", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := p.Stdout()
	if _, err := io.ReadFull(out, make([]byte, 2000)); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if result, err := p.Wait(t.Context()); err != nil || result.Reason != engine.ReasonCancelled {
		t.Errorf("%+v, %v", result, err)
	}
}
