package nativetests

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// staying are scripts that stay. MARK stands for the duration of their sleeps. None may outlive its deadline.
var staying = []struct{ name, script string }{
	{"grandchild", "sh -c 'sh -c \"sleep MARK; echo bad\" & wait'; echo never"},
	{"pipeline", "sleep MARK | cat | cat"},
	{"ignores signals", "trap '' TERM INT HUP QUIT USR1 USR2; while :; do sleep MARK; done"},
	{"ignores signals in Python", "exec python3 -c 'import signal, subprocess\nfor s in set(signal.Signals) - {9, 19}:\n  signal.signal(s, signal.SIG_IGN)\nwhile True: subprocess.run([\"sleep\", \"MARK\"])'"},
	{"blocks signals", "exec python3 -c 'import signal, os\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nos.execvp(\"sleep\", [\"sleep\", \"MARK\"])'"},
	{"stops itself", "sleep MARK & echo before; kill -STOP $$; echo after; wait"},
	{"stops all", "(sleep MARK & kill -STOP $!; wait) & kill -STOP $$"},
	{"setsid", "setsid sh -c 'exec >/dev/null 2>&1 </dev/null; sleep MARK' & wait"},
	{"double fork", "python3 -c 'import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execvp(\"sleep\", [\"sleep\", \"MARK\"])'; sleep MARK"},
	{"nohup", "nohup sleep MARK >/dev/null 2>&1 & disown; sleep MARK"},
	{"respawns", "f() { while :; do sleep MARK & trap '' TERM; wait; done; }; f & f & f & wait"},
	{"forks on", "python3 -c 'import os, signal, time\nsignal.signal(15, signal.SIG_IGN)\nsignal.signal(2, signal.SIG_IGN)\nwhile True:\n  if os.fork(): time.sleep(0.001); os._exit(0)'; exec sleep MARK"},
	{"death signal cleared", "exec python3 -c 'import ctypes,os; ctypes.CDLL(None).prctl(1,0,0,0,0); os.execvp(\"sleep\", [\"sleep\", \"MARK\"])'"},
	{"subreaper", "exec python3 -c 'import ctypes,os,time; ctypes.CDLL(None).prctl(36,1,0,0,0); os.fork() or os.fork() or os.execvp(\"sleep\", [\"sleep\", \"MARK\"]); time.sleep(1e6)'"},
	{"process group", "set -m; sleep MARK & fg"},
	{"reads stdin", "sleep MARK | cat; cat"},
}

// C016, C018, C020, C162: at the deadline every process of the run goes, whatever it did to get away. The session works on.
func TestC016_C018_C020_C162_Deadline(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		s := open(t, d, nil)
		mark := marker()
		var all []*engine.Process
		for _, tt := range staying {
			all = append(all, start(t, s, strings.ReplaceAll(tt.script, "MARK", mark), shell(&engine.RunOptions{Timeout: 2 * time.Second})))
		}
		for i, p := range all {
			if r := result(t, p, 2*time.Second+bound); r.Reason != engine.ReasonTimeout || r.ExitCode != 124 {
				t.Errorf("%s: %+v", staying[i].name, r)
			}
		}
		if left := withText("sleep " + mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		stillWorks(t, s)
	})
}

// C016, C018: Kill, the end of the context, and Close end the same scripts as the deadline does.
func TestC016_C018_KillAndClose(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		for _, how := range []string{"close", "kill", "context"} {
			if testing.Short() && how != "close" {
				continue
			}
			t.Run(how, func(t *testing.T) {
				s := open(t, d, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				mark := marker()
				var all []*engine.Process
				for _, tt := range staying {
					p, err := s.Run(ctx, strings.ReplaceAll(tt.script, "MARK", mark), shell(nil))
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, p)
				}
				awaitText(t, "sleep "+mark, 10)
				switch how {
				case "kill":
					for _, p := range all {
						p.Kill()
					}
				case "context":
					cancel()
				case "close":
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
				for _, p := range all {
					ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
				}
				if left := withText("sleep " + mark); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	})
}

// C018, C031: one rule: what a run starts dies with the run. Nothing of it keeps a session from answering or closing.
func TestC018_C031_DiesWithTheRun(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		s := open(t, d, nil)
		mark := marker()
		const beat = `nohup sh -c 'while :; do date >> beat.log; sleep 0.1; done' >/dev/null 2>&1 &
setsid sh -c 'exec >/dev/null 2>&1 </dev/null; sleep MARK' &
python3 -c 'import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.execvp("sleep", ["sleep", "MARK"])' &
while [ ! -s beat.log ]; do sleep 0.01; done
echo started`
		if got := output(t, s, strings.ReplaceAll(beat, "MARK", mark), shell(nil)); got != "started\n" {
			t.Errorf("stdout %q", got)
		}
		if left := withText("sleep " + mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		got := output(t, s, "a=$(wc -l < beat.log); sleep 0.5; b=$(wc -l < beat.log); echo $((b - a)); set -- /proc/[0-9]*; echo $#", shell(nil))
		if got != "0\n2\n" { // the init and the script
			t.Errorf("a later run sees %q", got)
		}
	})
}

// C031: with Background a run lasts as long as what it started. Kill and Close end it all.
func TestC031_Background(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		s := open(t, d, nil)
		out := exec(t, s, "(sleep 0.5; echo late) & echo early; exit 3", shell(&engine.RunOptions{Background: true}))
		if out.Stdout != "early\nlate\n" || out.Result.ExitCode != 3 {
			t.Errorf("stdout %q, %+v", out.Stdout, out.Result)
		}
		mark := marker()
		p := start(t, s, "setsid sleep "+mark+" >/dev/null 2>&1 & echo early", shell(&engine.RunOptions{Background: true}))
		awaitText(t, "sleep "+mark, 1)
		stillWorks(t, s) // in another cell meanwhile
		p.Kill()
		ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
		noneLeft(t, "sleep "+mark)
		p = start(t, s, "setsid sleep "+mark+" >/dev/null 2>&1 & echo early", shell(&engine.RunOptions{Background: true, Timeout: engine.NoTimeout}))
		awaitText(t, "sleep "+mark, 1)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
		noneLeft(t, "sleep "+mark)
	})
}

// C020, C093: there is no controlling terminal: /dev/tty fails at once, and no descriptor is one.
func TestC020_C093_NoTerminal(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		out := exec(t, s, `cat </dev/tty; echo "rc=$?"; (exec 3<>/dev/tty) 2>/dev/null; echo "rc=$?"; tty; ps -o tty= -p $$
for i in 0 1 2; do test -t $i && echo "$i is a terminal"; done; readlink /proc/self/fd/0`, shell(nil))
		if !strings.HasPrefix(out.Stdout, "rc=1\nrc=1\nnot a tty\n?") || strings.Contains(out.Stdout, "terminal") || !strings.Contains(out.Stdout, "/dev/null\n") {
			t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
		}
		printed(t, s, "import os\nprint(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.getpid() > 1)", python(nil), "True True True\n")
		// The two ways of pushing keys into a terminal, on one of the script's own: refused all the same.
		printed(t, s, `
import fcntl, os, pty, termios
a, b = pty.openpty()
for name, request in (("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541C), ("high bits", 0x5412 | 1 << 32)):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
    print(name, libc.ioctl(b, request, b"x"), ctypes.get_errno())
print(os.isatty(b))
`, python(nil), lines("TIOCSTI -1 1", "TIOCLINUX -1 1", "high bits -1 1", "True"))
	})
}

// C021: signals are as by default: nothing ignored, nothing blocked, and SIGPIPE kills.
func TestC021_Signals(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, `yes | head -n 1; echo "${PIPESTATUS[0]}"; grep -E '^Sig(Ign|Blk)' /proc/self/status; python3 -c 'print(open("/proc/self/status").read().count("SigBlk:\t0000000000000000"))'`,
			shell(nil), lines("y", "141", "SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000", "1"))
		// Python itself ignores SIGPIPE and SIGXFSZ.
		printed(t, s, "import re\nprint(*re.findall('^Sig(?:Blk|Ign):\\t(.*)$', open('/proc/self/status').read(), re.M))", python(nil), "0000000000000000 0000000001001000\n")
	})
}

// C021: nor does a script inherit what the program that embeds us was started with: ignored and blocked signals, as
// nohup(1) and some supervisors leave them.
func TestC021_InheritedSignals(t *testing.T) {
	need(t, "python3")
	names := backendNames(t)
	inner := child(t, "script", append([]string{"grep -E '^Sig(Ign|Blk)' /proc/self/status; yes | head -n 1; echo ${PIPESTATUS[0]}"}, names...)...)
	const deaf = `import os, signal, sys
for s in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)) - {signal.SIGURG})
os.execv(sys.argv[1], sys.argv[1:])`
	cmd := osexec.Command("/usr/bin/python3", append([]string{"-c", deaf, inner.Path}, inner.Args[1:]...)...)
	cmd.ExtraFiles, cmd.Stderr = inner.ExtraFiles, os.Stderr
	want := fmt.Sprintf("%q", lines("SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000", "y", "141"))
	for i, line := range childOutput(t, cmd) {
		if line != names[i]+" "+want {
			t.Errorf("%s, want %s", line, want)
		}
	}
}

// script is a program that runs a script, its first argument, on each of the backends that follow.
func script(args []string) int {
	for _, name := range args[1:] {
		d, err := native.New(&native.Options{Backend: native.Backend(name)})
		if err != nil {
			return failed(err)
		}
		s, err := d.Open(context.Background(), nil)
		if err != nil {
			return failed(err)
		}
		out, err := s.Exec(context.Background(), args[0], shell(nil))
		if err := errors.Join(err, s.Close(), d.Close()); err != nil {
			return failed(err)
		}
		fmt.Fprintf(os.Stdout, "%s %q\n", name, out.Stdout)
	}
	return 0
}

// C023: a script that reads where there is nothing to read is at the end at once.
func TestC023_NoStdin(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		printed(t, s, `read -r x; echo "read rc=$?"; cat; python3 -c 'input()' 2>&1 | tail -n 1; wc -c; head -c1 /dev/stdin | wc -c; head -c1 /dev/fd/0 | wc -c; sh -c 'cat; echo end'`,
			shell(nil), lines("read rc=1", "EOFError: EOF when reading a line", "0", "0", "0", "end"))
		printed(t, s, "import sys\nprint(repr(sys.stdin.read()), sys.stdin.isatty())\ntry: input()\nexcept EOFError: print('EOF')", python(nil), lines("'' False", "EOF"))
	})
}

// C024: exit codes and deaths by signal, the same on both backends and for both kinds of script.
func TestC024_ExitStatus(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, tt := range []struct {
			script string
			code   int
			signal int
		}{
			{"exit 0", 0, 0},
			{"exit 1", 1, 0},
			{"exit 300", 44, 0},
			{"exit -1", 255, 0},
			{"false", 1, 0},
			{"exit 137", 137, 0}, // no signal, although it looks like one
			{"/etc/passwd", 126, 0},
			{"/tmp", 126, 0},
			{"no_such_cmd_xyz", 127, 0},
			{"if", 2, 0},
			{"kill -SEGV $$", 139, 11},
			{"kill -TERM $$", 143, 15},
			{"kill -KILL $$", 137, 9},
			{"kill -HUP $$", 129, 1},
			{"kill -PIPE $$", 141, 13},
			{"kill -ABRT $$", 134, 6},
			{"kill -USR1 $$", 138, 10},
			{"kill -34 $$", 162, 34},
			{"exec sh -c 'kill -SEGV $$'", 139, 11},
			{"sh -c 'kill -SEGV $$'; exit $?", 139, 0}, // it was a child
			{"python3 -c 'import os; os.abort()'", 134, 0},
			{"exec python3 -c 'import os; os.abort()'", 134, 6},
			{"trap 'exit 7' TERM; kill -TERM $$; sleep 5", 7, 0},
		} {
			checkStatus(t, s, tt.script, shell(nil), tt.code, tt.signal)
		}
		for script, want := range map[string][2]int{
			"raise ValueError": {1, 0}, "import sys; sys.exit(300)": {44, 0}, "import os; os.abort()": {134, 6}, "import os; os._exit(5)": {5, 0},
			"import os; os.kill(os.getpid(), 9)": {137, 9}, "def f(: pass": {1, 0}, "import ctypes; ctypes.string_at(0)": {139, 11},
			"import os; os.kill(os.getpid(), 2)": {130, 2},
		} {
			checkStatus(t, s, script, python(nil), want[0], want[1])
		}
	})
}

func checkStatus(t *testing.T, s *engine.Session, script string, opts *engine.RunOptions, code, signal int) {
	t.Helper()
	r := exec(t, s, script, opts).Result
	reason := engine.ReasonExited
	if signal != 0 {
		reason = engine.ReasonSignaled
	}
	if r.ExitCode != code || r.Signal != signal || r.Reason != reason {
		t.Errorf("%q: code %d, signal %d, reason %s; want %d, %d, %s", script, r.ExitCode, r.Signal, r.Reason, code, signal, reason)
	}
}

// A script cannot end its own init, and to kill all that it sees ends the run alone.
func TestC024_KillsAll(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, sig := range []string{"KILL", "TERM", "STOP", "SEGV", "INT", "PWR"} {
			out := exec(t, s, "kill -"+sig+" 1; echo $?; test -d /proc/1 && echo there", shell(nil))
			if !strings.HasSuffix(out.Stdout, "there\n") {
				t.Errorf("%s: %+v", sig, out)
			}
		}
		r := exec(t, s, "sleep 1000 & kill -KILL -1; echo still; exit 4", shell(nil)).Result
		if r.ExitCode != 4 && r.Signal != 9 {
			t.Errorf("%+v", r)
		}
		stillWorks(t, s)
	})
}

// C009, C018: a run that a Go program gave up on leaves nothing that a caller could wait for.
func TestC018_ClosedWhileStarting(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		mark := marker()
		for i := range 20 {
			s, err := d.Open(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.Exec(context.Background(), "sleep "+mark, shell(nil))
				done <- err
			}()
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil && !errors.Is(err, engine.ErrClosed) {
				t.Error(err)
			}
		}
		noneLeft(t, "sleep "+mark)
	})
}
