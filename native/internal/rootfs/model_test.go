package rootfs

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// model carries out a plan on paper, with the strictness of the kernel and a rule of its own: nothing is made
// or changed in what belongs to the host.
type model struct {
	host   fs.ReadLinkFS
	mounts []*modelMount
}

// modelMount is a mount. Later ones hide what is at and below their target.
type modelMount struct {
	op     spec.Op
	source string            // on the host; empty for a file system of its own
	nodes  map[string]string // of a file system of its own, by path from its root: "dir", "file" or "link:" and where it leads
}

func newModel(host fs.ReadLinkFS) *model {
	root := &modelMount{op: spec.Op{Target: "/"}, nodes: map[string]string{"/": "dir"}}
	return &model{host: host, mounts: []*modelMount{root}}
}

// mountOf gives the mount that a path without links is on, and the path from the root of what is mounted.
func (m *model) mountOf(p string) (*modelMount, string) {
	for _, mount := range slices.Backward(m.mounts) {
		if within(p, mount.op.Target) {
			return mount, path.Join("/", strings.TrimPrefix(p, mount.op.Target))
		}
	}
	panic("no root")
}

// node says what is at a path without links: as modelMount.nodes, and empty for nothing.
func (m *model) node(p string) string {
	mount, rel := m.mountOf(p)
	if mount.source == "" {
		return mount.nodes[rel]
	}
	name := strings.TrimPrefix(path.Join(mount.source, rel), "/")
	info, err := m.host.Lstat(name)
	switch {
	case strings.HasPrefix(name, "dev/") || name == "tmp/sandbar-1/work":
		return map[bool]string{true: "file", false: "dir"}[strings.HasPrefix(name, "dev/")]
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := m.host.ReadLink(name)
		return "link:" + to
	case info.IsDir():
		return "dir"
	}
	return "file"
}

// walk follows all links of a path and gives where it ends, and what is there.
func (m *model) walk(p string) (string, string) {
	for range 100 {
		next, again := m.step(p)
		if !again {
			return next, m.node(next)
		}
		p = next
	}
	return p, ""
}

// step replaces the first link of a path.
func (m *model) step(p string) (string, bool) {
	done := "/"
	parts := strings.Split(strings.Trim(p, "/"), "/")
	for i, name := range parts {
		at := path.Join(done, name)
		to, ok := strings.CutPrefix(m.node(at), "link:")
		if !ok {
			done = at
			continue
		}
		if !path.IsAbs(to) {
			to = path.Join(done, to)
		}
		return path.Join(to, path.Join(parts[i+1:]...)), true
	}
	return done, false
}

// do carries out one step.
func (m *model) do(op spec.Op) error {
	switch op.Kind {
	case spec.OpMask, spec.OpFreeze:
		return nil // if it is there
	case spec.OpDir, spec.OpSymlink, spec.OpFile:
		return m.make(op)
	}
	target, what := m.walk(op.Target)
	source, kind := "", "dir"
	if op.Kind == spec.OpBind {
		source = op.Source
		kind = (&model{host: m.host, mounts: []*modelMount{{op: spec.Op{Target: "/"}, source: "/"}}}).node(source)
	}
	if what != kind {
		return fmt.Errorf("%q is mounted on %q", kind, what)
	}
	if target != op.Target {
		return fmt.Errorf("the target leads to %s", target)
	}
	m.mounts = append(m.mounts, &modelMount{op: op, source: source, nodes: map[string]string{"/": "dir"}})
	return nil
}

// make makes a directory, link or file.
func (m *model) make(op spec.Op) error {
	dir, what := m.walk(path.Dir(op.Target))
	if what != "dir" {
		return fmt.Errorf("the parent is %q", what)
	}
	at := path.Join(dir, path.Base(op.Target))
	was := m.node(at)
	mount, rel := m.mountOf(at)
	switch {
	case op.Kind == spec.OpDir && was == "dir":
		return nil
	case mount.source != "":
		return fmt.Errorf("made in %s of the host", mount.source)
	case was != "" && (was != "file" || op.Kind != spec.OpFile):
		return fmt.Errorf("there is already %q", was)
	case op.Kind == spec.OpSymlink:
		mount.nodes[rel] = "link:" + op.Source
	default:
		mount.nodes[rel] = string(op.Kind)
	}
	return nil
}
