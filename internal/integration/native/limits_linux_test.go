package nativetests

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// C028: a bounded fork bomb stops at Limits.Processes, for processes and for threads, while another session answers;
// it is gone with its run, and the session works on.
func TestC028_ForkBomb(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		needCgroup(t, d)
		nothingMore(t)
		const most = 40
		s := open(t, d, &engine.Options{Limits: engine.Limits{Processes: most}, Timeout: bound})
		other := open(t, d, nil)
		mark := marker()
		for name, script := range map[string]string{
			// None of them makes more than a few hundred, should the limit not hold.
			"shell":  "exec python3 -c 'import os\nfor i in range(400):\n  try:\n    if os.fork() == 0: os.execvp(\"sleep\", [\"sleep\", \"MARK\"])\n  except OSError as e: print(i, e.errno, flush=True); break\nos.execvp(\"sleep\", [\"sleep\", \"MARK\"])'",
			"setsid": "exec python3 -c 'import os\nfor i in range(400):\n  try:\n    if os.fork() == 0: os.setsid(); os.execvp(\"sleep\", [\"sleep\", \"MARK\"])\n  except OSError as e: print(i, e.errno, flush=True); break\nos.execvp(\"sleep\", [\"sleep\", \"MARK\"])'",
			"thread": "exec python3 -c 'import os, threading, time\nfor i in range(400):\n  try: threading.Thread(target=time.sleep, args=(1e6,)).start()\n  except RuntimeError: print(i, 11, flush=True); break\nos.execvp(\"sleep\", [\"sleep\", \"MARK\"])'",
		} {
			p := start(t, s, strings.ReplaceAll(script, "MARK", mark), shell(nil))
			line := firstLine(p)
			made, errno, _ := strings.Cut(line, " ")
			n, err := strconv.Atoi(made)
			if err != nil || errno != "11" || n < most/2 || n > most+16 { // EAGAIN; the init has some for itself
				t.Errorf("%s: %q, with a limit of %d", name, line, most)
			}
			stillWorks(t, other)
			p.Kill()
			ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
			noneLeft(t, "sleep "+mark)
			stillWorks(t, s)
		}
		// The bomb of the books, which goes on and on until the deadline. Should the limit not hold, another one does.
		p := start(t, s, "ulimit -u 3000; bomb() { bomb | bomb & }; bomb; while :; do :; done", shell(&engine.RunOptions{Timeout: time.Second}))
		stillWorks(t, other)
		ended(t, result(t, p, time.Second+bound), engine.ReasonTimeout, 124)
		stillWorks(t, s)
	})
}

// firstLine reads the first line of a run, and keeps the rest from holding it up.
func firstLine(p *engine.Process) string {
	for line := range p.StdoutLines() {
		return line
	}
	return ""
}

// hogs take more memory than the limit, 1 GiB at most. In the first three it is the script itself that is killed.
var hogs = []struct {
	name, script string
	itself       bool
}{
	{"python", "exec python3 -c 'b = []\nfor i in range(64): b.append(bytearray(16 << 20))'", true},
	{"shell", "a=xxxxxxxxxxxxxxxx; for i in $(seq 26); do a=$a$a; done", true},
	{"perl", "exec perl -e '$a = \"x\" x (1 << 30)'", true},
	{"child", "python3 -c 'b = []\nfor i in range(64): b.append(bytearray(16 << 20))'; exit $?", false},
	{"quiet child", "python3 -c 'b = []\nfor i in range(64): b.append(bytearray(16 << 20))'; exit 0", false},
	{"many children", "for i in $(seq 12); do python3 -c 'b = bytearray(80 << 20)\nimport time; time.sleep(1)' & done; wait; exit 0", false},
	{"shared memory", "exec python3 -c 'import mmap\nb = mmap.mmap(-1, 1 << 30)\nfor i in range(0, 1 << 30, 4096): b[i] = 1'", true},
	{"memfd", "exec python3 -c 'import os\nf = os.memfd_create(\"x\")\nfor i in range(64): os.write(f, bytes(16 << 20))'", true},
	{"page tables", "exec python3 -c 'import mmap\nb = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | 0x4000)\nfor i in range(0, 1 << 40, 2 << 21): b[i]'", true},
}

// C029: out of memory is told as such, whoever of the run took it; session, init and embedding program live.
func TestC029_OutOfMemory(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		needCgroup(t, d)
		nothingMore(t)
		const limit = 128 << 20
		s := open(t, d, &engine.Options{Limits: engine.Limits{Memory: limit}})
		for _, tt := range hogs {
			t.Run(tt.name, func(t *testing.T) {
				out := exec(t, s, tt.script, shell(nil))
				r := out.Result
				switch {
				case tt.itself && (r.Reason != engine.ReasonMemory || r.ExitCode != 137):
					t.Errorf("%+v, stderr %q", r, out.Stderr)
				case r.Reason != engine.ReasonMemory && !strings.Contains(r.Advice, "Limits.Memory"):
					t.Errorf("nothing tells of the memory limit: %+v", r)
				}
				if r.PeakMemory == engine.Unknown || r.PeakMemory > limit || r.PeakMemory < limit/2 {
					t.Errorf("peak memory %d", r.PeakMemory)
				}
				stillWorks(t, s)
			})
		}
		out := exec(t, s, "import sys\nb = []\nwhile len(b) < 1024: b.append(bytearray(1 << 20))", python(nil))
		ended(t, out.Result, engine.ReasonMemory, 137)
		// A run that stays below is told of nothing that an earlier one did.
		out = exec(t, s, "python3 -c 'bytearray(64 << 20)'", shell(nil))
		ended(t, out.Result, engine.ReasonExited, 0)
		if out.Result.Advice != "" {
			t.Errorf("advice %q", out.Result.Advice)
		}
	})
}

// C046: a full /tmp or /dev/shm is an error for the script that fills it, not a death, also when the memory limit
// is as small as they are; df shows the limits, and both are empty and whole for the next run.
func TestC046_FullTmp(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, &engine.Options{Limits: engine.Limits{Tmp: 16 << 20, TmpFiles: 100}})
		for range 2 {
			got := output(t, s, `for dir in /tmp /dev/shm; do
head -c 80000000 /dev/zero 2>/dev/null > $dir/fill; echo "rc=$?"
head -c 1 /dev/zero > $dir/one 2>&1; echo "rc=$?"
wc -c < $dir/fill
df -B1 --output=size $dir | tail -n 1 | tr -d ' '
rm $dir/fill; head -c 1000000 /dev/zero > $dir/again && echo again
i=0; while (: > $dir/n$i) 2>/dev/null && [ $i -lt 300 ]; do i=$((i+1)); done; echo "files $((i < 101 && i > 90))"
done`, shell(nil))
			one := lines("rc=1", "rc=1", "16777216", "16777216", "again", "files 1")
			if got != one+one {
				t.Errorf("stdout %q", got)
			}
		}
		printed(t, s, "import errno\ntry:\n  with open('/tmp/f', 'wb') as f:\n    for _ in range(100): f.write(bytes(1 << 20))\nexcept OSError as e: print(errno.errorcode[e.errno])", python(nil), "ENOSPC\n")
	})
}

// C046, C029: what is in the temporary directories counts as memory of the run. A run that dies of it is told so; the next finds both empty.
func TestC046_C029_TmpIsMemory(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		needCgroup(t, d)
		s := open(t, d, &engine.Options{Limits: engine.Limits{Memory: 96 << 20, Tmp: 512 << 20}})
		for range 2 {
			for _, dir := range []string{"/tmp", "/dev/shm"} {
				out := exec(t, s, "head -c 400000000 /dev/zero > "+dir+"/fill; echo rc=$?", shell(nil))
				if r := out.Result; r.Reason != engine.ReasonMemory && r.Advice == "" {
					t.Errorf("%s: stdout %q, %+v", dir, out.Stdout, r)
				}
				printed(t, s, "ls -A /tmp /dev/shm; head -c 1000000 /dev/zero > "+dir+"/f && echo ok", shell(nil), lines("/dev/shm:", "", "/tmp:", "sandbox-work", "ok"))
			}
		}
	})
}

// C110: a limit that was asked for holds, or opening fails, or the session says that it does not hold. Never silence.
func TestC110_Enforceable(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		unenforced := d.Info().Unenforced
		for name, limits := range map[string]engine.Limits{
			"Memory": {Memory: 128 << 20}, "CPU": {CPU: time.Second}, "Processes": {Processes: 64}, "Disk": {Disk: 1 << 20}, "DiskFiles": {DiskFiles: 100},
			"Tmp": {Tmp: 1 << 20}, "FileSize": {FileSize: 1 << 20}, "OpenFiles": {OpenFiles: 64}, "Output": {Output: 1 << 20}, "TmpFiles": {TmpFiles: 50},
		} {
			ofDisk := name == "Disk" || name == "DiskFiles"
			for _, dir := range []string{"", t.TempDir()} {
				// The limits of the disk hold in a directory that is not given.
				out := slices.Contains(unenforced, name) && (!ofDisk || dir != "")
				s, err := d.Open(t.Context(), &engine.Options{Limits: limits, WorkDir: dir})
				if out != errors.Is(err, engine.ErrNotEnforceable) || !out && err != nil {
					t.Errorf("Limits.%s, work directory %q: Open = %v; the driver cannot enforce %v", name, dir, err, unenforced)
				}
				if err == nil {
					stillWorks(t, s)
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				}
				s = open(t, d, &engine.Options{Limits: limits, WorkDir: dir, BestEffort: true})
				if told := s.Info().Unenforced[engine.TierNative]; out != slices.Contains(told, name) {
					t.Errorf("Limits.%s, work directory %q, with BestEffort: told of %v", name, dir, told)
				}
				stillWorks(t, s)
			}
		}
		if hasCgroup(d) == slices.Contains(unenforced, "Memory") {
			t.Errorf("cgroup %q, not enforced: %v", d.Info().Enforced["cgroup"], unenforced)
		}
	})
}

// C110: a script sees no cgroup file system, and its own group as the root.
func TestC110_NoCgroupsInside(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		got := output(t, s, "grep -cE '^[^ ]+ [^ ]+ cgroup' /proc/mounts; ls /sys 2>/dev/null; cut -d: -f3 /proc/self/cgroup | sort -u", shell(nil))
		if !strings.HasPrefix(got, "0\n") || strings.Contains(got, "sandbar-") {
			t.Errorf("stdout %q", got)
		}
	})
}

// C111: the memory limit is one of memory, not of address space: what reserves much and uses little starts.
func TestC111_AddressSpace(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		if hasCgroup(d) {
			s = open(t, d, &engine.Options{Limits: engine.Limits{Memory: 512 << 20}})
		}
		printed(t, s, "ulimit -v; python3 -c 'import mmap; mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | 0x4000); print(\"reserve ok\")'", shell(nil), lines("unlimited", "reserve ok"))
		for program, tt := range map[string]struct{ script, want string }{
			"node": {`node -e 'fetch("http://127.0.0.1:1").catch(e => console.log("node ok"))'`, "node ok\n"},
			"java": {"java -version 2>&1 | grep -c 'version \"'", "1\n"},
		} {
			t.Run(program, func(t *testing.T) {
				need(t, program)
				printed(t, s, tt.script, shell(nil), tt.want)
			})
		}
	})
}

// The limits of each process hold, soft and hard.
func TestC110_Rlimits(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, &engine.Options{Limits: engine.Limits{OpenFiles: 100, FileSize: 1 << 20}})
		printed(t, s, `
import errno, os, resource, signal
print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_FSIZE), max(resource.getrlimit(resource.RLIMIT_CORE)) <= 1) # 1 is none, core(5)
held = []
try:
    while True: held.append(os.open("/dev/null", os.O_RDONLY))
except OSError as e: print(errno.errorcode[e.errno], len(held) + 3)
for fd in held: os.close(fd)
for raised in ((resource.RLIMIT_NOFILE, (200, 200)), (resource.RLIMIT_FSIZE, (-1, -1)), (resource.RLIMIT_CORE, (-1, -1))):
    try: resource.setrlimit(*raised); print("raised")
    except (ValueError, PermissionError): print("refused")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for path in ("f", "/tmp/f"):
    with open(path, "wb", 0) as f:
        print(f.write(bytes(2 << 20)))
        try: f.write(b"x")
        except OSError as e: print(errno.errorcode[e.errno])
`, python(nil), lines("(100, 100) (1048576, 1048576) True", "EMFILE 100", "refused", "refused", "refused", "1048576", "EFBIG", "1048576", "EFBIG"))
		r := exec(t, s, "exec head -c 3000000 /dev/zero > f", shell(nil)).Result
		if r.ExitCode != 153 || r.Signal != 25 {
			t.Errorf("%+v", r)
		}
	})
}

// The processor time of all processes of a run counts, not of each.
func TestC110_CPU(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		needCgroup(t, d)
		s := open(t, d, &engine.Options{Limits: engine.Limits{CPU: 500 * time.Millisecond}, Timeout: bound})
		for _, script := range []string{
			"while :; do :; done",
			"for i in 1 2 3 4; do (while :; do :; done) & done; wait",
			"while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done); done", // each one takes little
			"setsid python3 -c 'while True: pass' & sleep 1000",
		} {
			r := exec(t, s, script, shell(nil)).Result
			if r.Reason != engine.ReasonCPU || r.CPUTime < 250*time.Millisecond || r.CPUTime > 20*time.Second {
				t.Errorf("%s: %+v", script, r)
			}
		}
		printed(t, s, "python3 -c 'for i in range(10**6): pass'; echo ok", shell(nil), "ok\n") // counted from its own start
	})
}

// Figures are measured, or marked unknown.
func TestC110_Figures(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		r := exec(t, s, "python3 -c 'b = bytearray(60 << 20)\nfor i in range(3 * 10**6): pass'", shell(nil)).Result
		if r.CPUTime < 20*time.Millisecond || r.WallTime < r.CPUTime/4 {
			t.Errorf("%+v", r)
		}
		if hasCgroup(d) && (r.PeakMemory < 60<<20 || r.PeakMemory > 200<<20) {
			t.Errorf("peak memory %d", r.PeakMemory)
		}
		small := exec(t, s, ":", shell(nil)).Result
		if hasCgroup(d) && small.PeakMemory != engine.Unknown && small.PeakMemory > r.PeakMemory-(30<<20) {
			t.Errorf("a run that needs nothing: peak memory %d after %d", small.PeakMemory, r.PeakMemory)
		}
		if small.CPUTime > r.CPUTime/2 {
			t.Errorf("a run that does nothing: %s", fmt.Sprint(small.CPUTime))
		}
	})
}
