package rootfs

import (
	"fmt"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// own are the directories of a cell that no grant may cover or lie in: what is mounted there comes later, and
// would hide it or find no place.
var own = []string{"/dev", "/proc", Tmp, spec.ScriptDir}

// grants mounts what the caller gave, over everything else.
func (b *builder) grants() {
	for _, g := range b.cfg.Grants {
		target, err := b.resolve(g.Target)
		if err == nil {
			err = checkOwn(target)
		}
		if err != nil {
			b.fail(fmt.Errorf("granted path %s: %w", g.Target, err))
			return
		}
		b.mountPoint(target, g.Dir)
		b.op(spec.Op{Kind: spec.OpBind, Target: target, Source: g.Source.Path, FD: g.Source.FD, ReadOnly: !g.Writable})
	}
}

func checkOwn(target string) error {
	for _, dir := range own {
		if within(target, dir) || within(dir, target) {
			return fmt.Errorf("it is at %s in a cell, and %s is the cell's own", target, dir)
		}
	}
	return nil
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}
