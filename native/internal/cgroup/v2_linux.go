package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// moveRounds bounds how often processes are moved again because others were forked meanwhile.
const moveRounds = 10

// groupV2 is what the decision needs to know of a group of version 2.
type groupV2 struct {
	dir       string
	name      string   // the last element of its path; "/" for the root of the cgroup namespace
	root      bool     // the host's root group, which may have processes and children with controllers at once
	marked    bool     // systemd marked it as delegated
	uid       int      // who owns it
	available []string // controllers that it has, of memory and pids
	enabled   []string // those that its children have
	processes []int
}

// delegated says that the group is ours to manage, and not that of a manager which expects nobody else in it.
func (g groupV2) delegated(uid int) bool {
	return g.marked || g.name == "/" && !g.root || uid != 0 && g.uid == uid
}

// plan is how to make groups of version 2 under dir.
type plan struct {
	dir         string
	controllers []string // what the groups will have, of memory and pids
	enable      []string // those of them to enable for the children of dir first
	move        bool     // before that, move the processes of dir into a leaf
}

func (g groupV2) plan() plan {
	return plan{dir: g.dir, controllers: g.available, enable: without(g.available, g.enabled)}
}

// decide chooses between the group that we are in and the one above it, which is nil if it is not to be seen. It only
// decides; ours tells whether a process is this one or comes from it.
func decide(own groupV2, above *groupV2, uid int, ours func(pid int) bool) (plan, *Unavailable) {
	if above != nil && !own.marked && suits(own, *above) {
		return above.plan(), nil
	}
	p := own.plan()
	if len(p.enable) == 0 || own.root || len(own.processes) == 0 {
		return p, nil
	}
	step := fmt.Sprintf("enable %s for the children of %s", strings.Join(p.enable, " and "), own.dir)
	if !own.delegated(uid) {
		return plan{}, &Unavailable{Step: step, Err: errors.New("the group is not delegated to us"), Remedy: remedyDelegate}
	}
	if i := slices.IndexFunc(own.processes, func(pid int) bool { return !ours(pid) }); i >= 0 {
		err := fmt.Errorf("process %d in it is not ours to move: %w", own.processes[i], unix.EBUSY)
		return plan{}, &Unavailable{Step: step, Err: err, Remedy: remedyAlone}
	}
	p.move = true
	return p, nil
}

// suits says that the group above ours was prepared for making groups in it: it has no process, it has controllers,
// and we, or who delegated it, put us into a child of it. That it belongs to our user says nothing: so does every slice
// of a user's systemd.
func suits(own, above groupV2) bool {
	prepared := own.name == hostLeaf || above.marked || above.name == "/" && !above.root
	return prepared && len(above.processes) == 0 && len(above.available) > 0
}

func without(all, some []string) []string {
	var rest []string
	for _, s := range all {
		if !slices.Contains(some, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// readGroupV2 reads a group. Its path is as seen from the root of the cgroup namespace.
func readGroupV2(dir, group string) (groupV2, error) {
	g := groupV2{dir: dir, name: path.Base(group)}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return g, pathError("stat", dir, err)
	}
	g.uid = int(st.Uid)
	_, err := os.Lstat(filepath.Join(dir, "cgroup.type")) // the host's root has none
	g.root = errors.Is(err, os.ErrNotExist)
	g.marked = marked(dir)
	if g.available, err = readControllers(filepath.Join(dir, "cgroup.controllers")); err != nil {
		return g, err
	}
	if g.enabled, err = readControllers(filepath.Join(dir, "cgroup.subtree_control")); err != nil {
		return g, err
	}
	if g.root {
		return g, nil // it may have thousands of processes, and they do not matter
	}
	g.processes, err = processes(dir)
	if errors.Is(err, unix.EOPNOTSUPP) { // a threaded group, which can have no controllers
		g.available, err = nil, nil
	}
	return g, err
}

// marked looks for the attributes by which systemd tells of delegation: the first since version 251, the second for
// privileged eyes only.
func marked(dir string) bool {
	var value [8]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// readControllers reads those that this package uses.
func readControllers(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []string
	for c := range strings.FieldsSeq(string(text)) {
		if c == controllerMemory || c == controllerPids {
			all = append(all, c)
		}
	}
	return all, nil
}

// findV2 looks at our group of version 2 and the one above, decides, and does it.
func (h host) findV2() (*Parent, *Unavailable) {
	i := slices.IndexFunc(h.memberships, func(m membership) bool { return m.hierarchy == 0 })
	if i < 0 {
		return nil, &Unavailable{Step: "find our group of version 2", Err: errors.New("there is none"), Remedy: remedyMount}
	}
	version2 := func(m mount) bool { return m.version == 2 }
	group := h.memberships[i]
	dir, u := h.locate(group, version2)
	if u != nil {
		return nil, u
	}
	own, err := readGroupV2(dir, group.path)
	if err != nil {
		return nil, unavailable("read group", err)
	}
	plan, u := decide(own, h.aboveV2(group, version2), os.Geteuid(), descendant)
	if u != nil {
		return nil, u
	}
	if u := plan.do(); u != nil {
		return nil, u
	}
	p := &Parent{version: 2, owner: h.owner, missing: make(map[string]*Unavailable)}
	for _, c := range without([]string{controllerMemory, controllerPids}, plan.controllers) {
		p.missing[c] = &Unavailable{
			Step:   "find " + c + " in " + filepath.Join(plan.dir, "cgroup.controllers"),
			Err:    errors.New("the group does not have this controller"),
			Remedy: remedyDelegate,
		}
	}
	works := p.probe(tree{dir: plan.dir, controllers: append(slices.Clone(plan.controllers), controllerCPU)})
	if len(works.controllers) > 0 {
		p.trees = []tree{works}
	}
	return p.done()
}

// aboveV2 reads the group above ours, and returns nil if we cannot.
func (h host) aboveV2(group membership, version2 func(mount) bool) *groupV2 {
	if group.path == "/" {
		return nil
	}
	group.path = path.Dir(group.path)
	dir, u := h.locate(group, version2)
	if u != nil {
		return nil
	}
	above, err := readGroupV2(dir, group.path)
	if err != nil {
		return nil
	}
	return &above
}

// do makes dir a group whose children have the controllers. When it fails, processes are back where they were.
func (p plan) do() *Unavailable {
	if len(p.enable) == 0 {
		return nil
	}
	if !p.move {
		if err := p.enableAll(); err != nil {
			return unavailable("", err)
		}
		return nil
	}
	leaf := filepath.Join(p.dir, hostLeaf)
	err := mkdir(leaf)
	made := err == nil
	if err == nil || errors.Is(err, unix.EEXIST) {
		err = p.moveAndEnable(leaf)
	}
	if err == nil {
		return nil
	}
	p.disableAll() // else nothing can be moved back
	err = errors.Join(err, moveAll(leaf, p.dir))
	if made {
		err = errors.Join(err, remove(leaf, newBackoff()))
	}
	return unavailable("", err)
}

// moveAndEnable moves the processes of p.dir into the leaf and enables the controllers. The kernel says EBUSY when
// others were forked meanwhile.
func (p plan) moveAndEnable(leaf string) error {
	for range moveRounds {
		if err := moveAll(p.dir, leaf); err != nil {
			return err
		}
		if err := p.enableAll(); !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	return pathError("enable "+strings.Join(p.enable, " and ")+" in", p.dir, unix.EBUSY)
}

// moveAll moves the processes of one group into another, if all are this one or come from it.
func moveAll(from, to string) error {
	pids, err := processes(from)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if !descendant(pid) {
			return pathError(fmt.Sprintf("move process %d, which is not ours, from", pid), from, unix.EBUSY)
		}
	}
	for _, pid := range pids {
		if err := write(filepath.Join(to, "cgroup.procs"), strconv.Itoa(pid)); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

func (p plan) enableAll() error {
	file := filepath.Join(p.dir, "cgroup.subtree_control")
	var errs []error
	for _, c := range p.enable {
		errs = append(errs, write(file, "+"+c))
	}
	return errors.Join(errs...)
}

// disableAll undoes enableAll after an error, as far as it came.
func (p plan) disableAll() {
	for _, c := range p.enable {
		_ = write(filepath.Join(p.dir, "cgroup.subtree_control"), "-"+c)
	}
}
