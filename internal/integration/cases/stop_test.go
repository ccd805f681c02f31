package cases

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// C121: endless recursion is an exception, however high the limit was set, and hurts nobody else.
func TestStop_Recursion(t *testing.T) {
	session := open(t, nil)
	out := exec(t, session, `
import sys
def f(n): return 1 + f(n + 1)
try: f(0)
except RecursionError: print("caught", flush=True)
sys.setrecursionlimit(10**6)
f(0)
`, &engine.RunOptions{Timeout: 20 * time.Second}) // native Python, too, needs minutes to print a million frames
	ended := out.Result.Reason == engine.ReasonTimeout || strings.Contains(out.Stderr, "RecursionError") || strings.Contains(out.Stderr, "MemoryError")
	if out.Stdout != "caught\n" || out.Result.ExitCode == 0 || !ended {
		t.Errorf("stdout %q, stderr %q, %+v", out.Stdout, out.Stderr, out.Result)
	}
	t.Logf("the second call ended with code %d, reason %s: %.300s", out.Result.ExitCode, out.Result.Reason, tail(out.Stderr))
	mustStillWork(t, session)
	// An exception or success, as native Python has it; never a wreck.
	for _, script := range []string{
		"class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().a",
		"import sys; sys.setrecursionlimit(10**6)\nx = []\nfor _ in range(10**6): x = [x]\nrepr(x)",
		"import sys, json; sys.setrecursionlimit(10**6); json.loads('[' * 10**6)",
		"import sys; sys.setrecursionlimit(10**6); eval('-' * 10**5 + '1')",
		"import sys, copy; sys.setrecursionlimit(10**6)\nx = []\nfor _ in range(10**5): x = [x]\ncopy.deepcopy(x)",
		"import sys, re; sys.setrecursionlimit(10**6); re.compile('(' * 10**5 + ')' * 10**5)",
		"import sys, pickle; sys.setrecursionlimit(10**6)\nx = []\nfor _ in range(10**5): x = [x]\npickle.dumps(x)",
	} {
		out := exec(t, session, script, &engine.RunOptions{Timeout: patience})
		if out.Result.Reason != engine.ReasonExited || out.Result.ExitCode > 1 || (out.Stderr == "") != (out.Result.ExitCode == 0) {
			t.Errorf("%s\nended with %+v, stderr %.200q", script, out.Result, out.Stderr)
		}
		t.Logf("%.60q: code %d: %.120s", script, out.Result.ExitCode, tail(out.Stderr))
		mustStillWork(t, session)
	}
}

func tail(s string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return all[len(all)-1]
}

// unending are scripts that look endless to whoever waits. The last two read a pipe that stays open.
var unending = []struct{ name, script string }{
	{"loop", "while True: pass"},
	{"sum", "sum(range(10**12))"},
	{"regular expression", `import re; re.match(r"(a+)+$", "a" * 40 + "b")`},
	{"power", "x = 9 ** (10 ** 8)"},
	{"power of powers", "10**10**8"},
	{"sort", "try: sorted(range(10**8))\nfinally:\n    while True: pass"},
	{"sort with a key", "try: sorted(range(10**8), key=lambda v: -v)\nfinally:\n    while True: pass"},
	{"search in bytes", "try: b'\\0' * 10**8 in b'\\0' * (2 * 10**8)\nfinally:\n    while True: pass"},
	{"sleep", "import time; print('zzz', flush=True); time.sleep(10**6)"},
	{"event", "import threading; threading.Event().wait()"},
	{"asyncio", "import asyncio; asyncio.run(asyncio.sleep(10**6))"},
	{"deaf", "while True:\n    try:\n        while True: pass\n    except BaseException: pass"},
	{"input", "input()"},
	{"stdin", "import sys; sys.stdin.buffer.read()"},
}

// C123, C124: each ends with reason timeout soon after its timeout, and leaves no goroutine.
func TestStop_Timeout(t *testing.T) {
	session := open(t, &engine.Options{Limits: engine.Limits{Memory: 2 << 30}})
	mustStillWork(t, session)
	before := settledGoroutines(0)
	const timeout = 700 * time.Millisecond
	for _, tt := range unending {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			p, err := session.Run(t.Context(), tt.script, &engine.RunOptions{Timeout: timeout, StdinPipe: true})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stdin().Close()
			result := waitEnd(t, p, timeout+bound)
			late := time.Since(began) - timeout
			if result.Reason != engine.ReasonTimeout || result.ExitCode == 0 {
				t.Errorf("%+v", result)
			}
			if late < 0 {
				t.Errorf("it ended %v before its timeout", -late)
			}
			t.Logf("ended %v after its timeout with code %d", late.Round(time.Millisecond), result.ExitCode)
		})
	}
	mustStillWork(t, session)
	if after := settledGoroutines(before); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

// waitEnd waits for a run that must end within limit.
func waitEnd(t *testing.T, p *engine.Process, limit time.Duration) engine.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	result, err := p.Wait(ctx)
	if err != nil {
		t.Fatalf("after %v: %v", limit, err)
	}
	return result
}

// settledGoroutines waits for a while until there are at most want goroutines, and returns how many there
// are.
func settledGoroutines(want int) int {
	n := runtime.NumGoroutine()
	for deadline := time.Now().Add(5 * time.Second); n > want && time.Now().Before(deadline); n = runtime.NumGoroutine() {
		time.Sleep(10 * time.Millisecond)
		if want == 0 && n == runtime.NumGoroutine() {
			return n
		}
	}
	return n
}

// C123: cancelling and closing end a run that sleeps as its timeout does.
func TestStop_CancelAndClose(t *testing.T) {
	for _, tt := range unending {
		t.Run(tt.name, func(t *testing.T) {
			session := open(t, &engine.Options{Limits: engine.Limits{Memory: 2 << 30}})
			run := func(ctx context.Context) *engine.Process {
				p, err := session.Run(ctx, "print('begun', flush=True)\n"+tt.script, &engine.RunOptions{Timeout: engine.NoTimeout, StdinPipe: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(p.Stdout(), make([]byte, len("begun\n"))); err != nil {
					t.Fatal(err)
				}
				return p
			}
			ctx, cancel := context.WithCancel(t.Context())
			p := run(ctx)
			began := time.Now()
			cancel()
			if result := waitEnd(t, p, bound); result.Reason != engine.ReasonCancelled {
				t.Errorf("cancelled: %+v", result)
			}
			cancelled := time.Since(began)

			p = run(t.Context())
			began = time.Now()
			closed := make(chan error, 1)
			go func() { closed <- session.Close() }()
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(bound):
				t.Fatal("Close waits")
			}
			if result := waitEnd(t, p, bound); result.Reason != engine.ReasonCancelled {
				t.Errorf("closed: %+v", result)
			}
			t.Logf("cancelled after %v, closed after %v", cancelled.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		})
	}
}
