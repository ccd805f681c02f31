package wasm

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func (r *testRun) interrupt(tb testing.TB) {
	tb.Helper()
	if err := r.DriverRun.(engine.Interrupter).Interrupt(); err != nil {
		tb.Errorf("Interrupt: %v", err)
	}
}

// hooked is a stream that calls a function before each write.
type hooked struct {
	buffer
	hook func()
}

func (h *hooked) Write(p []byte) (int, error) {
	h.hook()
	return h.buffer.Write(p)
}

// openInput is a standard input that nobody writes to.
type openInput struct{}

func (openInput) Read(_ []byte, cancel <-chan struct{}) (int, error) {
	<-cancel
	return 0, engine.ErrInterrupted
}

func (openInput) Wait(cancel <-chan struct{}) error {
	<-cancel
	return engine.ErrInterrupted
}

// Whatever a script waits for or computes, an interrupt reaches it, as often as it comes, and forces nothing.
func TestInterrupt_GoesOn(t *testing.T) {
	s := openSession(t, shared(t))
	for _, statement := range []string{
		"while True: pass",
		"time.sleep(10**6)",
		"while True: time.sleep(0)",
		"input()",
		"sys.stdin.read()",
		"open('/dev/stdin').read()",
		"select.select([0], [], [])",
		"select.select([0], [], [], 10**6)",
		"re.match(r'(a+)+$', 'a' * 40 + 'b')",
		"while True: print('x' * 100, file=sys.stderr)",
		"asyncio.run(asyncio.sleep(10**6))",
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			r := begin(t, s, `import asyncio, re, select, sys, time
n = 0
while n < 3:
  try:
    print('round', n)
    `+statement+`
  except KeyboardInterrupt: n += 1
print('on'); sys.exit(7)`, func(spec *engine.RunSpec) { spec.Stdin = openInput{} })
			for n := range 3 {
				r.waitFor(t, "round "+strconv.Itoa(n))
				r.interrupt(t)
			}
			if exit := r.end(t); exit.Code != 7 || exit.Reason != engine.ReasonExited || exit.Forced || !strings.HasSuffix(r.stdout.String(), "on\n") {
				t.Errorf("%+v, stdout %q", exit, r.stdout.String())
			}
		})
	}
}

func TestInterrupt_Ends(t *testing.T) {
	s := openSession(t, shared(t))
	for _, tt := range []struct {
		name, script string
		code         int
		stdout       string
	}{
		{"loop", "print('ready')\nwhile True: pass", codeInterrupt, "ready\n"},
		{"finally", "try:\n  print('ready')\n  while True: pass\nfinally: print('clean')", codeInterrupt, "ready\nclean\n"},
		{"atexit", "import atexit\natexit.register(print, 'exit')\nprint('ready')\nwhile True: pass", codeInterrupt, "ready\nexit\n"},
		{"handler", "import signal, sys\nsignal.signal(signal.SIGINT, lambda *a: sys.exit(5))\nprint('ready')\nwhile True: pass", 5, "ready\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, s, tt.script)
			r.waitFor(t, "ready")
			r.interrupt(t)
			if exit := r.end(t); exit.Code != tt.code || exit.Reason != engine.ReasonExited || exit.Forced || r.stdout.String() != tt.stdout {
				t.Errorf("%+v, stdout %q", exit, r.stdout.String())
			}
			r.interrupt(t)
			mustPrint(t, s, "print(1)")
		})
	}
	t.Run("before the script", func(t *testing.T) {
		r := begin(t, s, "while True: pass")
		r.interrupt(t)
		if exit := r.end(t); exit.Code != codeInterrupt {
			t.Errorf("%+v, stderr %q", exit, r.stderr.String())
		}
	})
}

// A stop that comes after an interrupt raises another KeyboardInterrupt, and one that comes together with it the same.
func TestInterrupt_ThenStop(t *testing.T) {
	s := openSession(t, shared(t))
	const script = "try:\n  print('ready')\n  while True: pass\nexcept KeyboardInterrupt: pass\n" +
		"try:\n  print('again')\n  while True: pass\nexcept KeyboardInterrupt: print('stopped')"
	r := begin(t, s, script)
	r.waitFor(t, "ready")
	r.interrupt(t)
	r.waitFor(t, "again")
	r.Stop(patience)
	r.interrupt(t) // it is not the business of who is being stopped
	if exit := r.end(t); exit.Code != 0 || exit.Forced || r.stdout.String() != "ready\nagain\nstopped\n" {
		t.Errorf("%+v, stdout %q", exit, r.stdout.String())
	}
	r = begin(t, s, "import signal\nsignal.signal(signal.SIGINT, lambda *a: None)\nprint('ready')\nwhile True: pass")
	r.waitFor(t, "ready")
	r.interrupt(t)
	r.Stop(10 * time.Millisecond)
	if exit := r.end(t); exit.Code != codeKilled || !exit.Forced {
		t.Errorf("stopped after an interrupt that it ignores: %+v", exit)
	}
}

func TestInterrupt_LiveKeepsTheInterpreter(t *testing.T) {
	s := openSession(t, shared(t))
	cell(t, s, "x = 1")
	for range 3 {
		r := begin(t, s, "x += 1\nprint('ready')\nwhile True: pass", inLive)
		r.waitFor(t, "ready")
		r.interrupt(t)
		exit := r.end(t)
		if exit.Code != codeInterrupt || exit.Reason != engine.ReasonExited || exit.InterpreterLost {
			t.Errorf("%+v, stderr %q", exit, r.stderr.String())
		}
	}
	if _, value := cell(t, s, "x"); value != "4" {
		t.Errorf("x is %s", value)
	}
}

// A run that waits for its turn ends, and the one that has it does not notice.
func TestInterrupt_LiveWaiting(t *testing.T) {
	s := openSession(t, shared(t))
	first := begin(t, s, "print('ready')\ntry:\n  while True: pass\nfinally: x = 5", inLive)
	first.waitFor(t, "ready")
	waiting := begin(t, s, "print('executed')", inLive)
	waiting.interrupt(t)
	exit := waiting.end(t)
	if exit.Code != codeInterrupt || exit.Reason != engine.ReasonExited || exit.InterpreterLost || exit.Err != nil ||
		waiting.stdout.String() != "" || waiting.stderr.String() != "KeyboardInterrupt\n" {
		t.Errorf("%+v, %q, %q", exit, waiting.stdout.String(), waiting.stderr.String())
	}
	first.interrupt(t)
	if exit := first.end(t); exit.Code != codeInterrupt {
		t.Errorf("%+v", exit)
	}
	if _, value := cell(t, s, "x"); value != "5" {
		t.Errorf("x is %s", value)
	}
}

// late is a script whose last statement writes, and whose code then takes the interpreter a while to free: an interrupt
// that comes with the write is pending in the guest when nothing is left that could take it.
func late() string {
	var b strings.Builder
	b.WriteString("t = (")
	for i := range 50_000 {
		b.WriteString(strconv.Itoa(i))
		b.WriteString(".5,")
	}
	b.WriteString(")\nx, t = len(t), None\nprint('end')")
	return b.String()
}

func TestInterrupt_LiveTooLate(t *testing.T) {
	s := openSession(t, shared(t))
	script := late()
	settled := 0
	for range 3 {
		var r *testRun
		started := make(chan struct{})
		out := &hooked{hook: func() { <-started; r.interrupt(t) }}
		r = begin(t, s, script, inLive, func(spec *engine.RunSpec) { spec.Stdout = out })
		close(started)
		exit := r.end(t)
		if exit.InterpreterLost || exit.Reason != engine.ReasonExited {
			t.Fatalf("%+v, stderr %q", exit, r.stderr.String())
		}
		if r.DriverRun.(*execution).control.raised && exit.Code == 0 {
			settled++
		}
		// The next run has nothing of it.
		if _, value := cell(t, s, "x"); value != "50000" {
			t.Errorf("x is %s", value)
		}
	}
	if settled == 0 {
		t.Error("no interrupt came too late: the test shows nothing")
	}
}

// An interrupt does not divide what is done for a run before its script: the next one has the environment that it asks for.
func TestInterrupt_LiveEnvironment(t *testing.T) {
	s := openSession(t, shared(t))
	env := func(value string) func(*engine.RunSpec) {
		return func(spec *engine.RunSpec) { spec.Env = append(spec.Env, "A="+value) }
	}
	cell(t, s, `import os
class Slow(dict):
  def __setitem__(self, k, v):
    super().__setitem__(k, v)
    if v == '2':
      open('setting', 'w').close()
      for i in range(10**6): pass
os.environ = Slow(os.environ)`, env("1"))
	setting := filepath.Join(s.(*session).spec.HostDir, "setting")
	r := begin(t, s, "print('executed')", inLive, env("2"))
	for {
		if _, err := os.Stat(setting); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	r.interrupt(t)
	if exit := r.end(t); exit.Code != codeInterrupt || exit.InterpreterLost || r.stdout.String() != "" {
		t.Errorf("%+v, stdout %q", exit, r.stdout.String())
	}
	if _, value := cell(t, s, "os.environ['A']", env("1")); value != "'1'" {
		t.Errorf("A is %s", value)
	}
}

// Interrupts at any moment of a run never reach the next one.
func TestInterrupt_NeverAnotherRun(t *testing.T) {
	s := openSession(t, shared(t))
	for _, in := range []func(*engine.RunSpec){inLive, func(*engine.RunSpec) {}} {
		for i := range 60 {
			var all sync.WaitGroup
			r := begin(t, s, "x = [str(i) for i in range(3000)]\nprint(len(x))", in)
			for j := range 4 {
				all.Go(func() {
					time.Sleep(time.Duration(i*j*10) * time.Microsecond)
					r.interrupt(t)
				})
			}
			exit := r.end(t)
			if exit.Code != 0 && exit.Code != codeInterrupt && exit.Code != codeFlush || exit.InterpreterLost || exit.Err != nil {
				t.Errorf("%+v, stderr %q", exit, r.stderr.String())
			}
			exit, stdout, stderr := runScript(t, s, "print(sum(range(10)))", in)
			if exit.Code != 0 || stdout != "45\n" || stderr != "" {
				t.Fatalf("the next run: %+v, %q, %q", exit, stdout, stderr)
			}
			all.Wait()
		}
	}
}
