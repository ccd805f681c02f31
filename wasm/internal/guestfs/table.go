package guestfs

import (
	"fmt"
	"slices"
	"strings"
)

// Guest paths of what every run has.
const (
	// WorkPath is where the session's work directory is mounted.
	WorkPath = "/tmp/sandbox-work"
	// TmpPath is the run's own in-memory file system.
	TmpPath = "/tmp"
	// DevPath has the devices.
	DevPath = "/dev"
	// ScriptDir has one file, the run's script.
	ScriptDir = "/run/sandbar"
)

// mountKind says where a node's backend comes from.
type mountKind uint8

const (
	kindNone  mountKind = iota // a directory that only leads to mounts
	kindFixed                  // node.fixed, shared by all runs of the session
	kindTmp                    // the rest belong to the run
	kindDev
	kindScript
)

// node is one path of the mount table: a mount point or a directory on the way to one. The table does not
// change once the session is made, so that runs read it without a lock.
type node struct {
	name   string
	kids   []*node // sorted by name
	kind   mountKind
	fixed  backend
	single bool // the mount is one file
	dev    uint64
	ino    uint64
}

// table is the tree of nodes.
type table struct {
	root  *node
	nodes uint64
}

func newTable() *table {
	return &table{root: &node{ino: 1, dev: devTable}, nodes: 1}
}

// locate finds the deepest node on the way to abs, and what is left of abs below it.
func (t *table) locate(abs string) (n *node, rel string) {
	n = t.root
	for rel = abs; rel != ""; {
		c, tail, _ := strings.Cut(rel, "/")
		kid := n.kid(c)
		if kid == nil {
			return n, rel
		}
		n, rel = kid, tail
	}
	return n, ""
}

func (n *node) kid(name string) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// add makes path a mount point. Mounts must not lie inside each other, or a link that the outer one's
// os.Root follows by itself would reach what the inner one covers. The one exception is made by the
// session, for the work directory in /tmp, which is memory and leaves links to the walk.
func (t *table) add(path string, mount node) error {
	abs, _, _, errno := clean(path)
	if errno != 0 || abs == "" || path[0] != '/' || hasDotDot(abs) || strings.IndexByte(abs, 0) >= 0 {
		return fmt.Errorf("mount %q: not an absolute path below /", path)
	}
	n := t.root
	for rest := abs; rest != ""; {
		if n.kind != kindNone && (n.kind != kindTmp || "/"+abs != WorkPath) {
			return fmt.Errorf("mount %s: lies inside another mount", path)
		}
		var c string
		c, rest, _ = strings.Cut(rest, "/")
		kid := n.kid(c)
		if kid == nil {
			t.nodes++
			kid = &node{name: c, ino: t.nodes, dev: devTable}
			n.kids = append(n.kids, kid)
			slices.SortFunc(n.kids, func(a, b *node) int { return strings.Compare(a.name, b.name) })
		}
		n = kid
	}
	if n.kind != kindNone || len(n.kids) > 0 {
		return fmt.Errorf("mount %s: covers another mount", path)
	}
	n.kind, n.fixed, n.single, n.dev = mount.kind, mount.fixed, mount.single, mount.dev
	return nil
}
