package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestFind(t *testing.T) {
	p, err := Find()
	need(t, err)
	clean(t, p)
	if v := p.Version(); v != 1 && v != 2 {
		t.Errorf("Version() = %d", v)
	}
	if len(p.Controllers()) == 0 {
		t.Error("Find succeeded without a controller")
	}
	t.Logf("version %d, controllers %v, trees %v, missing %v", p.Version(), p.Controllers(), p.trees, p.missing)
	// A second one finds the same: with version 2 the first may have moved us.
	again, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again.trees) != fmt.Sprint(p.trees) {
		t.Errorf("a second Find has %v, want %v", again.trees, p.trees)
	}
}

func TestParent_NewRefuses(t *testing.T) {
	p := find(t)
	clean(t, p)
	newGroup(t, p, "there", Limits{})
	none := &Parent{version: p.version, owner: p.owner, missing: map[string]*Unavailable{
		controllerMemory: {Step: "a step", Err: unix.EROFS, Remedy: "a remedy"},
	}}
	for name, c := range map[string]struct {
		p     *Parent
		group string
		l     Limits
		want  error
	}{
		"no name":             {p: p},
		"slash":               {p: p, group: "a/b"},
		"long":                {p: p, group: strings.Repeat("a", maxName+1)},
		"there already":       {p: p, group: "there", want: unix.EEXIST},
		"negative memory":     {p: p, group: "x", l: Limits{Memory: -1}},
		"negative processes":  {p: p, group: "x", l: Limits{Processes: -1}},
		"too many processes":  {p: p, group: "x", l: Limits{Processes: 1 << 30}, want: unix.EINVAL},
		"no memory":           {p: none, group: "x", l: Limits{Memory: 1 << 20}, want: unix.EROFS},
		"no pids":             {p: none, group: "x", l: Limits{Processes: 1}, want: errors.ErrUnsupported},
		"no parent directory": {p: &Parent{version: 1, owner: p.owner, trees: []tree{{dir: t.TempDir() + "/x"}}}, group: "x", want: unix.ENOENT},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := c.p.New(c.group, c.l)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("New = %v, %v, want error %v", g, err, c.want)
			}
			u, ok := errors.AsType[*Unavailable](err)
			if c.p == none && (!ok || u.Step == "") {
				t.Errorf("New = %v, want Unavailable with a step", err)
			}
		})
	}
}

func TestGroup_MemoryLimit(t *testing.T) {
	p := find(t)
	clean(t, p)
	const limit = 64 << 20
	g := newGroup(t, p, "memory", Limits{Memory: limit})

	within := startIn(t, g, "allocate 20")
	var n int
	within.mustBegin(&n)
	within.end()
	u := usage(t, g)
	if u.OOMKills != 0 {
		t.Errorf("within the limit: %+v", u)
	}

	if err := g.Reset(); err != nil {
		t.Fatal(err)
	}
	past := startIn(t, g, "allocate 300")
	if err := past.begin(&n); err == nil {
		t.Fatalf("the process got %d bytes", n)
	}
	if s := past.signal(); s != unix.SIGKILL {
		t.Errorf("the process died of %v", s)
	}
	u = usage(t, g)
	if u.OOMKills != 1 {
		t.Errorf("past the limit: %+v, want one kill", u)
	}
	// Some charges of the kernel may exceed the limit by a few pages.
	if u.PeakMemory > limit+1<<20 || u.PeakMemory < limit*9/10 {
		t.Errorf("peak %d, want the limit, %d", u.PeakMemory, limit)
	}

	if err := g.Reset(); err != nil {
		t.Fatal(err)
	}
	if u := usage(t, g); u.OOMKills != 0 {
		t.Errorf("after Reset: %+v", u)
	}
}

func TestGroup_LimitFiles(t *testing.T) {
	p := find(t)
	clean(t, p)
	g := newGroup(t, p, "files", Limits{Memory: 32 << 20, Processes: 7})
	f := versions[p.version]
	for name, want := range map[string]string{f.memory: "33554432", f.processes: "7", f.swap: map[int]string{1: "33554432", 2: "0"}[p.version]} {
		for _, tr := range g.trees {
			got, err := os.ReadFile(filepath.Join(tr.dir, name))
			if errors.Is(err, os.ErrNotExist) {
				continue // another tree, or swap is not accounted
			}
			if err != nil || strings.TrimSpace(string(got)) != want {
				t.Errorf("%s = %q, %v, want %s", name, got, err, want)
			}
		}
	}
}

func TestGroup_ProcessLimit(t *testing.T) {
	p := find(t)
	clean(t, p)
	const limit = 60 // a Go program has some threads of its own
	g := newGroup(t, p, "processes", Limits{Processes: limit})
	c := startIn(t, g, "fork 100")
	var got forked
	c.mustBegin(&got)
	if got.Errno != unix.EAGAIN || got.Children >= limit || got.Children < limit/2 {
		t.Errorf("%d children, then %v: want EAGAIN below %d", got.Children, got.Errno, limit)
	}

	roomy := newGroup(t, p, "roomy", Limits{Processes: 3 * limit})
	c = startIn(t, roomy, "fork 100")
	c.mustBegin(&got)
	if got.Errno != 0 || got.Children != 100 {
		t.Errorf("with room: %d children, then %v", got.Children, got.Errno)
	}
}

func TestGroup_AddRefuses(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "refuses", Limits{})
		before, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			t.Fatal(err)
		}
		pids := []int{0, -1, os.Getpid()}
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			pids = append(pids, atoi(thread.Name()))
		}
		for _, pid := range pids {
			if err := g.Add(pid); err == nil {
				t.Errorf("Add(%d) = nil", pid)
			}
		}
		if !untouchable(1) { // not tried: a host does not bear that
			t.Error("process 1 is not untouchable")
		}
		if after, _ := os.ReadFile("/proc/self/cgroup"); string(after) != string(before) {
			t.Errorf("this process was moved:\n%s", after)
		}
		c := start(t, "spin 0")
		c.end()
		if err := g.Add(c.cmd.Process.Pid); !errors.Is(err, unix.ESRCH) {
			t.Errorf("Add of a process that has ended = %v, want ESRCH", err)
		}
	})
}

func TestGroup_Close(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g, err := p.New("close", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		member := startIn(t, g, "spin 0")
		if err := g.Close(); !errors.Is(err, unix.EBUSY) {
			t.Fatalf("Close with a process = %v, want EBUSY", err)
		}
		if _, err := g.Usage(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Usage after Close = %v", err)
		}
		if err := g.Reset(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Reset after Close = %v", err)
		}
		// A Kill helps a Close that waits.
		closed := make(chan error)
		go func() { closed <- g.Close() }()
		time.Sleep(20 * time.Millisecond)
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if err := errors.Join(g.Close(), g.Kill()); err != nil {
			t.Errorf("Close and Kill of a closed group = %v", err)
		}
		member.signal()
		if err := g.Add(member.cmd.Process.Pid); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Add to a closed group = %v", err)
		}

		// The name is free again, and the old group does not reach the new one.
		again := newGroup(t, p, "close", Limits{})
		startIn(t, again, "spin 0")
		if err := errors.Join(g.Kill(), g.Close()); err != nil {
			t.Error(err)
		}
		if pids, err := processes(again.trees[0].dir); len(pids) != 1 {
			t.Errorf("the new group has processes %v, %v", pids, err)
		}
	})
}

func TestGroup_Open(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g, err := p.New("open", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		dir, err := g.Open()
		if p.version == 1 {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Open = %v, want ErrUnsupported", err)
			}
		} else {
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sleep", "1000")
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
			if err := errors.Join(cmd.Start(), dir.Close()); err != nil {
				t.Fatal(err)
			}
			if pids := inGroup(t, g); !slices.Equal(pids, []int{cmd.Process.Pid}) {
				t.Errorf("processes %v, want %d", pids, cmd.Process.Pid)
			}
			if err := g.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if _, err := g.Open(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Open after Close = %v", err)
		}
	})
}

func TestGroup_Hammer(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 25 {
					if err := lifeOfGroup(p, fmt.Sprintf("hammer-%d-%d", i, j)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
}

// lifeOfGroup makes a group, calls its methods from several goroutines and removes it.
func lifeOfGroup(p *Parent, name string) error {
	g, err := p.New(name, Limits{})
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i, call := range []func() error{
		g.Reset,
		func() error { _, err := g.Usage(); return err },
		g.Kill,
		g.Close,
	} {
		all.Go(func() {
			if errs[i] = call(); errors.Is(errs[i], os.ErrClosed) { // Close was first
				errs[i] = nil
			}
		})
	}
	all.Wait()
	return errors.Join(append(errs, g.Close())...)
}

// Two groups of one Parent do not see each other's figures, and neither is above the other.
func TestGroup_Separate(t *testing.T) {
	p := find(t)
	clean(t, p)
	a, b := newGroup(t, p, "a", Limits{Memory: 200 << 20}), newGroup(t, p, "b", Limits{Memory: 200 << 20})
	c := startIn(t, a, "allocate 50")
	var n int
	c.mustBegin(&n)
	if u := usage(t, a); u.PeakMemory < 50<<20 {
		t.Errorf("the group with the process: %+v", u)
	}
	if u := usage(t, b); u.PeakMemory > 1<<20 || u.CPU != 0 {
		t.Errorf("the other one: %+v", u)
	}
	if !slices.Equal(p.Controllers(), []string{controllerMemory, controllerPids, controllerCPU}) {
		t.Errorf("Controllers() = %v", p.Controllers())
	}
}
