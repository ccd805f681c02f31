package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// leftover is the answer of leave.
type leftover struct {
	Error string
	Dirs  []string
	Pid   int // a process in the group
}

// leave makes a group with a process in it.
func leave(version int) leftover {
	p, u := parentOf(version)
	if u != nil {
		return leftover{Error: u.Error()}
	}
	g, err := p.New("left", Limits{})
	if err != nil {
		return leftover{Error: err.Error()}
	}
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		return leftover{Error: err.Error()}
	}
	l := leftover{Pid: sleep.Process.Pid}
	if err := g.Add(l.Pid); err != nil {
		l.Error = err.Error()
	}
	for _, t := range g.trees {
		l.Dirs = append(l.Dirs, t.dir)
	}
	return l
}

func TestSweep(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		role := map[int]string{1: "leave 1", 2: "leave 2"}[p.version]
		var ofDead, ofLiving leftover
		dead, living := start(t, role), start(t, role)
		dead.mustBegin(&ofDead)
		living.mustBegin(&ofLiving)
		if ofDead.Error != "" || ofLiving.Error != "" {
			t.Fatal(ofDead.Error, ofLiving.Error)
		}
		checkDirs(t, "before", ofDead, true)
		dead.end() // from here on the Sweep of any other process on this host may find its group too

		mine := newGroup(t, p, "mine", Limits{})
		me := p.owner
		otherPidns, otherTimens, reused, never := me, me, me, me
		otherPidns.pid, otherPidns.pidns = dead.cmd.Process.Pid, me.pidns+1
		otherTimens.pid, otherTimens.timens = dead.cmd.Process.Pid, me.timens+1
		reused.pid, reused.start = living.cmd.Process.Pid, 1
		never.pid = 1<<22 + 1 // past the highest pid_max
		stay := []string{otherPidns.String() + "x", otherTimens.String() + "x", hostLeaf + "-x", "sandbar-1-1-1.1-"}
		removed := []string{reused.String() + "x", never.String() + "x"}
		for _, name := range slices.Concat(stay, removed) {
			dir := filepath.Join(p.trees[0].dir, name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Remove(dir) })
		}

		if err := Sweep(p); err != nil {
			t.Fatal(err)
		}
		checkDirs(t, "of a dead process", ofDead, false)
		checkDirs(t, "of a living process", ofLiving, true)
		checkDirs(t, "of this process", leftover{Dirs: []string{mine.trees[0].dir}}, true)
		if !ended(ofDead.Pid) {
			t.Errorf("process %d of the swept group lives", ofDead.Pid)
		}
		if pids, err := processes(ofLiving.Dirs[0]); len(pids) != 1 || err != nil {
			t.Errorf("the group of the living process has %v, %v", pids, err)
		}
		for _, name := range stay {
			checkDirs(t, name, leftover{Dirs: []string{filepath.Join(p.trees[0].dir, name)}}, true)
		}
		for _, name := range removed {
			checkDirs(t, name, leftover{Dirs: []string{filepath.Join(p.trees[0].dir, name)}}, false)
		}

		living.end()
		if err := Sweep(p); err != nil {
			t.Fatal(err)
		}
		checkDirs(t, "of the second dead process", ofLiving, false)
	})
}

// A dead process was in another group than we are, beside ours: its groups are found under that one.
func TestSweep_BesideOurs(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		ours, beside := newGroup(t, p, "ours", Limits{}), newGroup(t, p, "beside", Limits{})
		never := p.owner
		never.pid = 1<<22 + 1 // past the highest pid_max
		names := []string{never.String() + "dead", p.owner.String() + "living"}
		var dirs []string
		for _, tr := range beside.trees {
			for _, name := range names {
				dir := filepath.Join(tr.dir, name)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Remove(dir) })
				dirs = append(dirs, dir)
			}
		}
		here := &Parent{version: p.version, owner: p.owner}
		for _, tr := range ours.trees {
			here.trees = append(here.trees, tree{dir: tr.dir, controllers: p.trees[len(here.trees)].controllers})
		}
		if err := Sweep(here); err != nil {
			t.Fatal(err)
		}
		for i, dir := range dirs {
			checkDirs(t, names[i%2], leftover{Dirs: []string{dir}}, i%2 == 1)
		}
	})
}

func checkDirs(t *testing.T, what string, l leftover, want bool) {
	t.Helper()
	for _, dir := range l.Dirs {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("group %s: %s: %v, want it there: %v", what, dir, err, want)
		}
	}
}

// ended says that a process is gone, or only waits for its parent.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
