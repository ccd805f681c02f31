package cases

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// C117: no two runs draw the same numbers. Only str hashes may repeat on one machine.
func TestFresh_Random(t *testing.T) {
	session := open(t, nil)
	const script = `
import os, random, secrets, uuid, tempfile
print(os.urandom(8).hex(), random.random(), secrets.token_hex(4), uuid.uuid4(), uuid.uuid1(), random.SystemRandom().random(), tempfile.mktemp(), random.randbytes(8).hex(), random.sample(range(10**6), 3))
`
	seen := map[string]bool{}
	for range 20 {
		for value := range strings.FieldsSeq(exec(t, session, script, nil).Stdout) {
			if seen[value] {
				t.Errorf("%s was drawn twice", value)
			}
			seen[value] = true
		}
	}
	if len(seen) < 20*8 {
		t.Errorf("%d values", len(seen))
	}
}

// C118: clocks are real.
func TestFresh_Clock(t *testing.T) {
	began := time.Now()
	out := exec(t, open(t, nil), `
import time, datetime
a = time.time(); m = time.monotonic(); time.sleep(1.5)
# process_time and thread_time may be missing, but not wrong.
print(datetime.datetime.now().year, round(time.time() - a, 1) >= 1.5, round(time.monotonic() - m, 1) >= 1.5, time.perf_counter() > 0)
try: print(time.process_time() >= 0, time.thread_time() >= 0)
except Exception as e: print(type(e).__name__, e)
print(a)
`, nil)
	if slept := time.Since(began); slept < 1500*time.Millisecond {
		t.Errorf("the script slept for %v", slept)
	}
	year := began.UTC().Format("2006")
	if !regexp.MustCompile(`^` + year + ` True True True\n(True True|AttributeError .*)\n\d+\.\d+\n$`).MatchString(out.Stdout) {
		t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
	}
	if stamp := strings.Fields(out.Stdout); len(stamp) > 0 {
		seconds, err := time.ParseDuration(stamp[len(stamp)-1] + "s")
		if host := time.Unix(0, int64(seconds)); err != nil || host.Sub(began).Abs() > time.Minute {
			t.Errorf("the guest's clock says %v, %v; it was %v", host, err, began)
		}
	}
}

// C119, C120: nothing of one run is in the next, whatever it changed; also not in another session.
func TestFresh_NothingIsShared(t *testing.T) {
	const script = `
import os, sys, builtins, json, random, decimal
print(os.path.exists("/tmp/left-by-previous"), getattr(builtins, "MARK", None), len(sys.modules), getattr(json, "MARK", None), "NEW" in os.environ,
      os.getcwd(), decimal.getcontext().prec, sys.getrecursionlimit(), len(sys.path), str.__name__, "colorsys" in sys.modules, os.listdir("/tmp") == ["sandbox-work"])
open("/tmp/left-by-previous", "w").close()
builtins.MARK = json.MARK = "seen"
os.environ["NEW"] = "1"
os.mkdir(sys.argv[0].replace("/", "_") + str(random.random()))
decimal.getcontext().prec = 3
sys.setrecursionlimit(50)
sys.path.append("/x")
import colorsys
json.dumps = None
random.seed(1)
os.chdir("/tmp")
`
	one, two := open(t, nil), open(t, nil)
	first := exec(t, one, script, nil)
	if first.Result.ExitCode != 0 || !strings.HasPrefix(first.Stdout, "False None ") {
		t.Fatalf("stdout %q, stderr %q", first.Stdout, first.Stderr)
	}
	for _, session := range []struct{ name, stdout string }{
		{"the same session", exec(t, one, script, nil).Stdout},
		{"the same session again", exec(t, one, script, nil).Stdout},
		{"another session", exec(t, two, script, nil).Stdout},
	} {
		if session.stdout != first.Stdout {
			t.Errorf("%s: %q, at first %q", session.name, session.stdout, first.Stdout)
		}
	}
}
