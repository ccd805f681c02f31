package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// closeTime bounds how long Close, and Kill where it has to look at the processes one by one, wait for them to end.
const closeTime = 2 * time.Second

// files are the names that differ between the versions.
type files struct {
	memory    string // limit of memory
	swap      string // limit of swap (version 2), or of memory and swap (version 1); may be missing
	peak      string
	events    string // has a line oom_kill
	cpu       string
	cpuKey    string // the line of cpu to read; empty if it is all a number
	cpuUnit   time.Duration
	processes string // limit of processes
}

var versions = [...]files{
	1: {
		memory: "memory.limit_in_bytes", swap: "memory.memsw.limit_in_bytes", peak: "memory.max_usage_in_bytes",
		events: "memory.oom_control", cpu: "cpuacct.usage", cpuUnit: time.Nanosecond, processes: "pids.max",
	},
	2: {
		memory: "memory.max", swap: "memory.swap.max", peak: "memory.peak", events: "memory.events",
		cpu: "cpu.stat", cpuKey: "usage_usec", cpuUnit: time.Microsecond, processes: "pids.max",
	},
}

// tree is a hierarchy: all of version 2, or one of version 1 with the controllers that are mounted together.
type tree struct {
	dir         string   // the group under which, or as which, we have ours
	controllers []string // those that we use, by our names
}

func (t tree) has(controller string) bool { return slices.Contains(t.controllers, controller) }

// Parent is where this process may make groups. It holds no descriptors and is safe for concurrent use.
type Parent struct {
	version int
	owner   owner
	trees   []tree
	missing map[string]*Unavailable // why a controller is not there
	peaks   bool                    // the peak of memory can be reset
}

// Version returns 1 or 2.
func (p *Parent) Version() int { return p.version }

// Controllers returns those of memory, pids and cpu that work here. cpu means that CPU time is counted.
func (p *Parent) Controllers() []string {
	var all []string
	for _, c := range []string{controllerMemory, controllerPids, controllerCPU} {
		if slices.ContainsFunc(p.trees, func(t tree) bool { return t.has(c) }) {
			all = append(all, c)
		}
	}
	return all
}

// MeasuresMemory reports whether [Usage.PeakMemory] is known for each run.
func (p *Parent) MeasuresMemory() bool {
	return p.peaks && slices.Contains(p.Controllers(), controllerMemory)
}

// require returns why a controller that is needed is missing.
func (p *Parent) require(controller string) error {
	if slices.Contains(p.Controllers(), controller) {
		return nil
	}
	if u := p.missing[controller]; u != nil {
		return u
	}
	return &Unavailable{Step: "find controller " + controller, Err: errors.ErrUnsupported}
}

// Group is a control group without children. It holds up to three descriptors until Close. Its methods are safe for
// concurrent use; Reset and Usage make sense for one run at a time.
type Group struct {
	version int
	limits  Limits
	trees   []tree // dir is the group's own directory
	figures *figures

	closing sync.Mutex // held by Close while it waits; Kill goes on meanwhile
	removed atomic.Bool
}

// New makes a group of this name, which no other group of this process has: up to 100 bytes without a slash. It has
// no process yet.
//
// It returns [Unavailable] when a limit is asked for whose controller is missing. After an error nothing is left.
func (p *Parent) New(name string, l Limits) (*Group, error) {
	if err := errors.Join(checkName(name), l.check()); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	if l.Memory > 0 {
		if err := p.require(controllerMemory); err != nil {
			return nil, err
		}
	}
	if l.Processes > 0 {
		if err := p.require(controllerPids); err != nil {
			return nil, err
		}
	}
	g := &Group{version: p.version, limits: l, figures: newFigures(versions[p.version])}
	if err := g.create(p, p.owner.String()+name); err != nil {
		// Only directories that create made are in g.
		return nil, fmt.Errorf("cgroup: group %s: %w", name, errors.Join(err, g.Close()))
	}
	return g, nil
}

func (g *Group) create(p *Parent, dir string) error {
	for _, t := range p.trees {
		t.dir = filepath.Join(t.dir, dir)
		if err := mkdir(t.dir); err != nil {
			return err
		}
		g.trees = append(g.trees, t)
		if err := g.limit(t); err != nil {
			return err
		}
		if err := g.figures.open(t); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) limit(t tree) error {
	f := versions[g.version]
	if g.limits.Processes > 0 && t.has(controllerPids) {
		if err := write(filepath.Join(t.dir, f.processes), strconv.Itoa(g.limits.Processes)); err != nil {
			return err
		}
	}
	if g.limits.Memory == 0 || !t.has(controllerMemory) {
		return nil
	}
	bytes := strconv.FormatInt(g.limits.Memory, 10)
	// The limit first: in version 1 the limit of memory and swap may not be below it.
	if err := write(filepath.Join(t.dir, f.memory), bytes); err != nil {
		return err
	}
	swap := "0"
	if g.version == 1 {
		swap = bytes
		// Keeps a group below its limit from swapping, and is all there is where swap is not accounted. Kernels drop
		// the file one day; the limit does not rest on it.
		_ = write(filepath.Join(t.dir, "memory.swappiness"), "0")
	}
	err := write(filepath.Join(t.dir, f.swap), swap)
	if errors.Is(err, unix.ENOENT) { // swap is not accounted on this host
		return nil
	}
	return err
}

// Add moves a process into the group, with all its threads. What it forks from then on is in the group too; children
// that it has already, and memory that it has already, stay where they are. The pid is as seen in our pid namespace,
// and the caller has not reaped it, so that the number cannot be another process by now.
//
// It refuses this process, by the number of a thread too, because the one that embeds us is never put under a limit, and
// process 1. When one hierarchy of version 1 refuses, the process can be in some of the others: end it.
//
// A move waits for an RCU grace period, some 10 ms when none was made just before, whatever the number of hierarchies.
// It is nothing to do in each run, and worth doing while the cell's init prepares itself. [Group.Start] saves it.
func (g *Group) Add(pid int) error {
	if g.removed.Load() {
		return fmt.Errorf("cgroup: add process %d: %w", pid, os.ErrClosed)
	}
	if untouchable(pid) {
		return fmt.Errorf("cgroup: add process %d: not a process that we may move", pid)
	}
	for _, t := range g.trees {
		if err := write(filepath.Join(t.dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("cgroup: add process %d: %w", pid, err)
		}
	}
	return nil
}

// Open opens the directory of the group for SysProcAttr.CgroupFD: a process that is started with it, and UseCgroupFD, is
// in the group from its first instruction and needs no Add. Only version 2 can do that; with version 1 it returns
// errors.ErrUnsupported. The caller closes the file.
func (g *Group) Open() (*os.File, error) {
	if g.removed.Load() {
		return nil, fmt.Errorf("cgroup: open: %w", os.ErrClosed)
	}
	if g.version == 1 {
		return nil, fmt.Errorf("cgroup: open: version 1: %w", errors.ErrUnsupported)
	}
	f, err := os.OpenFile(g.trees[0].dir, unix.O_DIRECTORY|unix.O_PATH, 0)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return f, nil
}

// Close waits, up to 2 seconds, until the group has no process, and removes it. It does not kill: see Kill. After an
// error it may be called again; once it has succeeded it does nothing.
//
// Page cache that the group filled stays, and the kernel keeps some memory for the group until those pages go. It could
// be made to drop them at once (memory.force_empty, memory.reclaim), which costs milliseconds, throws away what the next
// run wants to read, and does nothing for tmpfs.
func (g *Group) Close() error {
	g.figures.close()
	g.closing.Lock()
	defer g.closing.Unlock()
	if g.removed.Load() {
		return nil
	}
	wait := newBackoff()
	var errs []error
	for _, t := range g.trees {
		errs = append(errs, remove(t.dir, wait))
	}
	err := errors.Join(errs...)
	if err != nil {
		return fmt.Errorf("cgroup: close: %w", err)
	}
	g.removed.Store(true)
	return nil
}

// remove removes a group. The kernel answers EBUSY while it has processes, which is all there is to wait for.
func remove(dir string, wait *backoff) error {
	for {
		err := unix.Rmdir(dir)
		if err == nil || gone(err) {
			return nil
		}
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EBUSY) {
			return pathError("rmdir", dir, err)
		}
		if wait.wait() {
			continue
		}
		pids, _ := processes(dir)
		return fmt.Errorf("%w after %v, with processes %v", pathError("rmdir", dir, err), closeTime, pids)
	}
}
