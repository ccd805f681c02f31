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
	"testing"
)

// where returns the groups of this process.
func where() string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	return string(text)
}

func TestGroup_Start(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "start", Limits{})
		c := startBy(t, g.Start, "where")
		for _, tr := range g.trees {
			if pids, err := processes(tr.dir); !slices.Equal(pids, []int{c.cmd.Process.Pid}) {
				t.Errorf("processes in %s: %v, %v, want %d", tr.dir, pids, err, c.cmd.Process.Pid)
			}
		}
		var got string
		c.mustBegin(&got)
		c.end()
		if n := strings.Count(got, filepath.Base(g.trees[0].dir)); n != len(g.trees) {
			t.Errorf("the process sees itself in %d of %d hierarchies:\n%s", n, len(g.trees), got)
		}
		if in := threadsIn(t, g); len(in) > 0 {
			t.Errorf("threads of this process in the group: %v", in)
		}

		if err := g.Start(exec.Command("/none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Start of a program that is not there = %v", err)
		}
		if in := threadsIn(t, g); len(in) > 0 {
			t.Errorf("after an error: threads of this process in the group: %v", in)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if err := g.Start(exec.Command("true")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Start in a closed group = %v", err)
		}
	})
}

// threadsIn lists the threads of this process that are in a group.
func threadsIn(t *testing.T, g *Group) []string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	var in []string
	for _, task := range tasks {
		if text, _ := os.ReadFile(task); strings.Contains(string(text), filepath.Base(g.trees[0].dir)) {
			in = append(in, task)
		}
	}
	return in
}

// watched is the answer of startWatched.
type watched struct {
	Error string
	First bool // the first thread was in the group
	Other bool // another one was
}

// startWatched starts programs from the first thread, to which the main goroutine of a copy is locked, and looks which
// threads enter the group.
func startWatched(n int) watched {
	var w watched
	p, u := parentOf(1)
	if u != nil {
		return watched{Error: u.Error()}
	}
	g, err := p.New("watched", Limits{})
	if err != nil {
		return watched{Error: err.Error()}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			text, _ := os.ReadFile(filepath.Join(g.trees[0].dir, "tasks"))
			for tid := range strings.FieldsSeq(string(text)) {
				if tid == fmt.Sprint(os.Getpid()) {
					w.First = true
				} else if _, err := os.Lstat("/proc/self/task/" + tid); err == nil {
					w.Other = true
				}
			}
		}
	}()
	for range n {
		cmd := exec.Command("true")
		err = errors.Join(err, g.startInside(cmd), cmd.Wait())
	}
	close(stop)
	<-stopped
	if err = errors.Join(err, g.Close()); err != nil {
		w.Error = err.Error()
	}
	return w
}

// The first thread must never enter: memory that the whole process takes would be charged to the group.
func TestGroup_StartNotByTheFirstThread(t *testing.T) {
	p, u := parentOf(1)
	if u != nil {
		t.Skip(u)
	}
	clean(t, p)
	c := start(t, "watched 100")
	var got watched
	c.mustBegin(&got)
	if got.Error != "" || got.First || !got.Other {
		t.Errorf("%+v, want other threads only", got)
	}
}

// startKilled starts programs in a group that is killed meanwhile.
func startKilled(n int) string {
	p, u := parentOf(1)
	if u != nil {
		return u.Error()
	}
	g, err := p.New("killed", Limits{})
	if err != nil {
		return err.Error()
	}
	var kills sync.WaitGroup
	stop := make(chan struct{})
	kills.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = g.Kill()
			}
		}
	})
	for range n {
		cmd := exec.Command("true")
		if g.Start(cmd) == nil { // Kill refuses forks
			_ = cmd.Wait()
		}
	}
	close(stop)
	kills.Wait()
	if err := errors.Join(g.Kill(), g.Close()); err != nil {
		return err.Error()
	}
	return ""
}

// With version 1 the kernel lists this process in the group while a thread of it is there. Kill must not kill it.
func TestGroup_KillDuringStart(t *testing.T) {
	p, u := parentOf(1)
	if u != nil {
		t.Skip(u)
	}
	clean(t, p)
	c := start(t, "killed 200")
	var got string
	if err := c.begin(&got); err != nil || got != "" {
		t.Errorf("%v, %s", err, got)
	}
}
