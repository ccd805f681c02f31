package wasm

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// What is random is drawn anew in each run, although all start from one image and the second has the
// instance of the first.
func TestRun_Randomness(t *testing.T) {
	const script = `
import email.utils, json, os, random, secrets, sqlite3, tempfile, uuid
print(json.dumps({
    "os.urandom": os.urandom(8).hex(),
    "random.random": random.random(),
    "random.getrandbits": random.getrandbits(64),
    "random.sample": random.sample(range(10**9), 3),
    "random.Random": random.Random().random(),
    "random.SystemRandom": random.SystemRandom().random(),
    "random.gauss": random.gauss(),
    "secrets": secrets.token_hex(8),
    "uuid1": str(uuid.uuid1()),
    "uuid4": str(uuid.uuid4()),
    "uuid.getnode": uuid.getnode(),
    "/dev/urandom": open("/dev/urandom", "rb").read(8).hex(),
    "tempfile": tempfile.mkdtemp(),
    "sqlite random()": sqlite3.connect(":memory:").execute("select random()").fetchone(),
    "sqlite randomblob()": sqlite3.connect(":memory:").execute("select hex(randomblob(8))").fetchone(),
    "message id": email.utils.make_msgid(domain="x").split(".")[1:],
}))`
	s := oneInstance(t)
	var runs []map[string]any
	for range 3 {
		var values map[string]any
		if err := json.Unmarshal([]byte(mustPrint(t, s, script)), &values); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, values)
	}
	for name := range runs[0] {
		for i := range runs {
			for j := range i {
				if a, b := asText(t, runs[i][name]), asText(t, runs[j][name]); a == b {
					t.Errorf("%s is %s in two runs", name, a)
				}
			}
		}
	}
}

func asText(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// str hashes repeat, as the documents say: the order of a set is the same in all runs on one machine.
func TestRun_HashSeed(t *testing.T) {
	s := oneInstance(t)
	const script = "print(hash('a'), list({'a', 'b', 'c', 'd'}))"
	if a, b := mustPrint(t, s, script), mustPrint(t, s, script); a != b {
		t.Errorf("%q, then %q", a, b)
	}
}

// Clocks are the host's, not the image's.
func TestRun_Clocks(t *testing.T) {
	s := openSession(t, shared(t))
	before := time.Now()
	out := mustPrint(t, s, `
import time
a, m, p, c = time.time(), time.monotonic(), time.perf_counter(), time.process_time()
time.sleep(0.05)
print(a, time.time() - a, time.monotonic() - m, time.perf_counter() - p, c, time.process_time())`)
	var v []float64
	for f := range strings.FieldsSeq(out) {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, n)
	}
	if len(v) != 6 {
		t.Fatalf("printed %q", out)
	}
	if now := float64(time.Now().UnixNano()) / 1e9; v[0] < float64(before.UnixNano())/1e9-0.001 || v[0] > now {
		t.Errorf("time.time() = %f, here it is %f", v[0], now)
	}
	for i, name := range []string{"time", "monotonic", "perf_counter"} {
		if d := v[1+i]; d < 0.049 || d > patience.Seconds() {
			t.Errorf("%s: a sleep of 0.05 s took %f", name, d)
		}
	}
	if v[4] < 0 || v[5] < v[4] {
		t.Errorf("process_time() = %f, then %f", v[4], v[5])
	}
}

// What a module noted when the image was made is not shown as if it had been noted in the run.
func TestRun_NothingFromImageMaking(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct{ name, script, want string }{
		{"time since logging was imported", "import logging\nprint(0 <= logging.LogRecord('', 0, '', 0, '', (), None).relativeCreated < 30_000)", "True\n"},
		{"lines of the warm-up", "import linecache; print(len(linecache.cache))", "0\n"},
		{"environment", "import os; print(sorted(os.environ))", "['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'TMPDIR', 'USER']\n"},
		{"home", "import os; print(os.path.expanduser('~'))", engine.WorkDir + "\n"},
		{"main", "print(sorted(globals()))", "['__annotations__', '__builtins__', '__cached__', '__doc__', '__file__', '__loader__', '__name__', '__package__', '__spec__']\n"},
		{"argv", "import sys; print(sys.argv, sys.orig_argv[1:], sys.path)", "['/run/sandbar/main.py'] [] ['" + engine.WorkDir + "', '/usr/lib/python3.13']\n"},
		{"last exception", "import sys; print([n for n in dir(sys) if n.startswith('last_')], sys.exc_info())", "[] (None, None, None)\n"},
		{"decimal flags", "import decimal; print(decimal.getcontext())", "Context(prec=28, rounding=ROUND_HALF_EVEN, Emin=-999999, Emax=999999, capitals=1, clamp=0, flags=[], traps=[InvalidOperation, DivisionByZero, Overflow])\n"},
		{
			"warnings", "import warnings; print([f[0] + ':' + f[2].__name__ + ':' + str(f[3]) for f in warnings.filters])",
			"['default:DeprecationWarning:__main__', 'ignore:DeprecationWarning:None', 'ignore:PendingDeprecationWarning:None', 'ignore:ImportWarning:None', 'ignore:ResourceWarning:None']\n",
		},
		{"loggers", "import logging; print(logging.root.level, logging.root.handlers)", "30 []\n"},
		{"temporary directory", "import tempfile, os; print(tempfile.gettempdir(), os.listdir('/tmp'))", "/tmp ['sandbox-work']\n"},
		{"process id", "import os; print(os.getpid() > 0)", "True\n"},
		{"recursion limit", "import sys; print(sys.getrecursionlimit(), sys.getswitchinterval())", "1000 0.005\n"},
		{"collector", "import gc; print(gc.isenabled(), gc.get_threshold(), gc.garbage, gc.callbacks)", "True (2000, 10, 10) [] []\n"},
		{"asyncio", "import asyncio; print(asyncio.events._event_loop_policy, asyncio._get_running_loop())", "None None\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mustPrint(t, s, tt.script); got != tt.want {
				t.Errorf("printed %q, want %q", got, tt.want)
			}
		})
	}
}

// Variables of the environment that C code looks at have their effect, although it had started before.
func TestRun_Environment(t *testing.T) {
	s := openSession(t, shared(t))
	tests := []struct {
		name         string
		env          []string
		script, want string
	}{
		{"plain", []string{"A=1", "B=two words", "C=", "D=ä=é"}, "import os; print([os.environ[k] for k in 'ABCD'])", "['1', 'two words', '', 'ä=é']\n"},
		{"not UTF-8", []string{"A=\xff"}, "import os; print(os.environb[b'A'])", "b'\\xff'\n"},
		{"time zone", []string{"TZ=Asia/Tokyo"}, "import os; print(os.environ['TZ'])", "Asia/Tokyo\n"},
		{"time zone of time", []string{"TZ=UTC"}, "import time; print(time.localtime(0).tm_hour)", "0\n"},
		{"home", []string{"HOME=/tmp/h"}, "import pathlib; print(pathlib.Path.home())", "/tmp/h\n"},
		{"temporary directory", []string{"TMPDIR=" + engine.WorkDir}, "import tempfile; print(tempfile.gettempdir())", engine.WorkDir + "\n"},
		{"of subprocesses", []string{"A=1"}, "import os; os.environ['B'] = '2'; print(os.getenv('A'), os.getenv('B'))", "1 2\n"},
		{"Python's own", []string{"PYTHONPATH=/tmp/x", "PYTHONHASHSEED=0"}, "import sys; print('/tmp/x' in sys.path, sys.flags.hash_randomization)", "True 1\n"},
		{"very many", slices.Repeat([]string{"A=" + strings.Repeat("x", 1000)}, 500), "import os; print(len(os.environ['A']))", "1000\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustPrint(t, s, tt.script, func(spec *engine.RunSpec) { spec.Env = tt.env })
			if got != tt.want {
				t.Errorf("printed %q, want %q", got, tt.want)
			}
		})
	}
}

// What has passed since a run began is seconds, in each of Python's clocks.
func TestRun_Times(t *testing.T) {
	s := openSession(t, shared(t))
	got := mustPrint(t, s, "import os, time; t = os.times(); print(0 <= t.user < 600, t.system, abs(t.elapsed - time.monotonic()) < 600)")
	if got != "True 0.0 True\n" {
		t.Errorf("printed %q", got)
	}
}
