package cases

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// C126: sleeping and waiting work, and take as long as they say.
func TestAsync_Sleep(t *testing.T) {
	out := exec(t, open(t, nil), `
import time, threading, asyncio, queue
def timed(f):
    t = time.monotonic()
    print(f())
    print(0.09 < time.monotonic() - t < 60)
timed(lambda: time.sleep(0.1) or "sleep ok")
timed(lambda: threading.Event().wait(0.1))
async def m(): await asyncio.sleep(0.1); return "async ok"
timed(lambda: asyncio.run(m()))
def q():
    try: queue.Queue().get(timeout=0.1)
    except queue.Empty: return "queue ok"
timed(q)
`, nil)
	checkPrinted(t, out, lines("sleep ok", "True", "False", "True", "async ok", "True", "queue ok", "True"))
}

// C127: asyncio.run works without a socket pair.
func TestAsync_Run(t *testing.T) {
	mustPrint(t, `
import asyncio
async def w(n): await asyncio.sleep(0.05 * n); return n
async def main():
    print(await asyncio.gather(*(w(i) for i in range(5))))
    try: await asyncio.wait_for(asyncio.sleep(9), 0.1)
    except asyncio.TimeoutError: print("timeout ok")
asyncio.run(main())
loop = asyncio.new_event_loop()
print(loop.run_until_complete(w(1)))
loop.close()
`, lines("[0, 1, 2, 3, 4]", "timeout ok", "1"))
}

// C128: threads are refused with an exception, at once, and the result says what to do.
func TestAsync_Threads(t *testing.T) {
	out := exec(t, open(t, nil), `
import threading, concurrent.futures as c
try:
    with c.ThreadPoolExecutor(2) as p: print(list(p.map(abs, [-1, -2])))
except RuntimeError as e: print("RuntimeError:", e)
t = threading.Thread(target=print, args=("hi",))
try: t.start(); t.join()
except RuntimeError as e: print("RuntimeError:", e)
print("end")
`, nil)
	if !regexp.MustCompile(`^RuntimeError: .+\nRuntimeError: .+\nend\n$`).MatchString(out.Stdout) || out.Result.ExitCode != 0 {
		t.Errorf("stdout %q, stderr %q, %+v", out.Stdout, out.Stderr, out.Result)
	}
	t.Logf("stdout %q, advice %q", out.Stdout, out.Result.Advice)
}

// The advice is there when the want of threads, processes or sockets ended the script.
func TestAsync_Advice(t *testing.T) {
	session := open(t, nil)
	for _, tt := range []struct{ name, script, exception string }{
		{"thread", "import threading; threading.Thread(target=print).start()", "RuntimeError"},
		{"pool", "import concurrent.futures as c\nc.ThreadPoolExecutor().submit(print)", "RuntimeError"},
		{"to_thread", "import asyncio; asyncio.run(asyncio.to_thread(print))", "RuntimeError"},
		{"subprocess", "name = 'subprocess'; __import__(name).run(['ls'])", ""}, // else it would be refused beforehand
		{"os.system", "import os; os.system('ls')", ""},
		{"multiprocessing", "name = 'multiprocessing'; __import__(name).Pool(2)", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := exec(t, session, tt.script, &engine.RunOptions{Timeout: patience})
			if out.Result.ExitCode != 1 || !strings.Contains(out.Stderr, "Traceback") || !strings.Contains(out.Stderr, tt.exception) {
				t.Errorf("stderr %q, %+v", out.Stderr, out.Result)
			}
			if out.Result.Advice == "" {
				t.Errorf("no advice; stderr ends with %q", tail(out.Stderr))
			}
			t.Logf("%s | advice %q", tail(out.Stderr), out.Result.Advice)
		})
	}
}
