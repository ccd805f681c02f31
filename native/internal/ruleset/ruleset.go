// Package ruleset plans the Landlock rules of a cell. They say once more what the mounts say, so that a
// mistake in one of them is not a way out.
package ruleset

import (
	"fmt"
	"strings"

	"github.com/sandbar-dev/sandbar/native/internal/rootfs"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// Build makes the ruleset for what the root of cfg has. ABI is the version of Landlock's interface that
// the kernel has: all that it knows is restricted. Zero: the kernel has none.
//
// TCP ports are not restricted: what a script reaches is decided by its network namespace, and a port says
// nothing about the host behind it.
func Build(cfg *rootfs.Config, abi int) spec.Landlock {
	l := spec.Landlock{ABI: abi}
	add := func(p string, a spec.Access) { l.Rules = append(l.Rules, spec.Rule{Path: p, Access: a}) }
	add("/", spec.AccessRead)
	add(rootfs.Tmp, spec.AccessWrite) // with the work directory
	add(rootfs.Shm, spec.AccessWrite)
	add(spec.ScriptDir, spec.AccessWrite) // for the init; the mount that scripts see is read-only
	for _, g := range cfg.Grants {
		if g.Writable {
			add(g.Target, spec.AccessWrite)
		}
	}
	for _, node := range cfg.DeviceNodes() {
		add(node, spec.AccessDevice)
	}
	add("/dev/pts", spec.AccessDevice)
	return l
}

// Text shows the rules, one a line.
func Text(l spec.Landlock) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# ABI %d\n", l.ABI)
	for _, r := range l.Rules {
		fmt.Fprintf(&b, "%-6s %s\n", r.Access, r.Path)
	}
	return b.String()
}
