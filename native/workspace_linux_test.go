package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testuser"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// What holds as root holds for everybody.
func TestWorkspace_Unprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	t.Parallel()
	testuser.Again(t, "^TestWorkspace_")
}

// eachCellBackend runs a test in a session of each backend that makes cells.
func eachCellBackend(t *testing.T, opts *engine.Options, f func(*testing.T, *engine.Session)) {
	for _, b := range []Backend{Userns, Bubblewrap} {
		t.Run(string(b), func(t *testing.T) {
			needBackend(t, b)
			f(t, openWith(driverOf(t, b))(t, opts))
		})
	}
}

// shell runs a script that must exit with 0, and returns what it wrote.
func shell(t *testing.T, s *engine.Session, script string) string {
	t.Helper()
	out, err := s.Exec(t.Context(), script, &engine.RunOptions{Type: engine.Shell})
	if err != nil {
		t.Fatalf("Exec(%q): %v", script, err)
	}
	if out.Result.ExitCode != 0 {
		t.Fatalf("%q ended with %+v\n%s", script, out.Result, out.Stderr)
	}
	return string(out.Stdout)
}

func mustPut(t *testing.T, s *engine.Session, path string, data []byte) {
	t.Helper()
	if err := s.PutBytes(t.Context(), path, data, nil); err != nil {
		t.Fatal(err)
	}
}

// wantContent checks a file from outside.
func wantContent(t *testing.T, s *engine.Session, path string, want []byte) {
	t.Helper()
	got, err := s.GetBytes(t.Context(), path, 1<<30)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes (%.20q), %v; want %d (%.20q)", path, len(got), got, err, len(want), want)
	}
}

func wantNoSpace(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, engine.ErrNoSpace) || strings.Contains(err.Error(), unix.ENOSPC.Error()) { // which is for the host's disk
		t.Errorf("%v, want %v", err, engine.ErrNoSpace)
	}
}

// wantOnly checks that the work directory has these files alone: no temporary one is left.
func wantOnly(t *testing.T, s *engine.Session, names ...string) {
	t.Helper()
	list, err := s.List(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, fi := range list {
		got = append(got, fi.Name)
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("the work directory has %q, want %q", got, names)
	}
}

const mib = 1 << 20

func TestWorkspace_FilledByScripts(t *testing.T) { // cases C045, C046
	opts := &engine.Options{Limits: engine.Limits{Disk: 8 * mib}}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		const script = `exec 2>&1
i=0; while head -c 1048576 /dev/zero > f$i; do i=$((i+1)); [ $i -ge 100 ] && break; done; echo "stopped at $i"
rm -f f*
head -c 8000000000 /dev/zero > fill; echo "rc=$?"; rm fill
head -c 8000000 /dev/zero > again && echo "space came back"; rm again
df -B1 --output=size . | tail -1`
		out := shell(t, s, script)
		for _, want := range []string{"stopped at 8\n", "No space left on device", "rc=1\n", "space came back\n", fmt.Sprintln(8 * mib)} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in %q", want, out)
			}
		}
		// The room is the same for all cells of the session, and for file calls.
		mustPut(t, s, "put", make([]byte, 7*mib))
		if out := shell(t, s, "head -c 2000000 /dev/zero > more || wc -c < more"); strings.TrimSpace(out) != strconv.Itoa(mib) {
			t.Errorf("beside 7 of 8 MiB there is room for %q", out)
		}
		if dir := s.Info().HostDir; dir != "" {
			t.Errorf("it is on the host: %q", dir)
		}
		if names := s.Info().Unenforced; len(names) != 0 {
			t.Errorf("not enforced: %v", names)
		}
	})
}

func TestWorkspace_FilledByPuts(t *testing.T) { // cases C045
	opts := &engine.Options{Limits: engine.Limits{Disk: 8 * mib}}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		n := 0
		for ; n < 100; n++ {
			if err := s.PutBytes(t.Context(), fmt.Sprintf("f%d", n), make([]byte, mib), nil); err != nil {
				wantNoSpace(t, err)
				break
			}
		}
		if n != 8 {
			t.Errorf("%d files of 1 MiB in 8 MiB", n)
		}
		wantNoSpace(t, s.PutReader(t.Context(), "d/e/f", bytes.NewReader(make([]byte, 3*mib)), nil))
		wantOnly(t, s, "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7")
		for i := range 100 {
			mustPut(t, s, "f3", bytes.Repeat([]byte{byte(i)}, mib))
		}
		wantContent(t, s, "f3", bytes.Repeat([]byte{99}, mib))
		for i := range n {
			if err := s.Remove(t.Context(), fmt.Sprintf("f%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		mustPut(t, s, "all", make([]byte, 8*mib))
		wantNoSpace(t, s.PutBytes(t.Context(), "all", make([]byte, 8*mib+1), nil))
		wantOnly(t, s, "all")
	})
}

// There is no room for two, and one is put in the place of the other.
func TestWorkspace_OverwriteWhenFull(t *testing.T) {
	needBackend(t, Userns)
	s := openWith(driverOf(t, Userns))(t, &engine.Options{Limits: engine.Limits{Disk: 8 * mib, DiskFiles: 3}})
	old := bytes.Repeat([]byte("old."), 5*mib/4)
	fresh := bytes.Repeat([]byte("fresh..."), mib)
	small := bytes.Repeat([]byte("small..."), mib/2)
	put := func(path string, data []byte) error {
		return s.PutReader(t.Context(), path, iotest.HalfReader(bytes.NewReader(data)), &engine.PutOptions{Mode: 0o755})
	}
	mustPut(t, s, "f", old)
	if err := put("f", fresh); err != nil { // larger
		t.Fatal(err)
	}
	wantContent(t, s, "f", fresh)
	if fi, err := s.Stat(t.Context(), "f"); err != nil || fi.Mode != 0o755 {
		t.Errorf("mode %v, %v", fi.Mode, err)
	}
	mustPut(t, s, "f", small)
	wantContent(t, s, "f", small)
	mustPut(t, s, "g", make([]byte, 4*mib)) // what was cut off is free
	before, _ := s.Stat(t.Context(), "f")
	wantNoSpace(t, s.PutBytes(t.Context(), "f", old, nil))
	if after, err := s.Stat(t.Context(), "f"); err != nil || after != before {
		t.Errorf("what does not fit was begun: %+v, before %+v, %v", after, before, err)
	}
	wantContent(t, s, "f", small)
	shell(t, s, "rm g; head -c 4194304 /dev/zero > g; chmod 400 f")
	mustPut(t, s, "f", bytes.ToUpper(small))
	wantContent(t, s, "f", bytes.ToUpper(small))

	// Nothing of what fails is left, however far it came.
	shell(t, s, "chmod 400 f")
	broken := errors.New("broken")
	for _, n := range []int{0, mib, 4 * mib, 5 * mib} {
		r := io.MultiReader(bytes.NewReader(make([]byte, n)), iotest.ErrReader(broken))
		if err := s.PutReader(t.Context(), "f", r, nil); !errors.Is(err, broken) && !errors.Is(err, engine.ErrNoSpace) {
			t.Errorf("after %d bytes: %v", n, err)
		}
		wantContent(t, s, "f", bytes.ToUpper(small))
	}
	wantNoSpace(t, put("f", make([]byte, 5*mib)))
	wantNoSpace(t, put("f", make([]byte, 100*mib)))
	if fi, err := s.Stat(t.Context(), "f"); err != nil || fi.Mode != 0o400 {
		t.Errorf("mode %v, %v", fi.Mode, err)
	}

	// The number of files is reached as well: there is none to be had for a temporary one.
	mustPut(t, s, "h", nil)
	wantNoSpace(t, s.PutBytes(t.Context(), "i", nil, nil))
	mustPut(t, s, "h", nil)
	mustPut(t, s, "f", small[:100])
	wantContent(t, s, "f", small[:100])
	wantOnly(t, s, "f", "g", "h")
}

// To write over these frees nothing, or has an effect elsewhere.
func TestWorkspace_NotOverwritten(t *testing.T) {
	needBackend(t, Userns)
	s := openWith(driverOf(t, Userns))(t, &engine.Options{Limits: engine.Limits{Disk: 1 * mib}})
	shell(t, s, "head -c 600000 /dev/zero | tr '\\0' a > a; ln a b")
	wantNoSpace(t, s.PutBytes(t.Context(), "a", make([]byte, 600000), nil))
	wantContent(t, s, "b", bytes.Repeat([]byte("a"), 600000))
	shell(t, s, "rm b; truncate -s 1T sparse")
	wantNoSpace(t, s.PutBytes(t.Context(), "sparse", make([]byte, 600000), nil))
	if fi, err := s.Stat(t.Context(), "sparse"); err != nil || fi.Size != 1<<40 {
		t.Errorf("%+v, %v", fi, err)
	}
	mustPut(t, s, "sparse", make([]byte, 400000))
	wantOnly(t, s, "a", "sparse")
}

// A script that has the file open sees the new content where it was, and its room does not count twice.
func TestWorkspace_OverwriteWhatIsOpen(t *testing.T) {
	needBackend(t, Userns)
	s := openWith(driverOf(t, Userns))(t, &engine.Options{Limits: engine.Limits{Disk: 1 * mib}})
	mustPut(t, s, "f", bytes.Repeat([]byte("a"), mib))
	p, err := s.Run(t.Context(), "exec 3<f; echo open; read -r x; head -c 1 <&3", &engine.RunOptions{Type: engine.Shell, StdinPipe: true})
	if err != nil {
		t.Fatal(err)
	}
	out := p.Stdout()
	buf := make([]byte, 100)
	if _, err := io.ReadFull(out, buf[:5]); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, "f", bytes.Repeat([]byte("b"), mib))
	if _, err := io.WriteString(p.Stdin(), "go\n"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(out); string(rest) != "b" || err != nil {
		t.Errorf("it reads %q, %v", rest, err)
	}
}

func TestWorkspace_Owner(t *testing.T) { // cases C044, C049
	opts := &engine.Options{Limits: engine.Limits{Disk: 8 * mib, DiskFiles: 100}}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		mustPut(t, s, "d/put", []byte("x"))
		if out := shell(t, s, "stat -c '%u %g %a' . d d/put; echo y >> d/put; : > d/made"); out != "1000 1000 700\n1000 1000 755\n1000 1000 644\n" {
			t.Errorf("the script sees %q", out)
		}
		wantContent(t, s, "d/put", []byte("xy\n"))
		mustPut(t, s, "d/made", []byte("over"))
		shell(t, s, "mkdir a b; echo 1 > a/f; mv a/f b/f; ln b/f a/g; mv -T a c; mkfifo p; ln -s d l; chmod 000 d")
		for _, name := range []string{"b", "c", "d", "l", "p"} {
			if err := s.RemoveAll(t.Context(), name); err != nil {
				t.Error(err)
			}
		}
		wantOnly(t, s)
		shell(t, s, "mkdir -p d/e; : > d/e/f; chmod 000 d/e d .") // and the session can be closed
	})
}

// Cells that are made later, or for another network posture, have the same directory.
func TestWorkspace_Cells(t *testing.T) {
	opts := &engine.Options{Limits: engine.Limits{Disk: 1 * mib}, Network: "open"}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		var runs []*engine.Process
		for i := range 3 {
			script := fmt.Sprintf(": > %d; while [ ! -e 0 ] || [ ! -e 1 ] || [ ! -e 2 ]; do sleep 0.01; done; echo met", i)
			network := []string{"open", "blocked", "blocked"}[i]
			p, err := s.Run(t.Context(), script, &engine.RunOptions{Type: engine.Shell, Network: netpolicy.Mode(network)})
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, p)
		}
		for _, p := range runs {
			if out, err := p.Communicate(t.Context(), nil); err != nil || string(out.Stdout) != "met\n" {
				t.Errorf("%+v, %v", out, err)
			}
		}
	})
}

// What is in the directory counts as memory of the run that wrote it, and not of those after it.
func TestWorkspace_Memory(t *testing.T) {
	opts := &engine.Options{Limits: engine.Limits{Disk: 256 * mib, Memory: 64 * mib}, BestEffort: true}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		if len(s.Info().Unenforced) != 0 {
			t.Skip("no cgroup")
		}
		for i := range 3 {
			shell(t, s, fmt.Sprintf("head -c 40000000 /dev/zero > f%d", i))
		}
		out, err := s.Exec(t.Context(), "head -c 80000000 /dev/zero > f3", &engine.RunOptions{Type: engine.Shell})
		if err != nil || out.Result.Reason != engine.ReasonMemory && out.Result.Advice == "" {
			t.Errorf("more than the memory: %+v, %v", out, err)
		}
		mustPut(t, s, "f4", make([]byte, 70*mib))
		shell(t, s, "rm f?")
		wantOnly(t, s)
	})
}

func TestWorkspace_Sizes(t *testing.T) { // tmpfs(5)
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	page := int64(os.Getpagesize())
	for _, tt := range []struct {
		limits engine.Limits
		blocks uint64 // zero: no limit
		files  uint64
	}{
		{engine.Limits{Disk: 100 * page}, 100, 0},
		{engine.Limits{Disk: 2*page - 1, DiskFiles: 1}, 1, 2},
		{engine.Limits{DiskFiles: 50}, 0, 51},
		{engine.Limits{Disk: 1<<63 - 1, DiskFiles: 1<<63 - 1}, uint64((1<<63 - 1) / page), maxInodes + 1},
	} {
		w, err := d.MakeWorkspace(t.Context(), tt.limits)
		if err != nil {
			t.Errorf("%+v: %v", tt.limits, err)
			continue
		}
		var st unix.Statfs_t
		err = unix.Fstatfs(int(w.Dir().Fd()), &st)
		if err != nil || st.Blocks != tt.blocks || st.Files != tt.files {
			t.Errorf("%+v: %d pages, %d inodes, %v; want %d, %d", tt.limits, st.Blocks, st.Files, err, tt.blocks, tt.files)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := d.Open(t.Context(), &engine.Options{Limits: engine.Limits{Disk: page - 1}})
	if !errors.Is(err, engine.ErrNotEnforceable) {
		t.Errorf("less than a page: %v", err)
	}
}

// A directory that the caller gives has no limit of its own.
func TestWorkspace_GivenDirectory(t *testing.T) {
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	opts := &engine.Options{WorkDir: t.TempDir(), Limits: engine.Limits{DiskFiles: 5}}
	if _, err := d.Open(t.Context(), opts); !errors.Is(err, engine.ErrNotEnforceable) {
		t.Errorf("Open: %v", err)
	}
	opts.BestEffort = true
	s := openWith(d)(t, opts)
	if info := s.Info(); info.HostDir != opts.WorkDir || fmt.Sprint(info.Unenforced) != "map[native:[DiskFiles]]" {
		t.Errorf("%q, %v", info.HostDir, info.Unenforced)
	}
	for _, b := range []Backend{None, SandboxExec} {
		if _, err := driverOf(t, b).MakeWorkspace(t.Context(), opts.Limits); !errors.Is(err, engine.ErrNotEnforceable) {
			t.Errorf("backend %s: %v", b, err)
		}
	}
}

func TestWorkspace_KeeperKilled(t *testing.T) {
	opts := &engine.Options{Limits: engine.Limits{Disk: mib}}
	eachCellBackend(t, opts, func(t *testing.T, s *engine.Session) {
		shell(t, s, "echo before > f")
		keepers := childrenOf(t, os.Getpid(), "keep")
		if len(keepers) != 1 {
			t.Fatalf("keepers: %v", keepers)
		}
		if err := syscall.Kill(keepers[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		waitGone(t, keepers)
		shell(t, s, "cat f; echo after > f") // in the cell that is there
		wantContent(t, s, "f", []byte("after\n"))
		for range 2 {
			shell(t, s, "true")
			p, err := s.Run(t.Context(), "sleep 1000", &engine.RunOptions{Type: engine.Shell}) // the cell is taken
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Exec(t.Context(), "true", &engine.RunOptions{Type: engine.Shell})
			if !errors.Is(err, errNoKeeper) || !errors.Is(err, engine.ErrNotStarted) || !errors.Is(err, engine.ErrNotAvailable) {
				t.Errorf("in a new cell: %v", err)
			}
			p.Kill()
			if _, err := p.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// A keeper that does not answer is given up: its answer would come to the next who asks.
func TestWorkspace_KeeperStopped(t *testing.T) {
	needBackend(t, Userns)
	made, err := driverOf(t, Userns).MakeWorkspace(t.Context(), engine.Limits{Disk: mib})
	if err != nil {
		t.Fatal(err)
	}
	w := made.(*workspace)
	pid := w.keeper.proc.Pid
	if f, err := w.mount(); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	w.patience = 50 * time.Millisecond
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.mount(); !errors.Is(err, errNoKeeper) {
			t.Errorf("mount: %v", err)
		}
	}
	waitGone(t, []int{pid})
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// The keeper has no right and sees nothing that it does not need.
func TestWorkspace_KeeperRights(t *testing.T) {
	needBackend(t, Userns)
	inherited, err := unix.Open("/etc", unix.O_RDONLY, 0) // not closed by execve: as who started us may have left it
	if err != nil {
		t.Fatal(err)
	}
	w, err := driverOf(t, Userns).MakeWorkspace(t.Context(), engine.Limits{Disk: mib})
	_ = unix.Close(inherited)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pid := w.(*workspace).keeper.proc.Pid
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal(err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile(task)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []string{"CapPrm", "CapEff", "CapInh", "CapAmb"} {
			if want := fmt.Sprintf("%s:\t%016x\n", set, 1<<unix.CAP_SYS_ADMIN); !bytes.Contains(status, []byte(want)) {
				t.Errorf("no %q in\n%s", want, status)
			}
		}
	}
	if os.Geteuid() != 0 {
		if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("others can look into it: %v", err)
		}
		return
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if want := fmt.Sprintf("Uid:\t%d\t", OutsideID); !bytes.Contains(status, []byte(want)) || !bytes.Contains(status, []byte("NoNewPrivs:\t1\n")) {
		t.Errorf("status:\n%s", status)
	}
	if mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid)); err != nil || bytes.Count(mounts, []byte("\n")) != 2 {
		t.Errorf("mounts: %v\n%s", err, mounts)
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if len(links) < 4 {
		t.Errorf("descriptors: %v", links)
	}
	for _, link := range links {
		to, err := os.Readlink(link)
		// The files of a cgroup are the Go runtime's: it follows the limit of processors.
		known := slices.ContainsFunc([]string{"/dev/null", "pipe:", "socket:", "anon_inode:", "/sys/fs/cgroup/"}, func(p string) bool { return strings.HasPrefix(to, p) })
		known = known || strings.HasPrefix(filepath.Base(to), "cpu.") // the same, when the mount is not in the keeper's tree
		if err != nil || !known && to != "/" && to != "/work" {
			t.Errorf("descriptor %s: %s, %v", filepath.Base(link), to, err)
		}
	}
}

func TestWorkspace_NothingIsLeft(t *testing.T) {
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	once := func(i int) {
		s, err := d.Open(t.Context(), &engine.Options{Limits: engine.Limits{Disk: mib, DiskFiles: 10}})
		if err != nil {
			t.Fatal(err)
		}
		mustPut(t, s, "f", []byte("x"))
		if i%10 == 0 {
			shell(t, s, "cat f")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	once(0)
	before := held(t)
	for i := range 50 {
		once(i)
	}
	after := held(t)
	for range 100 { // a goroutine that has done its work takes a moment to go
		if !after.exceeds(before) {
			return
		}
		time.Sleep(10 * time.Millisecond)
		after = held(t)
	}
	t.Errorf("before: %+v, after: %+v", before, after)
}

// What a cell cannot be made without fails cleanly, and leaves nothing.
func TestWorkspace_NoKeeper(t *testing.T) {
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	openWith(d)(t, nil)                                         // what the driver has for all its sessions is there
	d.host.self = func() (*os.File, error) { return null, nil } // cannot be executed
	before := held(t)
	opts := &engine.Options{Limits: engine.Limits{Disk: mib}}
	s := openWith(d)(t, opts)
	_, err = s.Exec(t.Context(), "true", &engine.RunOptions{Type: engine.Shell})
	var start *StartError
	if !errors.As(err, &start) || !errors.Is(err, engine.ErrNotAvailable) || !strings.Contains(start.Step, "keeper") {
		t.Errorf("Exec: %v", err)
	}
	wantNoSpace(t, s.PutBytes(t.Context(), "f", make([]byte, mib+1), nil)) // it is counted instead
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if after := held(t); after.fds > before.fds || after.children > before.children {
		t.Errorf("before: %+v, after: %+v", before, after)
	}
}

// hostKilled names the test that TestWorkspace_HostKilled runs in another process.
const hostKilled = "SANDBAR_TEST_HOST_KILLED"

func TestWorkspace_HostKilled(t *testing.T) {
	needBackend(t, Userns)
	if os.Getenv(hostKilled) != "" {
		s := openWith(driverOf(t, Userns))(t, &engine.Options{Limits: engine.Limits{Disk: mib}})
		shell(t, s, "true")
		fmt.Fprintln(os.Stderr, "ready")
		time.Sleep(time.Hour)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestWorkspace_HostKilled$")
	cmd.Env = append(os.Environ(), hostKilled+"=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, readErr := io.ReadFull(stderr, make([]byte, len("ready\n")))
	keepers, children := childrenOf(t, cmd.Process.Pid, "keep"), childrenOf(t, cmd.Process.Pid, "")
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if readErr != nil || len(keepers) != 1 {
		t.Fatalf("%v, keepers %v", readErr, keepers)
	}
	waitGone(t, children)
}

// holdings are what a session must give back.
type holdings struct{ fds, children, mounts, goroutines int }

// exceeds reports whether there is more of anything. Less there can be: what an earlier test has left to the garbage
// collector goes at any time.
func (h holdings) exceeds(before holdings) bool {
	return h.fds > before.fds || h.children > before.children || h.mounts > before.mounts || h.goroutines > before.goroutines
}

func held(t *testing.T) holdings {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return holdings{len(fds), len(childrenOf(t, os.Getpid(), "")), bytes.Count(mounts, []byte("\n")), runtime.NumGoroutine()}
}

// childrenOf lists the child processes whose last argument is word, or all of them.
func childrenOf(t *testing.T, pid int, word string) []int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(data)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			if word == "" || bytes.HasSuffix(args, []byte("\x00"+word+"\x00")) {
				list = append(list, child)
			}
		}
	}
	return list
}

// waitGone waits until none of the processes is there any more; a zombie is as good as gone.
func waitGone(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for _, pid := range pids {
		for {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || bytes.Contains(stat, []byte(") Z ")) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("process %d goes on", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
