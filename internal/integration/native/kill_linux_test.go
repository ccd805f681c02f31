package nativetests

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

func init() {
	children = map[string]func([]string) int{"embedder": embedder, "user": user, "nested": nested, "script": script}
}

// child makes a command that starts this program again for a part of a test: see children. It is executed by
// descriptor, since its path may be one that another user cannot reach.
func child(tb testing.TB, name string, args ...string) *osexec.Cmd {
	tb.Helper()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { self.Close() })
	cmd := osexec.Command("/proc/self/fd/3", append([]string{name}, args...)...)
	cmd.ExtraFiles = []*os.File{self}
	cmd.Stderr = os.Stderr
	return cmd
}

// embedder is a program that embeds the tier: it opens sessions on the backends that it is given and starts runs in
// them that last, over and over, until it is killed. It writes a line when it begins.
func embedder(args []string) int {
	mark := args[0]
	fmt.Fprintln(os.Stdout, "begun")
	var wg sync.WaitGroup
	for _, name := range args[1:] {
		d, err := native.New(&native.Options{Backend: native.Backend(name)})
		if err != nil {
			return failed(err)
		}
		for i := range 2 {
			wg.Go(func() {
				for {
					if err := embed(d, mark, i == 0); err != nil {
						fmt.Fprintln(os.Stderr, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	return 1
}

// embed opens a session, has three runs in it, and closes it while they last.
func embed(d *native.Driver, mark string, inMemory bool) error {
	opts := &engine.Options{}
	if inMemory {
		opts.Limits.Disk = 1 << 20
	}
	s, err := d.Open(context.Background(), opts)
	if err != nil {
		return err
	}
	scripts := []string{
		"sh -c 'sleep MARK & sleep MARK'",
		"mkdir -p a/b; : > a/b/c; chmod 000 a/b a; setsid sleep MARK & (trap '' TERM; sleep MARK & wait) & sleep MARK",
		"import ctypes, os\nctypes.CDLL(None).prctl(1, 0, 0, 0, 0)\nos.fork()\nos.execvp('sleep', ['sleep', 'MARK'])",
	}
	for i, script := range scripts {
		opts := shell(nil)
		if i == len(scripts)-1 {
			opts = python(nil)
		}
		if _, err := s.Run(context.Background(), strings.ReplaceAll(script, "MARK", mark), opts); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	time.Sleep(20 * time.Millisecond)
	return s.Close()
}

// subreaper makes this process the parent of what its children leave: PR_SET_CHILD_SUBREAPER(2const). So whatever
// survives a killed child can be found.
func subreaper(tb testing.TB) {
	tb.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
			tb.Error(err)
		}
	})
}

// C026, C162: an embedding program is killed by SIGKILL at any moment. Two seconds later no process of it is left, no
// mount and no work directory. Of its cgroup directories, those stay that it was killed while making, before it had
// told its janitor; they are empty, and the next program on the host that makes a driver removes them.
func TestC026_C162_EmbedderKilled(t *testing.T) {
	times := 200
	if testing.Short() {
		times = 40
	}
	names := backendNames(t)
	subreaper(t)
	temp := wideTemp(t)
	before := measure()
	kept := 0
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range times {
		delay := time.Duration(random.IntN(150)) * time.Millisecond
		pid := killEmbedder(t, temp, delay, append([]string{marker()}, names...))
		if left := survivors(before, 2*time.Second); len(left) > 0 {
			t.Fatalf("number %d, killed after %v, left behind: %s", i, delay, strings.Join(left, "; "))
		}
		if n := entries(temp); n != 0 {
			t.Fatalf("number %d, killed after %v: %d entries in its temporary directory", i, delay, n)
		}
		kept += len(groupsOf(pid))
		sweep(t)
		if groups := groupsOf(pid); len(groups) > 0 {
			t.Fatalf("number %d, killed after %v: the next driver leaves %v", i, delay, groups)
		}
	}
	t.Logf("%d programs were killed; they left %d cgroup directories to the next one", times, kept)
}

// killEmbedder starts an embedder, kills it after a delay, and returns the process id that it had.
func killEmbedder(t *testing.T, temp string, delay time.Duration, args []string) int {
	t.Helper()
	cmd := child(t, "embedder", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	return cmd.Process.Pid
}

// survivors are what is more than before after a while, without what has ended and waits for its parent, which is
// this process: that is waited for.
func survivors(before holdings, patience time.Duration) []string {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		reapOrphans()
		now := holdings{mounts: mountLines(), processes: descendants(os.Getpid())}
		left := append(minus(now.mounts, before.mounts), minus(now.processes, before.processes)...)
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			endSurvivors(before)
			return left
		}
	}
}

// endSurvivors kills what a test that fails would leave on the host.
func endSurvivors(before holdings) {
	for _, p := range family(os.Getpid()) {
		if !slices.Contains(before.processes, p.String()) {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	time.Sleep(100 * time.Millisecond)
	reapOrphans()
}

// reapOrphans waits for children that have ended. Nothing else of this process starts any meanwhile.
func reapOrphans() {
	for _, p := range family(os.Getpid()) {
		if p.parent == os.Getpid() && p.state == 'Z' {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// sweep makes a driver, which removes the cgroups of dead programs.
func sweep(t *testing.T) {
	t.Helper()
	d, err := native.New(&native.Options{Backend: native.Userns})
	if err != nil {
		t.Fatal(err)
	}
	d.Info()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// wideTemp makes a temporary directory that every user can write to, outside what scripts have of their own.
func wideTemp(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sandbar-tests-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(openUp(dir), os.RemoveAll(dir)); err != nil {
			tb.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// openUp gives directories that scripts have closed their rights back.
func openUp(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && err == nil {
			return os.Chmod(path, 0o777) // before it is read
		}
		return err
	})
}

// C026: a program that stops (SIGSTOP) keeps its runs, and has them when it goes on: nothing takes a cell for
// abandoned. Killed while it is stopped, it leaves nothing.
func TestC026_EmbedderStopped(t *testing.T) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) {
			driver(t, b)
			subreaper(t)
			before := measure()
			mark := marker()
			cmd := child(t, "embedder", mark, string(b))
			cmd.Env = append(os.Environ(), "TMPDIR="+wideTemp(t))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			awaitText(t, "sleep "+mark, 3)
			for _, sig := range []os.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Error(err)
				}
				if sig == syscall.SIGSTOP {
					time.Sleep(300 * time.Millisecond)
					if family := family(cmd.Process.Pid); !slices.ContainsFunc(family, func(p process) bool { return strings.Contains(p.command, "sandbar-cell-init") }) {
						t.Errorf("its cells have gone: %v", family)
					}
				}
			}
			_ = cmd.Wait()
			if left := survivors(before, 2*time.Second); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			sweep(t)
			if groups := groupsOf(cmd.Process.Pid); len(groups) > 0 {
				t.Errorf("groups are left: %v", groups)
			}
		})
	}
}

// C162: the launcher between us and the cell is killed: bwrap, which is the init's parent. The cell is still ours to
// end: no process of the run outlives the run.
func TestC162_LauncherKilled(t *testing.T) {
	d := driver(t, native.Bubblewrap)
	nothingMore(t)
	for range 3 {
		s := open(t, d, nil)
		mark := marker()
		p := start(t, s, "sleep "+mark, shell(nil))
		init, err := processOf(initOf(t, awaitText(t, "sleep "+mark, 1)[0]))
		if err != nil {
			t.Fatal(err)
		}
		if launcher, err := processOf(init.parent); err != nil || !strings.HasPrefix(launcher.command, "bwrap") {
			t.Fatalf("the init's parent is %v, %v", launcher, err)
		}
		if err := syscall.Kill(init.parent, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Done():
			if r, err := p.Wait(t.Context()); !errors.Is(err, engine.ErrLost) {
				t.Errorf("%+v, %v", r, err)
			}
		case <-time.After(time.Second): // the cell does without bwrap
			p.Kill()
			ended(t, result(t, p, bound), engine.ReasonCancelled, 137)
		}
		noneLeft(t, "sleep "+mark)
		stillWorks(t, s)
	}
}
