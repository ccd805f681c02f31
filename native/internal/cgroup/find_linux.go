package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// What a person can do about an error.
const (
	remedyDelegate = "delegate a cgroup v2 subtree: start this program with `systemd-run --user --scope -p Delegate=yes`, " +
		"or set Delegate=yes in its unit"
	remedyAlone = "start this program as the only one in its container or scope, or in a child group of the delegated one " +
		"(DelegateSubgroup= of systemd)"
	remedyReadOnly = "the cgroup file system is read-only, as containers get it: with Docker add --cgroupns=private " +
		"--security-opt writable-cgroups=true, with containerd set cgroup_writable, or run the container privileged"
	remedyMount = "mount cgroup2 on /sys/fs/cgroup"
)

// unavailable makes the error of a step that the kernel refused.
func unavailable(step string, err error) *Unavailable {
	u := &Unavailable{Step: step, Err: err}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		u.Step, u.Err = path.Op+" "+path.Path, path.Err
	}
	switch {
	case errors.Is(err, unix.EROFS):
		u.Remedy = remedyReadOnly
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		u.Remedy = remedyDelegate
	case errors.Is(err, unix.EBUSY):
		u.Remedy = remedyAlone
	}
	return u
}

// Find finds where this process may make groups, by trying: it makes an empty group and removes it. It takes version 1
// where the memory controller is there, else version 2, else what is left; a hierarchy in which nothing works is left
// out. A Parent has at least one controller: see [Parent.Controllers] for which.
//
// With version 2 it may move this process, and its descendants, into a leaf group without limits, under the conditions
// that the package comment tells. Call it once, early. It returns [Unavailable].
func Find() (*Parent, error) {
	h, u := readHost()
	if u != nil {
		return nil, u
	}
	return h.find()
}

// host is what the decision rests on.
type host struct {
	owner       owner
	memberships []membership
	mounts      []mount
}

func readHost() (host, *Unavailable) {
	me, err := self()
	if err != nil {
		return host{}, &Unavailable{Step: "identify this process", Err: err}
	}
	memberships, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return host{}, unavailable("", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return host{}, unavailable("", err)
	}
	return host{owner: me, memberships: parseMemberships(string(memberships)), mounts: parseMounts(string(mounts))}, nil
}

// find tries version 1 first. A controller is in one hierarchy only: when memory is in version 1, nothing is to be
// gained from version 2, and trying that would move processes.
func (h host) find() (*Parent, error) {
	p1, err1 := h.findV1()
	if err1 == nil && slices.Contains(p1.Controllers(), controllerMemory) {
		return p1, nil
	}
	p2, err2 := h.findV2()
	switch {
	case err1 != nil && err2 != nil:
		if slices.ContainsFunc(h.mounts, func(m mount) bool { return m.has(controllerMemory) }) {
			return nil, err1
		}
		return nil, err2
	case err1 != nil:
		return p2, nil
	case err2 != nil:
		return p1, nil
	}
	if len(p1.Controllers()) > len(p2.Controllers()) {
		return p1, nil
	}
	return p2, nil
}

// locate returns the directory of a group in the first mount that shows it.
func (h host) locate(group membership, wanted func(mount) bool) (string, *Unavailable) {
	step := "locate group " + group.path
	if group.removed() {
		return "", &Unavailable{Step: step, Err: errors.New("it was removed")}
	}
	for _, m := range h.mounts {
		if !wanted(m) {
			continue
		}
		dir, ok := m.dir(group.path)
		if !ok {
			continue
		}
		// The mount can be hidden by another one on top of it.
		if _, err := os.Lstat(filepath.Join(dir, "cgroup.procs")); err == nil {
			return dir, nil
		}
	}
	return "", &Unavailable{Step: step, Err: errors.New("no cgroup file system that is mounted shows it"), Remedy: remedyMount}
}

// probes numbers the probe groups of this process.
var probes atomic.Int64

// probe makes a group under t.dir and looks which of t.controllers have their files in it. It returns those, and why
// the others are missing.
func (p *Parent) probe(t tree) tree {
	f := versions[p.version]
	works := tree{dir: t.dir}
	dir := filepath.Join(t.dir, fmt.Sprintf("%sprobe-%d", p.owner, probes.Add(1)))
	if err := mkdir(dir); err != nil {
		for _, c := range t.controllers {
			p.missing[c] = unavailable("", err)
		}
		return works
	}
	needs := map[string][]string{
		controllerMemory: {f.memory, f.events},
		controllerPids:   {f.processes},
		controllerCPU:    {f.cpu},
	}
	for _, c := range t.controllers {
		err := accessible(filepath.Join(dir, "cgroup.procs"), unix.W_OK)
		for i, file := range needs[c] {
			mode := uint32(unix.R_OK)
			if i == 0 && c != controllerCPU { // the limit
				mode = unix.W_OK
			}
			err = errors.Join(err, accessible(filepath.Join(dir, file), mode))
		}
		if err != nil {
			p.missing[c] = unavailable("", err)
			continue
		}
		works.controllers = append(works.controllers, c)
		if c == controllerMemory {
			p.peaks = resetsPeak(filepath.Join(dir, f.peak))
		}
	}
	if err := remove(dir, newBackoff()); err != nil {
		for _, c := range t.controllers {
			p.missing[c] = unavailable("", err)
		}
		works.controllers = nil
	}
	return works
}

func accessible(path string, mode uint32) error {
	return pathError("access", path, unix.Access(path, mode))
}

// done returns p if a controller works, else why none does.
func (p *Parent) done() (*Parent, *Unavailable) {
	if len(p.Controllers()) > 0 {
		return p, nil
	}
	for _, c := range []string{controllerMemory, controllerPids, controllerCPU} {
		if u := p.missing[c]; u != nil {
			return nil, u
		}
	}
	return nil, &Unavailable{Step: "find controllers", Err: errors.New("there are none"), Remedy: remedyMount}
}

// findV1 looks at the hierarchies of memory, pids and cpuacct, each by itself: this process may be in another group in
// each, and some are mounted together.
func (h host) findV1() (*Parent, *Unavailable) {
	p := &Parent{version: 1, owner: h.owner, missing: make(map[string]*Unavailable)}
	var trees []tree
	for _, c := range []struct{ kernel, ours string }{
		{"memory", controllerMemory},
		{"pids", controllerPids},
		{"cpuacct", controllerCPU},
	} {
		dir, u := h.locateV1(c.kernel)
		if u != nil {
			p.missing[c.ours] = u
			continue
		}
		i := slices.IndexFunc(trees, func(t tree) bool { return t.dir == dir })
		if i < 0 {
			i = len(trees)
			trees = append(trees, tree{dir: dir})
		}
		trees[i].controllers = append(trees[i].controllers, c.ours)
	}
	for _, t := range trees {
		if works := p.probe(t); len(works.controllers) > 0 {
			p.trees = append(p.trees, works)
		}
	}
	return p.done()
}

// locateV1 returns the directory of our group in the hierarchy of a controller.
func (h host) locateV1(controller string) (string, *Unavailable) {
	i := slices.IndexFunc(h.memberships, func(m membership) bool { return slices.Contains(m.controllers, controller) })
	if i < 0 {
		return "", &Unavailable{Step: "find controller " + controller, Err: errors.New("it is in no hierarchy of version 1")}
	}
	if slices.Contains(h.memberships[i].controllers, "cpuset") {
		return "", &Unavailable{
			Step: "use the hierarchy " + strings.Join(h.memberships[i].controllers, ","),
			Err:  errors.New("a group takes no process before its cpuset is configured"),
		}
	}
	return h.locate(h.memberships[i], func(m mount) bool { return m.has(controller) })
}
