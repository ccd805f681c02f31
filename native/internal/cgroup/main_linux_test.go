package cgroup

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests run copies of the test binary as the processes in a group. roleVariable tells such a copy what to do.
const roleVariable = "SANDBAR_TEST_CGROUP_ROLE"

// A copy may change namespaces of the thread that it runs on. That has to be the first one, which /proc/self is about.
func init() {
	if os.Getenv(roleVariable) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVariable))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	in := bufio.NewReader(os.Stdin)
	fmt.Fprintln(os.Stdout, "ready")
	// The test puts the process into a group before it says go.
	if _, err := in.ReadString('\n'); err != nil {
		os.Exit(0) // it only had to be there
	}
	run := roles[role[0]]
	if run == nil {
		os.Exit(4)
	}
	answer, err := json.Marshal(run(role[1:]))
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stdout, string(answer))
	_, _ = in.ReadString('\n') // until the test closes the pipe
}

// roles are what a copy can do. Each returns its answer.
var roles = map[string]func(args []string) any{
	"allocate": func(args []string) any { return allocate(atoi(args[0]) << 20) },
	"spin":     func(args []string) any { return spin(time.Duration(atoi(args[0])) * time.Millisecond) },
	"fork":     func(args []string) any { return fork(atoi(args[0])) },
	"leave":    func(args []string) any { return leave(atoi(args[0])) },
	"find":     func(args []string) any { return findAs(args) },
	"where":    func([]string) any { return where() },
	"watched":  func(args []string) any { return startWatched(atoi(args[0])) },
	"killed":   func(args []string) any { return startKilled(atoi(args[0])) },
	"plan":     func(args []string) any { return doPlan(args[0], args[1], len(args) > 2) },
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// allocate touches so many bytes of new memory and returns their number. It takes them from the kernel: the race detector
// doubles what Go allocates.
func allocate(n int) int {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
	return n
}

// cpuTime is what this process used, from getrusage.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spin uses CPU time and returns how much it was.
func spin(d time.Duration) time.Duration {
	start := cpuTime()
	for cpuTime()-start < d {
		for i := range 10000 {
			_ = i
		}
	}
	return cpuTime() - start
}

// forked is the answer of fork.
type forked struct {
	Children int
	Errno    unix.Errno
}

// fork makes up to n children that only wait, by the bare system call: a Go program at its limit of threads would die
// of it.
func fork(n int) forked {
	for i := range n {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return forked{Children: i, Errno: errno}
		}
		if pid == 0 {
			for {
				_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
	}
	return forked{Children: n}
}

// parentOf returns where groups of one version are made.
func parentOf(version int) (*Parent, *Unavailable) {
	h, u := readHost()
	if u != nil {
		return nil, u
	}
	if version == 1 {
		return h.findV1()
	}
	return h.findV2()
}

// need fails or skips a test whose host has no control groups.
func need(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "cgroup") {
		t.Fatal(err)
	}
	t.Skip(err)
}

// find returns a Parent with all controllers.
func find(t testing.TB) *Parent {
	t.Helper()
	p, err := Find()
	need(t, err)
	need(t, p.require(controllerMemory))
	need(t, p.require(controllerPids))
	return p
}

// eachVersion runs a test that needs no controller on every version that is mounted and writable here.
func eachVersion(t *testing.T, test func(t *testing.T, p *Parent)) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			p, u := parentOf(version)
			if u != nil {
				if _, err := Find(); err != nil { // not even one of the two
					need(t, err)
				}
				t.Skip(u)
			}
			clean(t, p)
			test(t, p)
		})
	}
}

// clean checks that a test leaves no group and no descriptor.
func clean(t *testing.T, p *Parent) {
	t.Helper()
	groups, descriptors := left(t, p), openFiles(t)
	t.Cleanup(func() {
		if got := left(t, p); got != groups {
			t.Errorf("groups after the test:\n%s\nbefore:\n%s", got, groups)
		}
		if got := openFiles(t); got != descriptors {
			t.Errorf("descriptors after the test:\n%s\nbefore:\n%s", got, descriptors)
		}
	})
}

// left lists the groups of this process.
func left(t *testing.T, p *Parent) string {
	t.Helper()
	var all []string
	for _, tr := range p.trees {
		found, err := filepath.Glob(filepath.Join(tr.dir, p.owner.String()+"*"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return strings.Join(all, "\n")
}

// openFiles lists the descriptors of this process that are open on a control group, or are a pidfd.
func openFiles(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.Contains(to, "cgroup") || strings.Contains(to, "pidfd") {
			all = append(all, e.Name()+" "+to)
		}
	}
	return strings.Join(all, "\n")
}

// newGroup makes a group that the test ends.
func newGroup(t testing.TB, p *Parent, name string, l Limits) *Group {
	t.Helper()
	g, err := p.New(name, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// copied is a copy of the test binary in a role.
type copied struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a copy, which waits until it is told to begin.
func start(t *testing.T, role string) *copied {
	t.Helper()
	return startBy(t, (*exec.Cmd).Start, role)
}

func startBy(t *testing.T, how func(*exec.Cmd) error, role string) *copied {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &copied{t: t, cmd: exec.Command(exe, "-test.run=^$")}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := how(c.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	if line, err := c.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the copy says %q, %v", line, err)
	}
	return c
}

// startIn starts a copy in a group.
func startIn(t *testing.T, g *Group, role string) *copied {
	t.Helper()
	c := start(t, role)
	if err := g.Add(c.cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return c
}

// begin says go and reads the answer. It returns io.EOF when the copy died.
func (c *copied) begin(answer any) error {
	if _, err := io.WriteString(c.in, "go\n"); err != nil {
		return err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, answer)
}

// mustBegin is begin for a copy that must answer.
func (c *copied) mustBegin(answer any) {
	c.t.Helper()
	if err := c.begin(answer); err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
}

// end lets the copy exit.
func (c *copied) end() {
	c.t.Helper()
	_ = c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.t.Error(err)
	}
}

// signal waits and returns the signal that the copy died of.
func (c *copied) signal() unix.Signal {
	c.t.Helper()
	_ = c.cmd.Wait()
	status, ok := c.cmd.ProcessState.Sys().(interface {
		Signaled() bool
		Signal() unix.Signal
	})
	if !ok || !status.Signaled() {
		c.t.Fatalf("the copy ended with %v", c.cmd.ProcessState)
	}
	return status.Signal()
}

// shell is a shell that waits for a line before it runs its script.
type shell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

func startShell(t *testing.T, script string) *shell {
	t.Helper()
	s := &shell{cmd: exec.Command("/bin/sh", "-c", "read go; "+script)}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

func (s *shell) release() { _, _ = io.WriteString(s.in, "go\n") }
