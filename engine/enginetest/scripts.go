package enginetest

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// scripts are the same small programs in one script type. A field that ends in f is a format. An empty
// one has no equivalent: tests that need it are skipped.
type scripts struct {
	typ engine.ScriptType

	hello    string // writes "hello\n"
	exitf    string // %d: exits with it
	bothf    string // %q, %q: writes them to stdout and to stderr, without a newline
	bytes    string // writes rawBytes to stdout
	linesf   string // %d: writes "line 0\n", "line 1\n" and so on, so many
	bigf     string // %d: writes so many x, and then TAIL
	bigErrf  string // %d: writes so many e to stderr, and then "out\n" to stdout
	flood    string // writes to stdout for ever
	sleep    string // writes "before\n", without a flush, and sleeps
	busy     string // writes "before\n", without a flush, and computes for ever
	stubborn string // writes "before\n" and computes for ever, whatever it is told
	save     string // writes "ready\n" and sleeps; told to stop, it writes "saved\n" and exits with 7
	catch    string // writes "round 0\n" and goes on; at each interrupt the next one, at the third "on\n", and exits with 7
	deaf     string // ignores interrupts, writes "before\n" and computes for ever
	cat      string // copies stdin to stdout
	line     string // reads a line and writes it after "got "
	env      string // writes the environment as sorted lines
	args     string // writes each argument and a newline
	cwd      string // writes the working directory
	writef   string // %q, %q: makes a file with a content
	readf    string // %q: writes the content of a file
	appendf  string // %q, %q: appends to a file
	existsf  string // %q: writes "yes\n" or "no\n"
	linkf    string // %q, %q: makes a symbolic link to the first by the name of the second
	fillf    string // %q: writes pieces of 64 KiB to files with that prefix, until an error, and writes "full\n"
	many     string // makes files in the working directory until an error, and writes "full\n"
	memory   string // takes memory without end
	fail     string // writes a message of its interpreter to stderr and exits with another code than 0
	random   string // writes some random bytes in hex
	burn     string // uses burnTime of processor time
	hold     string // holds heldSize bytes of memory
	nap      string // sleeps for napTime
	files    string // opens files until an error, and writes how many with the three that were open; or the limit

	codes map[string]int // scripts by what they end with
}

// rawBytes are no text: not UTF-8, NUL, CR, a character that is cut, no newline at the end.
const rawBytes = "ok\xff\xfe\x00\r\nlast\xc3"

// The formats use %q: what the tests give is plain enough to be quoted alike in Go and in Python, and with
// double quotes in a shell.
var allScripts = []*scripts{
	{
		typ:      engine.Python,
		hello:    `print("hello")`,
		exitf:    "import sys\nsys.exit(%d)",
		bothf:    "import sys\nsys.stdout.write(%q)\nsys.stderr.write(%q)",
		bytes:    `import sys; sys.stdout.buffer.write(b"ok\xff\xfe\0\r\nlast\xc3")`,
		linesf:   "for i in range(%d): print('line', i)",
		bigf:     "import sys\nsys.stdout.write('x' * %d + 'TAIL')",
		bigErrf:  "import sys\nsys.stderr.write('e' * %d)\nprint('out')",
		flood:    "import sys\nwhile True: sys.stdout.write('0123456789abcde\\n' * 4096)",
		sleep:    "import time\nprint('before')\ntime.sleep(10**6)",
		busy:     "print('before')\nwhile True: pass",
		stubborn: "print('before')\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass",
		save:     "import sys, time\ntry:\n  print('ready', flush=True)\n  while True: time.sleep(0.02)\nexcept KeyboardInterrupt:\n  print('saved')\n  sys.exit(7)",
		catch:    "import sys, time\nn = 0\nwhile n < 3:\n  try:\n    print('round', n, flush=True)\n    while True: time.sleep(0.02)\n  except KeyboardInterrupt: n += 1\nprint('on')\nsys.exit(7)",
		deaf:     "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before', flush=True)\nwhile True: pass",
		cat:      "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())",
		line:     "import sys\nprint('got', sys.stdin.readline())",
		env:      "import os\nfor name in sorted(os.environ): print(name + '=' + os.environ[name])",
		args:     "import sys\nfor a in sys.argv[1:]: print(a)",
		cwd:      "import os\nprint(os.getcwd())",
		writef:   "with open(%q, 'w') as f: f.write(%q)",
		readf:    "import sys\nsys.stdout.buffer.write(open(%q, 'rb').read())",
		appendf:  "with open(%q, 'a') as f: f.write(%q)",
		existsf:  "import os\nprint('yes' if os.path.lexists(%q) else 'no')",
		linkf:    "import os\nos.symlink(%q, %q)",
		fillf:    "i = 0\ntry:\n  while i < 100000:\n    with open(%q + str(i), 'wb') as f: f.write(bytes(65536))\n    i += 1\nexcept OSError:\n  print('full')",
		many:     "i = 0\ntry:\n  while i < 100000:\n    open('m' + str(i), 'w').close()\n    i += 1\nexcept OSError:\n  print('full')",
		memory:   "held = []\nwhile True: held.append(bytearray(1 << 22))",
		fail:     "raise ValueError('deliberate')",
		random:   "import os, random, uuid\nprint(os.urandom(8).hex(), random.random(), uuid.uuid4())",
		burn:     "import time\nwhile time.process_time() < 0.3: pass",
		hold:     "held = bytearray(60_000_000)\nheld[::4096] = held[::4096]",
		nap:      "import time\ntime.sleep(0.5)",
		files:    "held = []\ntry:\n  while len(held) < 5000: held.append(open('/dev/null'))\nexcept OSError: pass\nprint(len(held) + 3)",
		codes: map[string]int{
			"import sys\nsys.exit(300)": 44, "import sys\nsys.exit(-1)": 255, "import sys\nsys.exit('text')": 1, "import os\nos._exit(5)": 5,
			"raise SystemExit": 0, "1/0": 1, "(": 1,
		},
	},
	{
		typ:      engine.Shell,
		hello:    `echo hello`,
		exitf:    "exit %d",
		bothf:    "printf %%s %q\nprintf %%s %q >&2",
		bytes:    `printf 'ok\377\376\0\r\nlast\303'`,
		linesf:   "i=0; while [ $i -lt %d ]; do echo line $i; i=$((i+1)); done",
		bigf:     "head -c %d /dev/zero | tr '\\0' x; printf TAIL",
		bigErrf:  "head -c %d /dev/zero | tr '\\0' e >&2; echo out",
		flood:    "yes 0123456789abcde",
		sleep:    "echo before; sleep 1000000",
		busy:     "echo before; while :; do :; done",
		stubborn: "trap '' TERM INT HUP; echo before; while :; do :; done",
		save:     "trap 'echo saved; exit 7' TERM; echo ready; sleep 1000000 & wait",
		catch:    "n=0 m=; trap 'n=$((n+1))' INT; while [ $n -lt 3 ]; do [ \"$n\" = \"$m\" ] || { m=$n; echo round $n; }; sleep 0.02; done; echo on; exit 7",
		deaf:     "trap '' INT; echo before; while :; do :; done",
		cat:      "cat",
		line:     "read -r x; echo \"got $x\"",
		env:      "env | sort",
		args:     `for a in "$@"; do printf '%s\n' "$a"; done`,
		cwd:      "pwd",
		writef:   "f=%q; printf %%s %q > \"$f\"",
		readf:    "cat %q",
		appendf:  "f=%q; printf %%s %q >> \"$f\"",
		existsf:  "f=%q; if [ -e \"$f\" ] || [ -L \"$f\" ]; then echo yes; else echo no; fi",
		linkf:    "ln -s %q %q",
		fillf:    "p=%q; i=0; while [ $i -lt 100000 ] && head -c 65536 /dev/zero > \"$p$i\"; do i=$((i+1)); done 2>/dev/null; [ $i -lt 100000 ] && echo full",
		many:     "i=0; while [ $i -lt 100000 ] && : > m$i; do i=$((i+1)); done 2>/dev/null; [ $i -lt 100000 ] && echo full",
		memory:   "a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done",
		fail:     "no_such_command_deliberate",
		random:   "head -c 8 /dev/urandom | od -An -tx8",
		burn:     shellBurn,
		hold:     "head -c 60000000 /dev/zero | tail -c 60000000 | wc -c",
		nap:      "sleep 0.5",
		files:    "ulimit -n 5000 2>/dev/null; ulimit -n",
		codes:    map[string]int{"exit 300": 44, "/etc/passwd": 126, "no_such_cmd_xyz": 127, "false": 1, "(exit 9)": 9, "set -e; false; exit 3": 1, "sh -c 'kill -9 $$'": 137},
	},
}

// shellBurn reads how much it has used: utime and stime, in hundredths of a second, proc_pid_stat(5).
const shellBurn = `while read -r s < /proc/$$/stat; do
  set -- $s
  [ $((${14} + ${15})) -ge 30 ] && exit 0
done`

func scriptsOf(t *testing.T, typ engine.ScriptType) *scripts {
	t.Helper()
	for _, s := range allScripts {
		if s.typ == typ {
			return s
		}
	}
	t.Fatalf("no scripts of type %s", typ)
	return nil
}
