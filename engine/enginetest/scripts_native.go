package enginetest

import "github.com/sandbar-dev/sandbar/engine"

// nativeScripts are scripts for a tier whose scripts are processes of a kernel. A field that ends in f is a format.
type nativeScripts struct {
	leave    string // starts a process that goes on for ever and holds stdout and stderr, and writes "hello\n"
	escape   string // starts processes that do all to get away and add to the file "beat", waits for it, and writes "hello\n"
	late     string // starts a process that writes "late\n" after a moment, writes "hello\n", and exits with 3
	forever  string // starts a process that goes on for ever, writes "hello\n" and exits with 0
	beats    string // writes how often the processes of escape have written in a moment
	names    string // writes the names of all processes, a line each
	pid      string // writes its process id
	signalf  string // %d: sends itself that signal, whose handling is the system's own
	stopped  string // writes "before\n", stops itself, and writes "after\n"
	tty      string // writes "yes\n" when it has a controlling terminal, else "no\n"
	pipe     string // has yes(1) write to a pipe that is closed, and writes the code that it ended with
	ignored  string // writes the signals that a child ignores and blocks, in hex, without a space
	fds      string // has ls(1) list its own descriptors
	leftover string // fills /tmp and /dev/shm with all kinds of files
	list     string // lists /tmp and /dev/shm
	connectf string // host, %d: connects to a TCP address and port, and writes the line that comes, or the error
	loopback string // has the loopback carry something, and writes "ok\n"; empty where a shell cannot
	growf    string // %q: makes one file grow until an error, and writes "full\n"
	children string // starts processes until an error, and writes how many as lines "1\n", "2\n" and so on
	terminal string // writes the size of the terminal and whether stdin, stdout and stderr are one, and "err\n" to stderr
	unwaited string // has a child use burnTime that nobody waits for, and ends after it
	raw      string // has its terminal make no signals of characters, writes "before\n" and computes for ever
	// foreground starts two processes in groups of their own, one in the foreground of the terminal, writes "ready\n", waits
	// for the end of that, and writes "ended 2, and the other goes on\n": the signal that it ended by, and what is so
	foreground string
	resized    string // writes "ready\n", and the size of the terminal when that changes; then it ends
}

var nativePython = &nativeScripts{
	leave:   "import subprocess\nsubprocess.Popen(['sleep', '1000000'])\nprint('hello')",
	escape:  pythonEscape,
	late:    "import subprocess, sys\nsubprocess.Popen(['sh', '-c', 'sleep 0.3; echo late'])\nprint('hello')\nsys.exit(3)",
	forever: "import subprocess\nsubprocess.Popen(['sleep', '1000000'])\nprint('hello')",
	beats:   "import os, time\nsize = lambda: os.path.getsize('beat')\na = size(); time.sleep(0.3); print(size() - a)",
	names:   "import glob\nfor p in glob.glob('/proc/[0-9]*/comm'):\n  try: print(open(p).read().strip())\n  except OSError: pass",
	pid:     "import os\nprint(os.getpid())",
	// Python ignores SIGPIPE and SIGXFSZ and handles SIGINT.
	signalf: "import os, signal\nn = %d\nif n != signal.SIGKILL: signal.signal(n, signal.SIG_DFL)\nos.kill(os.getpid(), n)\nprint('alive')",
	stopped: "import os, signal\nprint('before')\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('after')",
	tty:     "try: open('/dev/tty'); print('yes')\nexcept OSError: print('no')",
	pipe:    "import subprocess\np = subprocess.Popen(['yes'], stdout=subprocess.PIPE)\np.stdout.readline(); p.stdout.close(); print(128 - p.wait())",
	ignored: "import subprocess\nsubprocess.run(\"grep -E '^Sig(Ign|Blk):' /proc/self/status | tr -d '\\t\\n'\", shell=True)",
	fds:     "import subprocess\nsubprocess.run(['ls', '/proc/self/fd'], close_fds=False)",
	leftover: `import os, socket
for d in ['/tmp', '/dev/shm']:
  os.chdir(d)
  os.makedirs('a/b/c'); open('a/b/c/f', 'w').write('x' * 100000); open('.hidden', 'w').close()
  os.symlink('a', 'link'); os.symlink('nowhere', 'dangling'); os.mkfifo('fifo'); os.link('.hidden', 'hard')
  s = socket.socket(socket.AF_UNIX); s.bind('socket')
  os.makedirs('closed/inner'); os.chmod('closed/inner', 0); os.chmod('closed', 0)
`,
	list:       "import os\nprint(sorted(os.listdir('/tmp')), os.listdir('/dev/shm'))",
	connectf:   "import socket\ntry: print(socket.create_connection((%q, %d), 20).makefile().readline(), end='')\nexcept OSError as e: print(e.strerror)",
	loopback:   pythonLoopback,
	growf:      "try:\n  with open(%q, 'wb', buffering=0) as f:\n    while f.tell() < 1 << 24: f.write(bytes(65536))\nexcept OSError: print('full')",
	children:   "import os, time\nn = 0\ntry:\n  while n < 2000:\n    if os.fork() == 0: time.sleep(10**6)\n    n += 1; print(n)\nexcept OSError: pass\ntime.sleep(10**6)",
	terminal:   "import os, sys\ns = os.get_terminal_size()\nprint(s.lines, s.columns, [os.isatty(i) for i in range(3)], os.ttyname(0) == os.ttyname(1))\nsys.stderr.write('err\\n')",
	unwaited:   "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nif os.fork() == 0:\n  while time.process_time() < 0.3: pass\n  os._exit(0)\ntry: os.wait()\nexcept ChildProcessError: pass",
	raw:        "import subprocess\nsubprocess.run(['stty', '-isig'])\nprint('before')\nwhile True: pass",
	foreground: pythonForeground,
	resized: `import os, signal, sys, time
def changed(*_):
  s = os.get_terminal_size()
  print(s.lines, s.columns)
  sys.exit()
signal.signal(signal.SIGWINCH, changed)
print('ready')
while True: time.sleep(0.02)
`,
}

// The formats of the shell are for bash: where there is none, what needs it says so and is skipped.
var nativeShell = &nativeScripts{
	leave:   "sleep 1000000 & echo hello",
	escape:  shellEscape,
	late:    "(sleep 0.3; echo late) & echo hello; exit 3",
	forever: "sleep 1000000 & echo hello",
	beats:   "a=$(wc -c < beat); sleep 0.3; echo $(($(wc -c < beat) - a))",
	names:   "cat /proc/[0-9]*/comm 2>/dev/null; :",
	pid:     "echo $$",
	signalf: "kill -%d $$; echo alive",
	stopped: "echo before; kill -STOP $$; echo after",
	tty:     "if (: < /dev/tty) 2>/dev/null; then echo yes; else echo no; fi",
	pipe:    "exec 3>&1; { yes; echo $? >&3; } | head -n 1 > /dev/null",
	ignored: "grep -E '^Sig(Ign|Blk):' /proc/self/status | tr -d '\\t\\n'",
	fds:     "ls /proc/self/fd",
	leftover: `for d in /tmp /dev/shm; do
  cd $d; mkdir -p a/b/c; head -c 100000 /dev/zero > a/b/c/f; : > .hidden
  ln -s a link; ln -s nowhere dangling; mkfifo fifo; ln .hidden hard
  mkdir -p closed/inner; chmod 0 closed/inner; chmod 0 closed
done
`,
	list:     "ls -A /tmp; ls -A /dev/shm",
	connectf: "[ -n \"$BASH_VERSION\" ] || { echo no bash; exit; }\n(exec 3<>/dev/tcp/%s/%d && head -n 1 <&3) 2>&1",
	growf:    "head -c 16777216 /dev/zero > %q || echo full",
	children: "n=0; while [ $n -lt 2000 ]; do sleep 1000000 & n=$((n+1)); echo $n; done 2>/dev/null",
	terminal: "stty size | tr '\\n' ' '; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty && echo err >&2",
	unwaited: "(setsid sh -c '" + shellBurn + "'; : > burnt) & disown 2>/dev/null\nuntil [ -e burnt ]; do sleep 0.02; done",
	raw:      "stty -isig; echo before; while :; do :; done",
	// A shell with job control does all that: the foreground is a job of its own.
	foreground: `set -m; trap : INT; sleep 1000000 & other=$!
(sh -c 'echo ready; exec sleep 1000000')
echo "ended $(($? - 128)), and the other $(kill -0 $other && echo goes on)"`,
	resized: "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done",
}

const pythonForeground = `import os, signal, subprocess, time
other = subprocess.Popen(['sleep', '1000000'], process_group=0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
front = subprocess.Popen(['sh', '-c', 'read x; exec sleep 1000000'], process_group=0, stdin=subprocess.PIPE)
os.tcsetpgrp(0, front.pid)
front.stdin.write(b'go\n'); front.stdin.flush()
print('ready')
ended = -front.wait()
time.sleep(0.1)
print('ended %d, and the other %s' % (ended, 'goes on' if other.poll() is None else 'too'))
`

const pythonEscape = `import os, signal, subprocess, time
def beat():
  while True:
    with open('beat', 'a') as f: f.write('x')
    time.sleep(0.02)
def daemon():
  if os.fork(): return
  for n in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM): signal.signal(n, signal.SIG_IGN)
  os.setsid()
  if os.fork(): os._exit(0)
  os.setsid() if os.getpgrp() == os.getpid() else os.setpgid(0, 0)
  for fd in range(3): os.close(fd)
  beat()
daemon()
subprocess.Popen("trap '' HUP INT TERM; setsid nohup sh -c 'while :; do echo x >> beat; sleep 0.02; done' >/dev/null 2>&1 </dev/null & exit", shell=True)
while not os.path.exists('beat') or os.path.getsize('beat') < 10: time.sleep(0.01)
print('hello')
`

const shellEscape = `trap '' HUP INT TERM
beat='while :; do echo x >> beat; sleep 0.02; done'
setsid sh -c "exec >/dev/null 2>&1 </dev/null; $beat" &
nohup sh -c "$beat" >/dev/null 2>&1 </dev/null &
( ( setsid sh -c "$beat" >/dev/null 2>&1 </dev/null & ) & )
until [ "$(wc -c < beat 2>/dev/null || echo 0)" -ge 10 ]; do sleep 0.01; done
echo hello
`

const pythonLoopback = `import socket, threading
def echo(s):
  c, _ = s.accept()
  c.sendall(c.recv(100)); c.close()
for family, host in [(socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')]:
  with socket.socket(family, socket.SOCK_STREAM) as s:
    s.bind((host, 0)); s.listen()
    threading.Thread(target=echo, args=(s,)).start()
    with socket.create_connection(s.getsockname()[:2], 20) as c:
      c.sendall(b'ping')
      assert c.recv(100) == b'ping'
  with socket.socket(family, socket.SOCK_DGRAM) as a, socket.socket(family, socket.SOCK_DGRAM) as b:
    a.bind((host, 0)); a.settimeout(20)
    b.sendto(b'pong', a.getsockname())
    assert a.recv(100) == b'pong'
with socket.create_server(('127.0.0.1', 0)) as s:
  threading.Thread(target=echo, args=(s,)).start()
  with socket.create_connection(('localhost', s.getsockname()[1]), 20) as c: c.sendall(b'x'); c.recv(1)
print('ok')
`

// native gives the scripts of a type.
func native(typ engine.ScriptType) *nativeScripts {
	if typ == engine.Shell {
		return nativeShell
	}
	return nativePython
}
