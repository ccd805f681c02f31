//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// plainPatience is how long something may take that must end.
const plainPatience = 60 * time.Second

// openNoneSession opens a session of the backend none, with the network that it needs.
func openNoneSession(t testing.TB, opts *engine.Options) *engine.Session {
	t.Helper()
	var o engine.Options
	if opts != nil {
		o = *opts
	}
	if o.Network == "" {
		o.Network = netpolicy.Open
	}
	d := plainDriver(t, None)
	s, err := d.Open(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// plainDriver is a driver of a backend without cells. What its runs leave behind in the temporary directory fails the test.
func plainDriver(t testing.TB, b Backend) *Driver {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	d, err := New(&Options{Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(tmp)
		if err != nil || len(left) > 0 {
			t.Errorf("the temporary directory holds %v, %v", left, err)
		}
	})
	return d
}

// plainStart starts a shell script.
func plainStart(t testing.TB, s *engine.Session, script string, opts *engine.RunOptions) *engine.Process {
	t.Helper()
	var o engine.RunOptions
	if opts != nil {
		o = *opts
	}
	if o.Type == "" {
		o.Type = engine.Shell
	}
	if o.Type == engine.Python && findPython().path == "" {
		t.Skip("no python3 here")
	}
	p, err := s.Run(t.Context(), script, &o)
	if err != nil {
		t.Fatalf("Run(%q): %v", script, err)
	}
	return p
}

// plainExec runs a shell script to its end.
func plainExec(t testing.TB, s *engine.Session, script string, opts *engine.RunOptions) *engine.Output {
	t.Helper()
	return plainWait(t, plainStart(t, s, script, opts))
}

func plainWait(t testing.TB, p *engine.Process) *engine.Output {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), plainPatience)
	defer cancel()
	out, err := p.Communicate(ctx, nil)
	if err != nil {
		t.Fatalf("Communicate: %v", err)
	}
	return out
}

// plainOutput runs a shell script that must exit with 0.
func plainOutput(t testing.TB, s *engine.Session, script string, opts *engine.RunOptions) string {
	t.Helper()
	out := plainExec(t, s, script, opts)
	if out.Result.ExitCode != 0 || out.Result.Reason != engine.ReasonExited {
		t.Errorf("%q ended with %+v\n%s", script, out.Result, out.Stderr)
	}
	return string(out.Stdout)
}

func wantPlainEnd(t testing.TB, r engine.Result, reason engine.Reason, code int) {
	t.Helper()
	if r.Reason != reason || r.ExitCode != code {
		t.Errorf("ended with %s, code %d; want %s, code %d", r.Reason, r.ExitCode, reason, code)
	}
}

// wantPlainGone checks that processes that a script named do not run any more.
func wantPlainGone(t testing.TB, pids string) {
	t.Helper()
	fields := strings.Fields(pids)
	if len(fields) == 0 {
		t.Error("the script names no process")
	}
	for _, field := range fields {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if plainRunning(pid) {
			t.Errorf("process %d goes on", pid)
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// plainRunning reports whether there is such a process. Where zombies cannot be told apart, init may take a moment.
func plainRunning(pid int) bool {
	for range 100 {
		if unix.Kill(pid, 0) != nil {
			return false
		}
		if sid, err := unix.Getsid(pid); err == nil && runtime.GOOS == "linux" {
			members, err := sessionMembers(sid)
			return pid == sid || err != nil || slices.Contains(members, pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func TestNone_Result(t *testing.T) {
	s := openNoneSession(t, nil)
	out := plainExec(t, s, "echo out; echo err >&2; exit 3", nil)
	r := out.Result
	if string(out.Stdout) != "out\n" || string(out.Stderr) != "err\n" {
		t.Errorf("output %q, %q", out.Stdout, out.Stderr)
	}
	wantPlainEnd(t, r, engine.ReasonExited, 3)
	if r.Tier != engine.TierNative || r.Backend != string(None) || r.Signal != 0 {
		t.Errorf("result %+v", r)
	}
	if r.WallTime <= 0 || r.CPUTime <= 0 || r.PeakMemory != engine.Unknown {
		t.Errorf("figures %+v", r)
	}
	if got := s.Info().Tiers[0].Unmeasured; !slices.Equal(got, []string{"PeakMemory"}) {
		t.Errorf("Info says that %v is not measured", got)
	}
	for name, script := range map[string]string{
		"python":  "import sys\nprint('hello', sys.argv[1:], __file__.endswith('/main.py'))\nsys.exit(5)",
		"invalid": "this is no python",
	} {
		out := plainExec(t, s, script, &engine.RunOptions{Type: engine.Python, Args: []string{"", "a b", "ü"}})
		want, code := "hello ['', 'a b', 'ü'] True\n", 5
		if name == "invalid" {
			want, code = "", 1
		}
		if string(out.Stdout) != want || out.Result.ExitCode != code {
			t.Errorf("%s: %q, %+v, %s", name, out.Stdout, out.Result, out.Stderr)
		}
	}
}

func TestNone_Signal(t *testing.T) {
	s := openNoneSession(t, nil)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGHUP, syscall.SIGPIPE} {
		r := plainExec(t, s, fmt.Sprintf("kill -%d $$; sleep 10", sig), nil).Result
		wantPlainEnd(t, r, engine.ReasonSignaled, 128+int(sig))
		if r.Signal != int(sig) {
			t.Errorf("signal %d of %d", r.Signal, sig)
		}
	}
}

func TestNone_Environment(t *testing.T) {
	t.Setenv("SANDBAR_CANARY", "canary")
	s := openNoneSession(t, nil)
	dir := s.Info().HostDir
	if err := s.PutBytes(t.Context(), "sub/f", nil, nil); err != nil { // makes the directory
		t.Fatal(err)
	}
	env := plainOutput(t, s, "env", &engine.RunOptions{Cwd: "sub", Env: map[string]string{"A": engine.WorkDir + "/x", "GODEBUG": "nonsense=1"}})
	for _, want := range []string{"HOME=" + dir, "PWD=" + dir + "/sub", "A=" + engine.WorkDir + "/x", "USER=sandbox", "GODEBUG=nonsense=1"} {
		if !strings.Contains("\n"+env, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, env)
		}
	}
	if strings.Contains(env, "canary") {
		t.Errorf("the environment of this process is there:\n%s", env)
	}
	// This would make a Go program talk, if it were in its environment.
	if out := plainExec(t, s, ":", &engine.RunOptions{Env: map[string]string{"GODEBUG": "inittrace=1"}}); len(out.Stderr) > 0 {
		t.Errorf("the script's environment reaches this program's own start: %s", out.Stderr)
	}
	for cwd, want := range map[string]string{"": dir, "sub": dir + "/sub", engine.WorkDir + "/sub": dir + "/sub"} {
		if got := plainOutput(t, s, "pwd -P", &engine.RunOptions{Cwd: cwd}); got != want+"\n" {
			t.Errorf("cwd %q is %q", cwd, got)
		}
	}
	// A module beside the script, as it seems to lie in the working directory.
	if err := s.PutBytes(t.Context(), "sub/beside.py", []byte("x = 'imported'"), nil); err != nil {
		t.Fatal(err)
	}
	if got := plainOutput(t, s, "import beside; print(beside.x)", &engine.RunOptions{Type: engine.Python, Cwd: "sub"}); got != "imported\n" {
		t.Errorf("import: %q", got)
	}
}

func TestNone_TemporaryDirectory(t *testing.T) {
	s := openNoneSession(t, nil)
	// What a script makes unreadable has to go too.
	const script = `cd "$TMPDIR" && mkdir -p a/b && echo x > a/b/f && ln -s / a/link && chmod 000 a/b a && pwd && dirname "$0"`
	lines := strings.Fields(plainOutput(t, s, script, nil))
	if len(lines) != 2 || !strings.HasPrefix(lines[0], filepath.Dir(lines[1])) {
		t.Fatalf("TMPDIR and the script's directory are %q", lines)
	}
	for _, dir := range lines {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
		if strings.HasPrefix(dir, s.Info().HostDir) {
			t.Errorf("%s lies in the work directory", dir)
		}
	}
	if got := plainOutput(t, s, `echo "$TMPDIR"`, &engine.RunOptions{Env: map[string]string{"TMPDIR": "/elsewhere"}}); got != "/elsewhere\n" {
		t.Errorf("the caller's TMPDIR is %q", got)
	}
}

func TestNone_CleanStart(t *testing.T) {
	// This process has a descriptor that it does not close on execution, and ignores signals.
	fd, err := syscall.Dup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	ignored := []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGTSTP}
	signal.Ignore(ignored...)
	defer signal.Reset(ignored...)
	s := openNoneSession(t, nil)
	const script = `
import os, signal
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(256) if is_open(fd)])
print([s.name for s in (signal.SIGHUP, signal.SIGUSR1, signal.SIGTSTP, signal.SIGCHLD) if signal.getsignal(s) != signal.SIG_DFL])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), [os.get_blocking(fd) for fd in range(3)])
print(os.getpid() == os.getsid(0) == os.getpgid(0), oct(os.umask(0)))
try: os.open('/dev/tty', os.O_RDWR)
except OSError: print('no terminal')`
	const want = "[0, 1, 2]\n[]\nset() [True, True, True]\nTrue 0o22\nno terminal\n"
	if got := plainOutput(t, s, script, &engine.RunOptions{Type: engine.Python}); got != want {
		t.Errorf("the script finds\n%s, want\n%s", got, want)
	}
}

func TestNone_Limits(t *testing.T) {
	// Where this process may have none, it tries to have a core file first.
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil {
		t.Fatal(err)
	}
	if unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1 << 20, Max: max(core.Max, 1<<20)}) == nil {
		defer func() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &core) }()
	}
	s := openNoneSession(t, &engine.Options{Limits: engine.Limits{OpenFiles: 40, FileSize: 5000}})
	if got := plainOutput(t, s, "ulimit -n; ulimit -Hn; ulimit -c", nil); got != "40\n40\n0\n" {
		t.Errorf("limits %q", got)
	}
	wantPlainEnd(t, plainExec(t, s, "exec head -c 6000 /dev/zero > f", nil).Result, engine.ReasonSignaled, 128+int(unix.SIGXFSZ))
	if info, err := s.Stat(t.Context(), "f"); err != nil || info.Size != 5000 {
		t.Errorf("the file: %+v, %v", info, err)
	}
	d := plainDriver(t, None)
	for _, name := range unenforcedPlain {
		l := engine.Limits{}
		switch name {
		case "Memory":
			l.Memory = 1 << 30
		case "CPU":
			l.CPU = time.Second
		case "Tmp":
			l.Tmp = 1 << 20
		case "TmpFiles":
			l.TmpFiles = 10
		case "Disk":
			l.Disk = 1 << 20
		case "DiskFiles":
			l.DiskFiles = 10
		case "Processes":
			l.Processes = 10
		default:
			t.Fatalf("no case for %s", name)
		}
		_, err := d.Open(t.Context(), &engine.Options{Network: netpolicy.Open, Limits: l})
		if !errors.Is(err, engine.ErrNotEnforceable) || !strings.Contains(err.Error(), name) {
			t.Errorf("Open with Limits.%s = %v", name, err)
		}
	}
}

func TestNone_Refused(t *testing.T) {
	d := plainDriver(t, None)
	for name, opts := range map[string]*engine.Options{
		"network by default": nil,
		"network blocked":    {Network: netpolicy.Blocked},
	} {
		_, err := d.Open(t.Context(), opts)
		if !errors.Is(err, engine.ErrNotEnforceable) || !strings.Contains(fmt.Sprint(err), "Options.Network") {
			t.Errorf("%s: Open = %v", name, err)
		}
		if opts == nil {
			opts = &engine.Options{}
		}
		opts.BestEffort = true
		s, err := d.Open(t.Context(), opts)
		if err != nil {
			t.Fatalf("%s, best effort: %v", name, err)
		}
		plainOutput(t, s, ":", nil)
		s.Close()
	}
	granted := plainGrant(t)
	_, err := d.Open(t.Context(), &engine.Options{Network: netpolicy.Open, ReadOnly: []string{granted}})
	if !errors.Is(err, engine.ErrNotEnforceable) || !strings.Contains(err.Error(), "ReadOnly") {
		t.Errorf("ReadOnly: Open = %v", err)
	}
	s := openNoneSession(t, &engine.Options{ReadWrite: []string{granted}})
	plainOutput(t, s, `echo data > "$1"/f`, &engine.RunOptions{Args: []string{granted}})
	if data, err := os.ReadFile(filepath.Join(granted, "f")); string(data) != "data\n" {
		t.Errorf("the granted file holds %q, %v", data, err)
	}
}

// plainGrant makes a directory that can be granted: what is below /tmp cannot.
func plainGrant(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sandbar-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestNone_RunNetwork(t *testing.T) {
	s := openNoneSession(t, nil)
	_, err := s.Run(t.Context(), ":", &engine.RunOptions{Type: engine.Shell, Network: netpolicy.Blocked})
	if !errors.Is(err, engine.ErrNotEnforceable) || !errors.Is(err, engine.ErrNotStarted) {
		t.Errorf("Run = %v", err)
	}
	s = openNoneSession(t, &engine.Options{BestEffort: true})
	plainOutput(t, s, ":", &engine.RunOptions{Network: netpolicy.Blocked})
}

func TestNone_GrantReadOnly(t *testing.T) {
	spec := &engine.SessionSpec{Network: netpolicy.Open, Grants: []engine.Grant{{Path: "/a", Writable: true}}}
	if err := refuseNone(spec); err != nil {
		t.Errorf("a writable grant: %v", err)
	}
	spec.Grants = append(spec.Grants, engine.Grant{Path: "/b"})
	if err := refuseNone(spec); !errors.Is(err, engine.ErrNotEnforceable) || !strings.Contains(err.Error(), `"/b"`) {
		t.Errorf("a grant for reading: %v", err)
	}
	spec.BestEffort = true
	if err := refuseNone(spec); err != nil {
		t.Errorf("best effort: %v", err)
	}
}

func TestNone_Info(t *testing.T) {
	s := openNoneSession(t, &engine.Options{BestEffort: true, Limits: engine.Limits{Memory: 1 << 30}})
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "isolates nothing") {
		t.Errorf("Warnings = %q", w)
	}
	if got := s.Info().Unenforced[engine.TierNative]; !slices.Equal(got, []string{"Memory"}) {
		t.Errorf("Unenforced = %q", got)
	}
	d := plainDriver(t, None)
	if err := d.Prepare(t.Context()); err != nil {
		t.Errorf("Prepare = %v", err)
	}
}

func TestNone_Stdin(t *testing.T) {
	s := openNoneSession(t, nil)
	if got := plainOutput(t, s, "cat; echo end", nil); got != "end\n" {
		t.Errorf("without input: %q", got)
	}
	data := bytes.Repeat([]byte("0123456789\x00\xff\n"), 100_000)
	p := plainStart(t, s, "cat", &engine.RunOptions{Stdin: bytes.NewReader(data), MaxOutput: -1})
	if out := plainWait(t, p); !bytes.Equal(out.Stdout, data) {
		t.Errorf("%d bytes of %d come back", len(out.Stdout), len(data))
	}
	p = plainStart(t, s, `read -r x; echo "got $x"; cat`, &engine.RunOptions{StdinPipe: true})
	lines := p.StdoutLines()
	if _, err := io.WriteString(p.Stdin(), "one\n"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range lines {
		got = append(got, line)
		if len(got) == 1 {
			_, _ = io.WriteString(p.Stdin(), "two")
			p.Stdin().Close()
		}
	}
	if !slices.Equal(got, []string{"got one", "two"}) {
		t.Errorf("lines %q", got)
	}
	// Input that never comes does not keep a run, and what nobody reads does not either.
	r, w := io.Pipe()
	defer w.Close()
	wantPlainEnd(t, plainExec(t, s, "exit 4", &engine.RunOptions{Stdin: r}).Result, engine.ReasonExited, 4)
	wantPlainEnd(t, plainExec(t, s, "exit 4", &engine.RunOptions{Stdin: bytes.NewReader(data)}).Result, engine.ReasonExited, 4)
}

func TestNone_Output(t *testing.T) {
	s := openNoneSession(t, nil)
	out := plainExec(t, s, `printf 'ok\377\376\0\r\nlast\303'; printf err >&2`, nil)
	if string(out.Stdout) != "ok\xff\xfe\x00\r\nlast\xc3" || string(out.Stderr) != "err" {
		t.Errorf("output %q, %q", out.Stdout, out.Stderr)
	}
	out = plainExec(t, s, "head -c 3000000 /dev/zero; echo end >&2", &engine.RunOptions{MaxOutput: 1000})
	if len(out.Stdout) != 1000 || !out.Result.Truncated || out.Result.StdoutBytes != 3000000 || string(out.Stderr) != "end\n" {
		t.Errorf("%d bytes, %+v, %q", len(out.Stdout), out.Result, out.Stderr)
	}
}

func TestNone_Timeout(t *testing.T) {
	s := openNoneSession(t, nil)
	for name, script := range map[string]string{
		"sleep":    "echo $$; sleep 1000",
		"busy":     "echo $$; while :; do :; done",
		"stubborn": "trap '' TERM INT HUP; echo $$; sleep 1000 & echo $!; while :; do sleep 100; done",
		"stopped":  "echo $$; kill -STOP $$; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			out := plainExec(t, s, script, &engine.RunOptions{Timeout: 300 * time.Millisecond})
			wantPlainEnd(t, out.Result, engine.ReasonTimeout, 124)
			wantPlainGone(t, string(out.Stdout))
		})
	}
	// What is stopped is told to go on, so that it can end in an orderly way.
	out := plainExec(t, s, "trap 'echo told; exit' TERM; kill -STOP $$; while :; do :; done", &engine.RunOptions{Timeout: 300 * time.Millisecond})
	if string(out.Stdout) != "told\n" {
		t.Errorf("a stopped script wrote %q", out.Stdout)
	}
	out = plainExec(t, s, "import time\nprint('before')\ntry: time.sleep(1000)\nexcept KeyboardInterrupt: print('interrupted')",
		&engine.RunOptions{Type: engine.Python, Timeout: time.Second})
	wantPlainEnd(t, out.Result, engine.ReasonTimeout, 124)
	if string(out.Stdout) != "before\ninterrupted\n" {
		t.Errorf("Python's output is %q", out.Stdout)
	}
}

func TestNone_Kill(t *testing.T) {
	s := openNoneSession(t, nil)
	p := plainStart(t, s, "trap 'echo saved; exit 7' TERM; echo ready; sleep 1000 & wait", nil)
	stdout := p.Stdout()
	ready := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(stdout, ready); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	p.Kill()
	rest, err := io.ReadAll(stdout)
	if string(rest) != "saved\n" || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonCancelled, 137)

	for range 20 { // at any moment
		p := plainStart(t, s, "while :; do :; done", nil)
		p.Kill()
		wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonCancelled, 137)
	}
}

// plainForks leaves processes behind: in the group, orphans, ignoring signals, stopped, and in groups of their own by job
// control. It says which.
const plainForks = `
sleep 1000 & echo $!
(sleep 1000 & echo $!)
(trap '' HUP INT TERM; sleep 1000 & echo $!)
(sleep 1000 & kill -STOP $!; echo $!)
set -m
sleep 1000 & echo $!
`

func TestNone_Forks(t *testing.T) {
	s := openNoneSession(t, nil)
	if _, err := sessionMembers(os.Getpid()); err != nil {
		t.Skip(err)
	}
	out := plainExec(t, s, plainForks+"exit 3", nil)
	wantPlainEnd(t, out.Result, engine.ReasonExited, 3)
	wantPlainGone(t, string(out.Stdout))

	out = plainExec(t, s, plainForks+"sleep 1000", &engine.RunOptions{Timeout: time.Second})
	wantPlainEnd(t, out.Result, engine.ReasonTimeout, 124)
	wantPlainGone(t, string(out.Stdout))

	p := plainStart(t, s, plainForks+"echo end; sleep 1000", nil)
	var pids []string
	for line := range p.StdoutLines() {
		if line == "end" {
			break
		}
		pids = append(pids, line)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantPlainGone(t, strings.Join(pids, " "))
}

// TestNone_Escape is what the documentation admits: who makes a session of their own goes on, and keeps nobody
// waiting.
func TestNone_Escape(t *testing.T) {
	s := openNoneSession(t, nil)
	const script = "import os, time\nprint('before', flush=True)\nif os.fork() == 0:\n  os.setsid()\n  print(os.getpid(), flush=True)\n  time.sleep(1000)\ntime.sleep(0.5)"
	out := plainExec(t, s, script, &engine.RunOptions{Type: engine.Python})
	before, rest, _ := strings.Cut(string(out.Stdout), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(rest))
	if before != "before" || err != nil {
		t.Fatalf("output %q", out.Stdout)
	}
	wantPlainEnd(t, out.Result, engine.ReasonExited, 0)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("the process that has left: %v", err)
	}
}

func TestNone_Background(t *testing.T) {
	s := openNoneSession(t, nil)
	const script = "(sleep 0.3; echo late) & echo early; exit 3"
	for background, want := range map[bool]string{false: "early\n", true: "early\nlate\n"} {
		out := plainExec(t, s, script, &engine.RunOptions{Background: background})
		wantPlainEnd(t, out.Result, engine.ReasonExited, 3)
		if string(out.Stdout) != want {
			t.Errorf("background %v: %q", background, out.Stdout)
		}
	}
	out := plainExec(t, s, "sleep 1000 & echo $!", &engine.RunOptions{Background: true, Timeout: 300 * time.Millisecond})
	wantPlainEnd(t, out.Result, engine.ReasonTimeout, 124)
	wantPlainGone(t, string(out.Stdout))
}

func TestNone_Terminal(t *testing.T) {
	s := openNoneSession(t, nil)
	size := &engine.TerminalSize{Rows: 31, Cols: 77}
	got := plainOutput(t, s, "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size < /dev/tty", &engine.RunOptions{Terminal: size})
	if got != "31 77\r\n" {
		t.Errorf("size %q", got)
	}
	got = plainOutput(t, s, "import os\ntty = os.open('/dev/tty', os.O_RDWR)\nprint(os.tcgetpgrp(tty) == os.getpgrp(), os.isatty(0))",
		&engine.RunOptions{Type: engine.Python, Terminal: size})
	if got != "True True\r\n" {
		t.Errorf("the controlling terminal: %q", got)
	}
	p := plainStart(t, s, "stty -echo; trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.1; done", &engine.RunOptions{Terminal: size})
	stdout := p.Stdout()
	ready := make([]byte, len("ready\r\n"))
	if _, err := io.ReadFull(stdout, ready); err != nil {
		t.Fatal(err)
	}
	if err := p.Resize(engine.TerminalSize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout)
	if string(rest) != "40 100\r\n" {
		t.Errorf("after Resize: %q", rest)
	}
	wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonExited, 5)
	out := plainExec(t, s, "stty -echo; cat; echo end", &engine.RunOptions{Terminal: size, Stdin: strings.NewReader("typed\n")})
	if text := string(out.Stdout); !strings.HasSuffix(text, "typed\r\nend\r\n") {
		t.Errorf("typed input: %q", text)
	}
	out = plainExec(t, s, "set -m; sleep 1000 & echo $!; sleep 1000", &engine.RunOptions{Terminal: size, Timeout: 300 * time.Millisecond})
	wantPlainEnd(t, out.Result, engine.ReasonTimeout, 124)
	wantPlainGone(t, string(out.Stdout))
}

func TestNone_Interpreters(t *testing.T) {
	d := plainDriver(t, None)
	session, err := openPlain(d, &engine.SessionSpec{HostDir: t.TempDir(), Network: netpolicy.Open}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := session.(*plainSession)
	s.python = program{}
	s.shell = program{path: "/missing/bash", args: []string{"bash"}}
	_, err = s.Start(t.Context(), &engine.RunSpec{Type: engine.Python})
	if !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("without an interpreter: %v", err)
	}
	_, err = s.Start(t.Context(), &engine.RunSpec{
		Type: engine.Shell, Name: "main.sh", Network: netpolicy.Open, Cwd: engine.WorkDir, Limits: engine.Limits{OpenFiles: 100}, Stdin: plainEOF{},
	})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "execute /missing/bash") {
		t.Errorf("with one that is not there: %v", err)
	}
	if _, err := openPlain(d, &engine.SessionSpec{}, nil); !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("with a work directory without a path: %v", err)
	}
}

type plainEOF struct{}

func (plainEOF) Read([]byte, <-chan struct{}) (int, error) { return 0, io.EOF }
func (plainEOF) Wait(<-chan struct{}) error                { return nil }

// TestNone_Leak counts what there is before and after many runs of all kinds, some at once.
func TestNone_Leak(t *testing.T) {
	s := openNoneSession(t, nil)
	plainOutput(t, s, ":", nil) // what is opened once
	fds, goroutines := plainDescriptors(t), runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 25 {
				var o engine.RunOptions
				script := "echo x; sleep 1000 & exit 1"
				switch (i + j) % 5 {
				case 1:
					o.Terminal = &engine.TerminalSize{Rows: 5, Cols: 5}
				case 2:
					script, o.Timeout = "sleep 1000", 50*time.Millisecond
				case 3:
					o.Stdin = strings.NewReader("input")
				case 4:
					o.StdinPipe = true
				}
				plainExec(t, s, script, &o)
			}
		})
	}
	wg.Wait()
	for range 100 { // a goroutine may be on its last instructions
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines after, %d before", n, goroutines)
	}
	if got := plainDescriptors(t); got != fds {
		t.Errorf("%d descriptors after, %d before", got, fds)
	}
	var status unix.WaitStatus
	if pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}

func plainDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
