package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// problem names the entry that an error is about.
func (c *committer) problem(name string, err error) error {
	if _, named := errors.AsType[*entryError](err); named || err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrTooLarge) {
		return err
	}
	return &entryError{c.host.path(name), coded(err)}
}

// An entryError names the entry of a directory that an error is about.
type entryError struct {
	path string
	err  error
}

func (e *entryError) Error() string { return fmt.Sprintf("%q: %s", shorten(e.path), e.err) }
func (e *entryError) Unwrap() error { return e.err }

// stage writes what is new under temporary names into the directories of the host. In a directory that it has made
// itself, and that is fresh, names are those that stay.
func (c *committer) stage(ctx context.Context, deltas []*delta, fresh bool) error {
	tried := fresh
	for _, d := range deltas {
		var err error
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !d.differs: // only something below
		case d.new.isRegular():
			err = c.stageFile(ctx, d, d.staged(fresh))
		case d.new.isLink():
			err = c.stageLink(d, d.staged(fresh))
		case d.new.isDir() && !d.old.isDir():
			err = c.stageDir(ctx, d, d.staged(fresh))
		case !tried: // other permission bits, or something to be removed
			tried = true
			err = c.tryWrite()
		}
		if err == nil && d.old.isDir() && len(d.below) > 0 {
			err = c.stageBelow(ctx, d)
		}
		if err != nil {
			return c.problem(d.name, err)
		}
	}
	return nil
}

// staged is the name under which what is new waits.
func (d *delta) staged(fresh bool) string {
	if fresh {
		return d.name
	}
	d.temp = ".sandbar-" + newID()
	return d.temp
}

// stageBelow is stage for what is in a directory that the host has.
func (c *committer) stageBelow(ctx context.Context, d *delta) error {
	if d.new.isDir() {
		undo, err := c.enterWork(d)
		if err != nil {
			return err
		}
		defer undo()
	}
	if err := c.enterHost(d.name); err != nil {
		return err
	}
	defer c.host.pop()
	return c.stage(ctx, d.below, false)
}

// stageDir makes a directory with all that is to be in it.
func (c *committer) stageDir(ctx context.Context, d *delta, name string) error {
	undo, err := c.enterWork(d)
	if err != nil {
		return err
	}
	defer undo()
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if err := dir.Mkdir(name, 0o700); err != nil {
		return err
	}
	if err := c.enterHost(name); err != nil {
		return err
	}
	err = c.stage(ctx, d.below, true)
	c.host.pop()
	if err != nil {
		return err
	}
	if dir, err = c.host.here(); err != nil {
		return err
	}
	if err := dir.Chmod(name, d.new.stat.mode.Perm()); err != nil {
		return err
	}
	if err := d.look(dir, name); err != nil {
		return err
	}
	d.made.children = nil
	for _, sub := range d.below {
		d.made.put(sub.name, sub.made)
	}
	return nil
}

// look sets what was made.
func (d *delta) look(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	n := *d.new
	n.host = newStat(info)
	d.made = &n
	return nil
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

// tryWrite finds out whether the directory where the committer stands can be written to.
func (c *committer) tryWrite() error {
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

func (c *committer) stageLink(d *delta, name string) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if err := dir.Symlink(d.new.target, name); err != nil {
		return err
	}
	return d.look(dir, name)
}

// stageFile copies a file of the work directory.
func (c *committer) stageFile(ctx context.Context, d *delta, name string) error {
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
	f := &fileCopy{dir: dir, name: name, src: src, size: now.Size(), digest: c.digest, clone: &clone}
	if _, err := f.run(ctx); err != nil {
		return err
	}
	return c.dress(dir, d, name)
}

// dress gives a staged file its owner, time and permission bits.
func (c *committer) dress(dir *os.Root, d *delta, name string) error {
	if d.old != nil {
		if old, err := dir.Lstat(d.name); err == nil {
			if err := keepOwner(dir, name, old); err != nil && !errors.Is(err, syscall.EPERM) {
				return err
			}
		}
	}
	if err := dir.Chtimes(name, time.Time{}, time.Unix(0, d.new.stat.mtime)); err != nil {
		return err
	}
	if err := dir.Chmod(name, d.new.stat.mode.Perm()); err != nil {
		return err
	}
	return d.look(dir, name)
}

// enterAgain is enterHost for a directory that someone may be moving to and fro.
func (c *committer) enterAgain(name string) (err error) {
	for range attempts {
		if err = c.enterHost(name); err == nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// unstage removes what still waits.
func (c *committer) unstage(deltas []*delta) error {
	var errs []error
	for _, d := range deltas {
		if d.temp != "" {
			if err := c.discard(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, c.problem(d.temp, err))
			}
		}
		if len(d.below) == 0 || !d.old.isDir() {
			continue
		}
		if err := c.enterAgain(d.name); err != nil {
			continue // it is gone, and with it what was in it
		}
		errs = append(errs, c.unstage(d.below))
		c.host.pop()
	}
	return errors.Join(errs...)
}

// discard removes what waits for one place.
func (c *committer) discard(d *delta) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if !d.new.isDir() {
		return dir.Remove(d.temp)
	}
	sub, err := openDir(dir, d.temp)
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := removeContents(context.Background(), sub, func(fs.FileInfo) {}); err != nil {
		return err
	}
	return dir.Remove(d.temp)
}
