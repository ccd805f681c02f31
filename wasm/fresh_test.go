package wasm

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
)

// frugalDriver keeps one instance.
var frugalDriver = sync.OnceValue(func() *Driver { return New(&Options{Idle: 1}) })

// oneInstance gives a session whose runs, one after the other, get the same instance as long as it can be
// used again. No two tests may have one at once.
func oneInstance(t *testing.T) engine.DriverSession {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	shared(t) // fills the cache
	d := frugalDriver()
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return openSession(t, d)
}

// instanceOf is the instance that a run has had.
func instanceOf(r *testRun) *instance { return r.DriverRun.(*execution).place.(freshPlace).instance }

// stateScript prints all that one run could leave behind for the next.
const stateScript = `
def state():
    import asyncio, atexit, builtins, codecs, copyreg, csv, decimal, faulthandler, gc, importlib, json, linecache, locale, logging
    import os, pathlib, random, re, signal, socket, sqlite3, string, sys, tempfile, threading, time, tracemalloc, types, urllib.request, warnings
    def descriptor(n):
        try:
            os.fstat(n)
            return n
        except OSError:
            return None
    def handler(n):
        try:
            return repr(getattr(signal.getsignal(n), "__name__", signal.getsignal(n)))
        except ValueError:
            return None
    def functions(*modules):
        return {m.__name__ + "." + k: type(v).__name__ + getattr(v, "__qualname__", "") for m in modules for k, v in vars(m).items() if callable(v)}
    context = decimal.getcontext()
    return {
        "globals": sorted(globals()),
        "builtins": sorted(vars(builtins)),
        "modules": sorted(sys.modules),
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "descriptors": [n for n in range(256) if descriptor(n) is not None],
        "tmp": sorted(os.listdir("/tmp")),
        "signals": [handler(n) for n in range(1, 32)],
        "filters": [str(f) for f in warnings.filters],
        "warned": len(getattr(warnings, "onceregistry", ())),
        "gc": [gc.get_threshold(), gc.isenabled(), gc.get_debug(), len(gc.callbacks), len(gc.garbage), gc.get_freeze_count()],
        "path": sys.path,
        "importers": [sorted(sys.path_importer_cache), len(sys.meta_path), len(sys.path_hooks)],
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "switch": sys.getswitchinterval(),
        "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__,
                  threading.excepthook is threading.__excepthook__, sys.gettrace(), sys.getprofile(), sys.breakpointhook is sys.__breakpointhook__],
        "last": [hasattr(sys, n) for n in ("last_exc", "last_type", "last_value", "ps1")],
        "streams": [[s is o, s.encoding, s.errors, s.line_buffering, s.write_through, s.newlines, s.closed]
                    for s, o in ((sys.stdin, sys.__stdin__), (sys.stdout, sys.__stdout__), (sys.stderr, sys.__stderr__))],
        "locale": [locale.setlocale(locale.LC_ALL), locale.getpreferredencoding()],
        "zone": [time.tzname, time.timezone, time.daylight],
        "decimal": [str(context), str(decimal.DefaultContext)],
        "loops": [asyncio.events._event_loop_policy is None, asyncio._get_running_loop() is None],
        "functions": functions(json, os, random, re, builtins, string, time, socket, pathlib, tempfile, sqlite3, sys),
        "attributes": {name: sorted(vars(m)) for name, m in sys.modules.items() if isinstance(m, types.ModuleType) and name != "__main__"},
        "logging": [len(logging.root.handlers), logging.root.level, logging.root.manager.disable, sorted(logging.root.manager.loggerDict), logging.raiseExceptions],
        "copyreg": len(copyreg.dispatch_table),
        "csv": [csv.list_dialects(), csv.field_size_limit()],
        "socket": socket.getdefaulttimeout(),
        "tempfile": [tempfile.tempdir, tempfile._name_sequence is None],
        "lines": sorted(linecache.cache),
        "expressions": len(re._cache),
        "adapters": [len(sqlite3.adapters), len(sqlite3.converters)],
        "opener": urllib.request._opener is None,
        "threads": [threading.active_count(), threading.main_thread().name],
        "trace": [tracemalloc.is_tracing(), faulthandler.is_enabled()],
        "atexit": atexit._ncallbacks(),
        "codecs": [codecs.lookup_error("strict").__name__, codecs.lookup("utf-8").name],
        "recent": [dict(os.environ).get("LEFT"), getattr(builtins, "LEFT", None)],
        "blocks": sys.getallocatedblocks(),
    }
import json
print(json.dumps(state(), default=str))
`

// spoilers are scripts that leave as much behind as they can, each with the code that it ends with.
var spoilers = []struct {
	name, script string
	code         int
	// again: the instance is in order afterwards and serves the next run.
	again bool
}{
	{"nothing", "", 0, true},
	{"names", "x = 1\nimport builtins, sys\nbuiltins.LEFT = 'seen'\nbuiltins.print2 = print\nsys.modules['left'] = sys\nsys.left = 1\ndel builtins.sorted", 0, true},
	{"environment", `
import os, sys, time, locale
os.environ["LEFT"] = "seen"; os.environ.pop("HOME"); os.environ["TZ"] = "Asia/Tokyo"; time.localtime()
os.chdir("/tmp")
sys.path.append("/left"); sys.argv.append("left")
try: locale.setlocale(locale.LC_ALL, "C")
except locale.Error: pass`, 0, true},
	{"files", `
import os, tempfile
f = [open("/tmp/f%d" % i, "w") for i in range(20)]
os.mkdir("/tmp/d"); tempfile.mkstemp(); fd = os.open("/tmp", os.O_RDONLY)
f[0].write("not flushed")`, 0, true},
	{"signals", `
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, lambda *a: None)`, 0, true},
	{"settings", `
import sys, gc, warnings, decimal, socket, csv, threading, logging, asyncio, linecache, re, random, atexit, copyreg
sys.setrecursionlimit(5000); sys.setswitchinterval(1); sys.set_int_max_str_digits(0)
gc.set_threshold(1, 1, 1); gc.disable(); gc.callbacks.append(print); gc.garbage.append(1)
warnings.simplefilter("error"); warnings.filterwarnings("ignore", "x")
decimal.getcontext().prec = 3; decimal.DefaultContext.prec = 4; decimal.getcontext().traps[decimal.Inexact] = False
socket.setdefaulttimeout(1); csv.register_dialect("left"); csv.field_size_limit(1)
logging.basicConfig(level=1); logging.disable(50); logging.getLogger("left")
asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
re.compile("left"); random.seed(1)
copyreg.pickle(complex, lambda c: (complex, (c.real, c.imag)))
gc.callbacks.clear()`, 0, true},
	{"monkeypatches", `
import json, os, random, sys, re, time, datetime, pathlib, collections
json.dumps = lambda *a, **k: "patched"; os.getcwd = lambda: "patched"; random.random = lambda: 4; time.time = lambda: 0
sys.stdout.reconfigure(line_buffering=False, encoding="ascii", errors="replace")
re.match.__doc__ = "left"; re.match.left = 1; os.left = 1; collections.Counter.left = 1
datetime.left = 1; pathlib.Path.left = 1; json.JSONEncoder.left = 1; json.JSONEncoder.default = lambda *a: 0`, 0, true},
	{"hooks", `
import sys, builtins, threading
sys.excepthook = lambda *a: print("hooked"); sys.displayhook = print; sys.unraisablehook = print; threading.excepthook = print
sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None); sys.breakpointhook = print
builtins.__import__ = lambda *a, **k: 1/0
sys.meta_path.clear(); sys.path_hooks.clear(); sys.path_importer_cache.clear()`, 0, true},
	{"streams replaced", "import sys, io\nsys.stdout = io.StringIO(); sys.stderr = None; sys.stdin = None\nprint('lost')", 0, true},
	{"streams closed", "import sys\nsys.stdin.close(); sys.stderr.close()", 0, true},
	{"streams detached", "import sys\nsys.stdin.detach(); sys.stderr.detach()", 0, true},
	{"cyclic garbage and finalizers", "class A:\n    def __del__(self): open('/tmp/late', 'w').write('x')\nfor i in range(100):\n    a = A(); a.a = a", 0, true},
	{"event loop", "import asyncio\nloop = asyncio.new_event_loop(); asyncio.set_event_loop(loop)\nasyncio._set_running_loop(loop)", 0, true},
	{"sqlite", "import sqlite3\nsqlite3.register_adapter(complex, str); c = sqlite3.connect('/tmp/x.db'); c.execute('create table t(a)')", 0, true},
	{"imports", "import wave, xmlrpc.client, http.server, doctest, unittest, tomllib, mailbox, zipimport", 0, true},
	{"some memory", "x = [bytes(1000) for _ in range(5000)]", 0, true},
	{"immutable objects written to", `
import gc
for o in gc.get_objects()[:50]: pass
(lambda: 0).__code__.co_consts
for o in (int, str, dict):
    try: o.left = 1
    except TypeError: pass`, 0, true},
	{"exit code", "import sys; LEFT = 1; sys.exit(3)", 3, true},
	{"exception", "raise ValueError('left')", 1, true},
	{"exception with locals", "def f(x):\n    y = [x] * 1000\n    raise KeyError(y[0])\nf(object())", 1, true},
	{"syntax error", "def f(", 1, true},
	{"recursion error", "def f(): f()\nf()", 1, true},
	{"exception in atexit", "import atexit, sys\natexit.register(lambda: 1/0)\nsys.setrecursionlimit(50)", 0, true},
	{"much memory", "x = bytearray(100 << 20)", 0, false},
	{"memory error", "x = []\nwhile True: x.append(bytearray(1 << 22))", 137, false},
	{"os._exit", "import os, builtins\nbuiltins.LEFT = 1\nos._exit(5)", 5, false},
	{"abort", "import os, builtins\nbuiltins.LEFT = 1\nos.abort()", 134, false},
	{"stopped", "import builtins\nbuiltins.LEFT = 1\nwhile True: pass", 130, false},
	{"stopped by force", "import builtins\nbuiltins.LEFT = 1\nwhile True:\n    try:\n        while True: pass\n    except KeyboardInterrupt: pass", 137, false},
}

// Nothing of one run is seen by the next: neither by the script, nor in any byte of the memory.
func TestRun_NothingIsLeft(t *testing.T) {
	s := oneInstance(t)
	fresh := begin(t, s, stateScript)
	fresh.end(t)
	settle(s)
	want := decodeState(t, fresh.stdout.String(), fresh.stderr.String())
	for _, tt := range spoilers {
		t.Run(tt.name, func(t *testing.T) {
			r := begin(t, s, tt.script)
			if tt.code == 130 || tt.code == codeKilled && tt.name == "stopped by force" {
				time.AfterFunc(50*time.Millisecond, func() { r.Stop(20 * time.Millisecond) })
			}
			if exit := r.end(t); exit.Code != tt.code {
				t.Fatalf("%+v, want code %d; stderr %q", exit, tt.code, r.stderr.String())
			}
			checkIdle(t, s, instanceOf(r), tt.again)
			next := begin(t, s, stateScript)
			next.end(t)
			settle(s)
			if same := instanceOf(next) == instanceOf(r); same != tt.again {
				t.Errorf("the next run has the same instance: %v, want %v", same, tt.again)
			}
			got := decodeState(t, next.stdout.String(), next.stderr.String())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the next run differs from the first (-first +next):\n%s", diff)
			}
		})
	}
}

func decodeState(t *testing.T, stdout, stderr string) (state map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(stdout), &state); err != nil || stderr != "" {
		t.Fatalf("%v: stdout %.200q, stderr %q", err, stdout, stderr)
	}
	return state
}

// settle waits until no instance is being put back or made.
func settle(s engine.DriverSession) { s.(*session).driver.interpreter.pool.making.Wait() }

// checkIdle compares the memory of the instance that waits for the next run with the image.
func checkIdle(t *testing.T, s engine.DriverSession, in *instance, again bool) {
	t.Helper()
	settle(s)
	p := s.(*session).driver.interpreter
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if len(p.pool.idle) != 1 {
		t.Fatalf("%d idle instances, want 1", len(p.pool.idle))
	}
	idle := p.pool.idle[0]
	if (idle == in) != again {
		t.Errorf("the instance is kept: %v, want %v", idle == in, again)
	}
	content, ok := idle.module.Memory().Read(0, idle.module.Memory().Size())
	if !ok || !bytes.Equal(content, p.pool.base.image.Bytes()) {
		t.Errorf("the memory of the idle instance (%d bytes) is not the image's (%d bytes)", len(content), p.pool.base.image.Size())
	}
	if idle.stack.Get() != p.pool.base.stack || idle.counter.Get() != tickBudget {
		t.Errorf("stack pointer %d, counter %d; want %d, %d", idle.stack.Get(), idle.counter.Get(), p.pool.base.stack, tickBudget)
	}
}
