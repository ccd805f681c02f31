package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestDecide(t *testing.T) {
	both := []string{"memory", "pids"}
	const me, child, stranger, user = 10, 11, 99, 1000
	group := func(change func(*groupV2)) groupV2 {
		g := groupV2{dir: "/own", name: "own", available: both, processes: []int{me, child}}
		if change != nil {
			change(&g)
		}
		return g
	}
	leaf := group(func(g *groupV2) { g.dir, g.name, g.available = "/above/leaf", hostLeaf, nil })
	above := group(func(g *groupV2) { g.dir, g.name, g.enabled, g.processes = "/above", "above", both, nil })
	with := func(g groupV2, change func(*groupV2)) *groupV2 { change(&g); return &g }

	move := plan{dir: "/own", controllers: both, enable: both, move: true}
	for name, c := range map[string]struct {
		own    groupV2
		above  *groupV2
		uid    int
		want   plan
		remedy string
	}{
		"no controllers: groups without limits": {
			own: group(func(g *groupV2) { g.available = nil }), want: plan{dir: "/own"},
		},
		"the host's root may have processes": {
			own: group(func(g *groupV2) { g.root, g.name, g.processes = true, "/", []int{stranger} }), want: plan{dir: "/own", controllers: both, enable: both},
		},
		"one is enabled already": {
			own:  group(func(g *groupV2) { g.root, g.name, g.enabled = true, "/", both[:1] }),
			want: plan{dir: "/own", controllers: both, enable: both[1:]},
		},
		"scope that systemd delegated":          {own: group(func(g *groupV2) { g.marked = true }), want: move},
		"container":                             {own: group(func(g *groupV2) { g.name = "/" }), want: move},
		"group of our user":                     {own: group(func(g *groupV2) { g.uid = user }), uid: user, want: move},
		"group of another user":                 {own: group(func(g *groupV2) { g.uid = user }), uid: user + 1, remedy: remedyDelegate},
		"root may write, but it is not for us":  {own: group(nil), remedy: remedyDelegate},
		"user in a group of root":               {own: group(nil), uid: user, remedy: remedyDelegate},
		"container with a process of others":    {own: group(func(g *groupV2) { g.name, g.processes = "/", []int{me, stranger} }), remedy: remedyAlone},
		"container with a process from outside": {own: group(func(g *groupV2) { g.name, g.processes = "/", []int{0, me} }), remedy: remedyAlone},
		"delegated, with a shell above us":      {own: group(func(g *groupV2) { g.marked, g.processes = true, []int{stranger, me} }), remedy: remedyAlone},
		"moved by an earlier Find":              {own: leaf, above: &above, want: plan{dir: "/above", controllers: both}},
		"leaf, controllers were switched off": {
			own: leaf, above: with(above, func(g *groupV2) { g.enabled = nil }), want: plan{dir: "/above", controllers: both, enable: both},
		},
		"leaf of a group that has processes": {
			own: leaf, above: with(above, func(g *groupV2) { g.processes = []int{me} }), want: plan{dir: "/above/leaf"},
		},
		"DelegateSubgroup=": {
			own: group(nil), above: with(above, func(g *groupV2) { g.marked = true }), want: plan{dir: "/above", controllers: both},
		},
		"container whose entry point moved us": {
			own: group(nil), above: with(above, func(g *groupV2) { g.name = "/" }), want: plan{dir: "/above", controllers: both},
		},
		"the host's root is above": {
			own: group(nil), above: with(above, func(g *groupV2) { g.name, g.root = "/", true }), remedy: remedyDelegate,
		},
		"delegated below a delegated one: stay low": {
			own: group(func(g *groupV2) { g.marked = true }), above: with(above, func(g *groupV2) { g.marked = true }), want: move,
		},
		"slice of our user": {
			own:   group(func(g *groupV2) { g.uid, g.processes = user, []int{stranger, me} }),
			above: with(above, func(g *groupV2) { g.uid = user }), uid: user, remedy: remedyAlone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, u := decide(c.own, c.above, c.uid, func(pid int) bool { return pid == me || pid == child })
			if u != nil {
				if c.remedy == "" || u.Remedy != c.remedy || u.Step == "" || u.Err == nil {
					t.Errorf("decide: %+v, want %+v, remedy %q", u, c.want, c.remedy)
				}
				return
			}
			if c.remedy != "" || cmp.Diff(c.want, got, cmp.AllowUnexported(plan{})) != "" {
				t.Errorf("decide = %+v, want %+v, remedy %q", got, c.want, c.remedy)
			}
		})
	}
}

func TestReadGroupV2(t *testing.T) {
	for name, c := range map[string]struct {
		path  string
		files map[string]string
		want  groupV2
		fails bool
	}{
		"delegated scope": {
			path: "/user.slice/run-1.scope",
			files: map[string]string{
				"cgroup.controllers": "cpuset cpu io memory pids\n", "cgroup.subtree_control": "pids\n",
				"cgroup.procs": "12\n13\n", "cgroup.type": "domain\n",
			},
			want: groupV2{
				name: "run-1.scope", available: []string{"memory", "pids"}, enabled: []string{"pids"}, processes: []int{12, 13},
			},
		},
		"root of a namespace": {
			path:  "/",
			files: map[string]string{"cgroup.controllers": "memory\n", "cgroup.subtree_control": "", "cgroup.procs": "0\n1\n", "cgroup.type": "domain\n"},
			want:  groupV2{name: "/", available: []string{"memory"}, processes: []int{0, 1}},
		},
		"host's root, with processes that nobody counts": {
			path:  "/",
			files: map[string]string{"cgroup.controllers": "hugetlb\n", "cgroup.subtree_control": "", "cgroup.procs": "1\n2\n"},
			want:  groupV2{name: "/", root: true},
		},
		"version 1":           {path: "/", files: map[string]string{"cgroup.procs": "1\n"}, fails: true},
		"strange processes":   {path: "/a", files: map[string]string{"cgroup.controllers": "", "cgroup.subtree_control": "", "cgroup.procs": "x\n", "cgroup.type": "domain\n"}, fails: true},
		"no list of children": {path: "/a", files: map[string]string{"cgroup.controllers": "memory\n"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := readGroupV2(dir, c.path)
			if (err != nil) != c.fails {
				t.Fatalf("readGroupV2: %v, want an error: %v", err, c.fails)
			}
			c.want.dir, c.want.uid = dir, os.Geteuid()
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(groupV2{})); diff != "" && !c.fails {
				t.Error(diff)
			}
		})
	}
	if _, err := readGroupV2(t.TempDir()+"/none", "/none"); err == nil {
		t.Error("readGroupV2 of a group that is not there = nil")
	}
}

func TestMarked(t *testing.T) {
	dir := t.TempDir()
	if marked(dir) {
		t.Error("a directory without attribute is marked")
	}
	for value, want := range map[string]bool{"1": true, "0": false, "": false, "123456789": false} {
		if err := unix.Setxattr(dir, "user.delegate", []byte(value), 0); err != nil {
			t.Skip("no extended attributes here:", err)
		}
		if got := marked(dir); got != want {
			t.Errorf("user.delegate = %q: marked = %v", value, got)
		}
	}
}

// done is the answer of doPlan.
type done struct {
	Error      string
	Remedy     string
	Membership string
	Enabled    string
	Leaf       bool // it is there
	Child      string
}

// doPlan does a plan in the group that this copy was put into.
func doPlan(dir, controllers string, withChild bool) done {
	var d done
	child := 0
	if withChild {
		fork(1)
		pids, _ := processes(dir)
		child = pids[slices.IndexFunc(pids, func(pid int) bool { return pid != os.Getpid() })]
	}
	p := plan{dir: dir, enable: strings.Split(controllers, ","), move: true}
	if u := p.do(); u != nil {
		d.Error, d.Remedy = u.Error(), u.Remedy
	}
	d.Membership = membershipV2("self")
	enabled, _ := os.ReadFile(dir + "/cgroup.subtree_control")
	d.Enabled = strings.TrimSpace(string(enabled))
	_, err := os.Stat(filepath.Join(dir, hostLeaf))
	d.Leaf = err == nil
	if withChild {
		d.Child = membershipV2(strconv.Itoa(child))
		_ = unix.Kill(child, unix.SIGKILL)
	}
	return d
}

func membershipV2(pid string) string {
	text, _ := os.ReadFile("/proc/" + pid + "/cgroup")
	for _, m := range parseMemberships(string(text)) {
		if m.hierarchy == 0 {
			return m.path
		}
	}
	return ""
}

// controllerV2 makes a controller of version 2 usable in a group under p, whichever there is: on a host whose memory
// and pids are in version 1 it is another one.
func controllerV2(t *testing.T, p *Parent) string {
	t.Helper()
	dir := p.trees[0].dir
	file := filepath.Join(dir, "cgroup.subtree_control")
	for _, name := range []string{file, filepath.Join(dir, "cgroup.controllers")} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Fields(string(text))
		if len(all) == 0 {
			continue
		}
		if name != file {
			if err := write(file, "+"+all[0]); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() {
				if err := write(file, "-"+all[0]); err != nil {
					t.Error(err)
				}
			})
		}
		return all[0]
	}
	t.Skip("version 2 has no controller here")
	return ""
}

// removeLeaf removes the leaf that a Find in a group of the test made, when the test ends.
func removeLeaf(t *testing.T, dir string) {
	t.Cleanup(func() {
		leaf := Group{version: 2, trees: []tree{{dir: filepath.Join(dir, hostLeaf)}}, figures: newFigures(versions[2])}
		if err := errors.Join(leaf.Kill(), leaf.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestPlan_Do(t *testing.T) {
	p, u := parentOf(2)
	if u != nil {
		t.Skip(u)
	}
	clean(t, p)
	controller := controllerV2(t, p)
	for name, c := range map[string]struct {
		controllers string
		child       bool // the process has one, which moves along
		stranger    bool // another process is in the group
		failsWith   string
	}{
		"alone":                   {controllers: controller},
		"with a child":            {controllers: controller, child: true},
		"with a stranger":         {controllers: controller, stranger: true, failsWith: "not ours"},
		"controller is not there": {controllers: "nonsense", failsWith: "invalid argument"},
		"the second is not there": {controllers: controller + ",nonsense", child: true, failsWith: "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, p, "plan", Limits{})
			dir := g.trees[0].dir
			role := "plan " + dir + " " + c.controllers
			if c.child {
				role += " child"
			}
			inside := startIn(t, g, role)
			before := membershipV2(strconv.Itoa(inside.cmd.Process.Pid))
			if c.stranger {
				startIn(t, g, "spin 0")
			}
			removeLeaf(t, dir)
			var got done
			inside.mustBegin(&got)
			if c.failsWith != "" {
				if !strings.Contains(got.Error, c.failsWith) || got.Leaf || got.Enabled != "" || got.Membership != before {
					t.Errorf("do: %+v, want all as before, in %s, and %q", got, before, c.failsWith)
				}
				if c.stranger && got.Remedy != remedyAlone {
					t.Errorf("remedy %q", got.Remedy)
				}
				if c.child && got.Child != before {
					t.Errorf("the child is in %s, want %s", got.Child, before)
				}
				return
			}
			if want := before + "/" + hostLeaf; got.Error != "" || got.Membership != want || got.Enabled != c.controllers || c.child && got.Child != want {
				t.Errorf("do: %+v, want to be in %s and %s enabled", got, want, c.controllers)
			}
		})
	}
}

// In a cgroup namespace of our own, as in a container: with memory and pids in version 2 it moves us, without them
// there is only CPU time.
func TestFind_Container(t *testing.T) {
	p, u := parentOf(2)
	if u != nil || os.Geteuid() != 0 {
		t.Skip("needs root and version 2: ", u)
	}
	clean(t, p)
	g := newGroup(t, p, "container", Limits{})
	dir := g.trees[0].dir
	removeLeaf(t, dir)
	c := startIn(t, g, "find container")
	var got found
	c.mustBegin(&got)
	if got.Setup != "" {
		t.Skip(got.Setup)
	}
	wantGroup := "/"
	if slices.Equal(p.Controllers(), []string{controllerMemory, controllerPids, controllerCPU}) {
		wantGroup = "/" + hostLeaf
	}
	if got.Error != "" || got.Version != 2 || !slices.Equal(got.Dirs, []string{"/sys/fs/cgroup"}) || !strings.Contains(got.Membership, "0::"+wantGroup+"\n") {
		t.Errorf("Find: %+v, want to be in %s", got, wantGroup)
	}
}
