package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// A committer applies deltas to the host's directory. Its descents stand in the same directory of both sides, as far
// as there is one.
type committer struct {
	host, work descent
	digest     *digester
	force      bool
	conflicts  []string
	done       []Change
	// relinked are files of the host that have lost a name: their other names have got another ctime.
	relinked map[inode]bool
}

// check looks at the host's side of all deltas, and writes nothing.
func (c *committer) check(ctx context.Context, deltas []*delta) error {
	if err := c.checkDir(ctx, deltas); err != nil {
		return err
	}
	if len(c.conflicts) == 0 {
		return nil
	}
	slices.Sort(c.conflicts)
	return &ConflictError{Paths: slices.Compact(c.conflicts)}
}

// checkDir looks at the entries of the directory where the committer stands on the host.
func (c *committer) checkDir(ctx context.Context, deltas []*delta) error {
	for _, d := range deltas {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		dir, err := c.host.here()
		if err == nil {
			err = c.checkEntry(ctx, dir, d)
		}
		if errors.Is(err, errMoved) || errors.Is(err, ErrConflict) {
			c.conflict(d, c.host.path(d.name))
			err = nil
		}
		if err != nil {
			return c.problem(d.name, err)
		}
	}
	return nil
}

// conflict notes all that differs from a delta on.
func (c *committer) conflict(d *delta, path string) {
	if d.differs {
		c.conflicts = append(c.conflicts, path)
	}
	_ = eachDelta(path+"/", d.below, func(path string, _ *delta) error {
		c.conflicts = append(c.conflicts, path)
		return nil
	})
}

// checkEntry returns ErrConflict for a delta whose host side is not as it was.
func (c *committer) checkEntry(ctx context.Context, dir *os.Root, d *delta) error {
	info, err := c.unchanged(dir, d)
	if err != nil || !d.old.isDir() {
		return err
	}
	if err := c.host.push(info); err != nil {
		return err
	}
	defer c.host.pop()
	if !d.new.isDir() {
		if err := c.checkStrangers(ctx, d.old); err != nil {
			return err
		}
	}
	return c.checkDir(ctx, d.below)
}

// unchanged returns ErrConflict if the entry in the host's directory dir is not as it was, and else what it is: nil for
// nothing.
func (c *committer) unchanged(dir *os.Root, d *delta) (fs.FileInfo, error) {
	info, err := dir.Lstat(d.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if d.old == nil {
			return nil, nil //nolint:nilnil // see above
		}
		return nil, ErrConflict
	case err != nil:
		return nil, err
	case d.old == nil:
		return nil, ErrConflict
	}
	now, was := newStat(info), d.old.host
	if d.old.isDir() {
		// What others put into it is no conflict, and it changes its times.
		now.mtime, now.ctime, was.mtime, was.ctime = 0, 0, 0, 0
		if !d.differs {
			now.mode, was.mode = now.mode.Type(), was.mode.Type()
		}
	}
	if was.ctime == 0 || c.relinked[was.id] {
		now.ctime, was.ctime = 0, 0
	}
	if now != was {
		return nil, ErrConflict
	}
	return info, nil
}

// checkStrangers returns ErrConflict for a directory that is to be removed and has something in it that it had not.
func (c *committer) checkStrangers(ctx context.Context, old *node) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	return eachEntry(ctx, dir, func(info fs.FileInfo) error {
		if old.children[info.Name()] == nil {
			return ErrConflict
		}
		return nil
	})
}
