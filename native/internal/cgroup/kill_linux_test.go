package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// familyTree has processes that ignore the signals that they can ignore, and some without a parent.
const familyTree = `trap '' TERM HUP INT
sleep 1000 &
(sleep 1000 & (sleep 1000 & sleep 1000) & wait) &
(setsid sh -c 'trap "" TERM; sleep 1000 & sleep 1000' &)
wait`

// bomb forks without end.
const bomb = `b() { b & b & sleep 0.01; }; while :; do b; sleep 0.01; done`

func TestGroup_Kill(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "kill", Limits{})
		sh := startShell(t, familyTree)
		if err := g.Add(sh.cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		sh.release()
		waitFor(t, func() bool { return len(inGroup(t, g)) >= 8 })
		if err := g.Kill(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return len(inGroup(t, g)) == 0 })
		// It can be used again.
		startIn(t, g, "spin 0")
		if len(inGroup(t, g)) != 1 {
			t.Errorf("after Kill the group has %v", inGroup(t, g))
		}
	})
}

// Without cgroup.kill a program that forks faster than it is killed must not win.
func TestGroup_KillForkBomb(t *testing.T) {
	p := find(t)
	clean(t, p)
	g := newGroup(t, p, "bomb", Limits{Processes: 60})
	sh := startShell(t, bomb)
	if err := g.Add(sh.cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	sh.release()
	waitFor(t, func() bool { return len(inGroup(t, g)) > 20 })
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(inGroup(t, g)) == 0 })
	for _, tr := range g.trees {
		if !tr.has(controllerPids) {
			continue
		}
		limit, err := os.ReadFile(filepath.Join(tr.dir, "pids.max"))
		if err != nil || strings.TrimSpace(string(limit)) != "60" {
			t.Errorf("the limit is %q, %v after Kill", limit, err)
		}
	}
}

// killThese gets numbers that were in the group a moment ago. It must not kill what is not in it now.
func TestKillThese_OnlyOfTheGroup(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "only", Limits{})
		inside, outside, ended := startIn(t, g, "spin 0"), start(t, "spin 0"), start(t, "spin 0")
		ended.end()
		pids := []int{outside.cmd.Process.Pid, ended.cmd.Process.Pid, inside.cmd.Process.Pid}
		if err := killThese(g.trees[0].dir, pids); err != nil {
			t.Fatal(err)
		}
		inside.signal()
		var n time.Duration
		outside.mustBegin(&n) // it lives
		if err := killThese(g.trees[0].dir, []int{0}); err == nil {
			t.Error("killThese of process 0 = nil")
		}
	})
}

// The loops must do what cgroup.kill does where there is none.
func TestKillAll(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "all", Limits{})
		sh := startShell(t, familyTree)
		if err := g.Add(sh.cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		sh.release()
		waitFor(t, func() bool { return len(inGroup(t, g)) >= 8 })
		if err := killAll(g.trees[0].dir); err != nil {
			t.Fatal(err)
		}
		if pids := inGroup(t, g); len(pids) != 0 {
			t.Errorf("killAll left %v", pids)
		}
	})
}

func inGroup(t *testing.T, g *Group) []int {
	t.Helper()
	pids, err := processes(g.trees[len(g.trees)-1].dir)
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not come to be")
}
