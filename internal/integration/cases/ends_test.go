package cases

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// C134: exit codes, and what is said on stderr.
func TestEnds_ExitCodes(t *testing.T) {
	session := open(t, nil)
	for _, tt := range []struct {
		name, script string
		code         int
		stderr       string
	}{
		{"exception", "x = 1\nraise ValueError('x')", 1, "Traceback (most recent call last):\n  File \"/run/sandbar/main.py\", line 2, in <module>\n    raise ValueError('x')\nValueError: x\n"},
		{"exit 3", "import sys; sys.exit(3)", 3, ""},
		{"exit text", "import sys; sys.exit('bye')", 1, "bye\n"},
		{"exit None", "import sys; sys.exit(None)", 0, ""},
		{"exit 300", "import sys; sys.exit(300)", 44, ""},
		{"exit -1", "import sys; sys.exit(-1)", 255, ""},
		{"os._exit", "import os; os._exit(5)", 5, ""},
		{"os.abort", "import os; os.abort()", 134, "-"},
		{"syntax", "def f(: pass", 1, "  File \"/run/sandbar/main.py\", line 1\n    def f(: pass\n          ^\nSyntaxError: invalid syntax\n"},
		{"not UTF-8", "print('a\xff')", 1, "-"},
		{"empty", "", 0, ""},
		{"BOM", "\ufeffpass", 0, ""},
		{"latin-1", "# -*- coding: latin-1 -*-\nassert len('\xe9') == 1 and ord('\xe9') == 233", 0, ""},
		{"CRLF", "x = 1\r\nif x:\r\n    pass\r\n", 0, ""},
		{"no newline", "if 1:\n    pass", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := exec(t, session, tt.script, nil)
			if out.Result.ExitCode != tt.code || out.Stdout != "" {
				t.Errorf("code %d, want %d; stdout %q, stderr %q", out.Result.ExitCode, tt.code, out.Stdout, out.Stderr)
			}
			if tt.stderr != "-" && out.Stderr != tt.stderr {
				t.Errorf("stderr %q, want %q", out.Stderr, tt.stderr)
			}
			if strings.Contains(out.Stderr, session.Info().HostDir) {
				t.Errorf("stderr names the host's path: %q", out.Stderr)
			}
		})
	}
}

// C135: what does not fit raises MemoryError, or ends the run with reason memory.
func TestEnds_Memory(t *testing.T) {
	session := open(t, &engine.Options{Limits: engine.Limits{Memory: 256 << 20}})
	out := exec(t, session, `
try: b = bytearray(3 * 1024**3)
except (MemoryError, OverflowError) as e: print("first")
L = []
try:
    while True: L.append(bytearray(1 << 24))
except MemoryError:
    n = len(L)
    del L
    print("second", 5 < n < 16)
print(len(bytearray(100 << 20)))
`, nil)
	checkPrinted(t, out, lines("first", "second True", "104857600"))
	if peak := out.Result.PeakMemory; peak == engine.Unknown || peak > 256<<20 {
		t.Errorf("peak memory %d", peak)
	}
	for _, script := range []string{
		"L = []\nwhile True: L.append(bytearray(1 << 20))",
		"s = 'x'\nwhile True: s += s",
		"d = {}\nfor i in range(10**9): d[i] = str(i)",
	} {
		out := exec(t, session, script, &engine.RunOptions{Timeout: patience})
		if out.Result.Reason != engine.ReasonMemory || out.Result.ExitCode != 137 {
			t.Errorf("%q: %+v, stderr %.300q", script, out.Result, out.Stderr)
		}
		t.Logf("%.40q: code %d, reason %s, %s", script, out.Result.ExitCode, out.Result.Reason, tail(out.Stderr))
		mustStillWork(t, session)
	}
	out = exec(t, session, "L = []\nwhile True:\n    try:\n        L.append([L] * 1000)\n    except MemoryError: pass", &engine.RunOptions{Timeout: 3 * time.Second})
	if out.Result.Reason != engine.ReasonTimeout && out.Result.Reason != engine.ReasonMemory {
		t.Errorf("a script that ignores MemoryError: %+v", out.Result)
	}
	mustStillWork(t, session)
}

// C134: a script with a NUL byte cannot be Python and is refused before anything runs.
func TestEnds_NUL(t *testing.T) {
	session := open(t, nil)
	_, err := session.Exec(t.Context(), "print('a\x00')", nil)
	var invalid *engine.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != "script" {
		t.Errorf("%v", err)
	}
	mustStillWork(t, session)
}

// C136: what a script sees of itself and of its input.
func TestEnds_Script(t *testing.T) {
	session := open(t, nil)
	const script = `
import sys, os
print(sys.argv, __name__, globals().get("__file__"), sys.stdin.isatty(), os.path.exists(__file__), open(__file__).read().count("\n"))
try: print(input("name? "))
except EOFError: print("EOF")
print(repr(sys.stdin.read()))
if __name__ == "__main__": print("main")
`
	out := exec(t, session, script, nil)
	checkPrinted(t, out, lines("['/run/sandbar/main.py'] __main__ /run/sandbar/main.py False True 7", "name? EOF", "''", "main"))
	out = exec(t, session, script, &engine.RunOptions{Stdin: strings.NewReader("a\nb"), Args: []string{"-x", "é"}, Name: "job.py"})
	checkPrinted(t, out, lines("['/run/sandbar/job.py', '-x', 'é'] __main__ /run/sandbar/job.py False True 7", "name? a", "'b'", "main"))
}

// C023: input() without any input fails at once.
func TestEnds_NoInput(t *testing.T) {
	out := exec(t, open(t, nil), "input()", nil)
	if out.Result.ExitCode != 1 || tail(out.Stderr) != "EOFError: EOF when reading a line" {
		t.Errorf("stderr %q, %+v", out.Stderr, out.Result)
	}
}
