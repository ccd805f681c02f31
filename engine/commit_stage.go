package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// problem names the entry that an error is about.
func (c *committer) problem(name string, err error) error {
	if isCoded(err) && !errors.Is(err, ErrNoSpace) && !errors.Is(err, ErrNotExist) {
		return err
	}
	return fmt.Errorf("%q: %w", shorten(c.host.path(name)), coded(err))
}

// stage writes what is new under temporary names into the directories of the host that are there by now. fresh are
// the names of directories, below the one where the committer stands on the host, that are still to be made.
func (c *committer) stage(ctx context.Context, fresh []string, deltas []*delta) error {
	tried := false
	for _, d := range deltas {
		var err error
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !d.differs: // only something below
		case d.new.isRegular():
			err = c.stageFile(ctx, d)
		case d.new.isLink():
			err = c.stageLink(d)
		case !tried: // a directory, or something to be removed
			tried = true
			err = c.tryWrite(fresh)
		}
		if err != nil {
			return c.problem(path.Join(append(fresh, d.name)...), err)
		}
		if len(d.below) == 0 {
			continue
		}
		if err := c.stageBelow(ctx, fresh, d); err != nil {
			return err
		}
	}
	return nil
}

// stageBelow is stage for what is in a directory.
func (c *committer) stageBelow(ctx context.Context, fresh []string, d *delta) error {
	if d.new.isDir() {
		undo, err := c.enterWork(d)
		if err != nil {
			return c.problem(d.name, err)
		}
		defer undo()
	}
	switch {
	case d.old.isDir():
		if err := c.enterHost(d.name); err != nil {
			return err
		}
		defer c.host.pop()
		return c.stage(ctx, fresh, d.below)
	default:
		return c.stage(ctx, append(fresh, d.name), d.below)
	}
}

// enterHost goes down on the host.
func (c *committer) enterHost(name string) error {
	dir, err := c.host.here()
	if err != nil {
		return c.late(name, err)
	}
	info, err := dir.Lstat(name)
	if err == nil {
		err = c.host.push(info)
	}
	return c.late(name, err)
}

// late makes a conflict of what has happened since check.
func (c *committer) late(name string, err error) error {
	if _, ok := errors.AsType[*ConflictError](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errMoved) || errors.Is(err, ErrConflict) {
		return &ConflictError{Paths: []string{c.host.path(name)}}
	}
	if err != nil {
		return c.problem(name, err)
	}
	return nil
}

// enterWork goes down in the work directory. Undo goes up again.
func (c *committer) enterWork(d *delta) (undo func(), err error) {
	dir, err := c.work.here()
	if err != nil {
		return nil, err
	}
	info, err := dir.Lstat(d.name)
	if err != nil {
		return nil, err
	}
	force := c.force && info.Mode().Perm()&0o500 != 0o500
	if force {
		if err := dir.Chmod(d.name, 0o700); err != nil {
			return nil, err
		}
	}
	if err := c.work.push(info); err != nil {
		return nil, err
	}
	return func() {
		c.work.pop()
		if dir, err := c.work.here(); err == nil && force {
			_ = dir.Chmod(d.name, info.Mode().Perm())
		}
	}, nil
}

// temporary is where the new content of a delta waits.
func (d *delta) temporary() string {
	if d.temp == "" {
		d.temp = ".sandbar-" + newID()
	}
	return d.temp
}

// tryWrite finds out whether the directory where the committer stands can be written to.
func (c *committer) tryWrite(fresh []string) error {
	if len(fresh) > 0 { // what is made can be written to
		return nil
	}
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	name := ".sandbar-" + newID()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|calmFlags, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), dir.Remove(name))
}

func (c *committer) stageLink(d *delta) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	name := d.temporary()
	if err := dir.Symlink(d.new.target, name); err != nil {
		d.temp = ""
		return err
	}
	return nil
}

// stageFile copies a file of the work directory.
func (c *committer) stageFile(ctx context.Context, d *delta) error {
	work, err := c.work.here()
	if err != nil {
		return err
	}
	sc := scanner{force: c.force}
	info, err := work.Lstat(d.name)
	if err != nil {
		return err
	}
	if err := regular(info); err != nil {
		return err
	}
	src, err := sc.open(work, info)
	if err != nil {
		return err
	}
	defer src.Close()
	now, err := src.Stat()
	if err == nil && !os.SameFile(now, info) {
		err = errMoved
	}
	if err != nil {
		return err
	}
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	clone := true
	f := &fileCopy{dir: dir, name: d.temporary(), src: src, size: now.Size(), digest: c.digest, clone: &clone}
	if _, err := f.run(ctx); err != nil {
		return err
	}
	return c.dress(dir, d)
}

// dress gives a staged file its owner, time and permission bits.
func (c *committer) dress(dir *os.Root, d *delta) error {
	if d.old != nil {
		if old, err := dir.Lstat(d.name); err == nil {
			if err := keepOwner(dir, d.temp, old); err != nil && !errors.Is(err, syscall.EPERM) {
				return err
			}
		}
	}
	if err := dir.Chtimes(d.temp, time.Time{}, time.Unix(0, d.new.stat.mtime)); err != nil {
		return err
	}
	return dir.Chmod(d.temp, d.new.stat.mode.Perm())
}

// unstage removes what still waits.
func (c *committer) unstage(fresh []string, deltas []*delta) error {
	var errs []error
	for _, d := range deltas {
		if d.temp != "" {
			dir, err := c.host.here()
			if err == nil {
				err = dir.Remove(d.temp)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, c.problem(d.temp, err))
			}
		}
		if len(d.below) == 0 {
			continue
		}
		if !d.old.isDir() {
			errs = append(errs, c.unstage(fresh, d.below))
			continue
		}
		if err := c.enterHost(d.name); err != nil {
			continue // it is gone, and with it what was in it
		}
		errs = append(errs, c.unstage(fresh, d.below))
		c.host.pop()
	}
	return errors.Join(errs...)
}
