package engine

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// apply puts what was staged in its place, and removes what is to be removed. What is done is noted in the base.
func (c *committer) apply(deltas []*delta, base *node) error {
	defer c.loosen(base)
	if err := c.place(nil, deltas, base); err != nil {
		return err
	}
	if err := c.remove(deltas, base); err != nil {
		return err
	}
	return c.modes(nil, deltas, base)
}

// note notes that a delta is applied. n is what the host has now, or nil.
func (c *committer) note(fresh []string, d *delta, base, n *node) {
	if n == nil {
		delete(base.children, d.name)
	} else {
		base.put(d.name, n)
	}
	c.done = append(c.done, d.change(c.host.path(path.Join(append(fresh, d.name)...))))
}

// place makes directories and renames files and links to their places. fresh are the names of directories that it has
// made, below the one where the committer stands.
func (c *committer) place(fresh []string, deltas []*delta, base *node) error {
	for _, d := range deltas {
		if d.new == nil {
			continue
		}
		if d.differs {
			if err := c.placeEntry(fresh, d, base); err != nil {
				return c.late(path.Join(append(fresh, d.name)...), err)
			}
		}
		if !d.new.isDir() || len(d.below) == 0 {
			continue
		}
		next := base.child(d.name)
		if !d.old.isDir() {
			if err := c.place(append(fresh, d.name), d.below, next); err != nil {
				return err
			}
			continue
		}
		if err := c.enterHost(d.name); err != nil {
			return err
		}
		err := c.place(fresh, d.below, next)
		c.host.pop()
		if err != nil {
			return err
		}
	}
	return nil
}

// placeEntry makes one directory, or puts one file or link in its place.
func (c *committer) placeEntry(fresh []string, d *delta, base *node) error {
	if d.old.isDir() && d.new.isDir() { // its mode, which comes at the end
		return nil
	}
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	name := path.Join(append(fresh, d.name)...)
	if len(fresh) == 0 {
		if err := c.unlinking(dir, d); err != nil {
			return err
		}
	}
	switch {
	case d.old.isDir():
		if err := c.removeDir(d, base); err != nil {
			return err
		}
		if dir, err = c.host.here(); err != nil {
			return err
		}
	case d.old != nil && d.new.isDir():
		if err := dir.Remove(d.name); err != nil {
			return err
		}
	}
	if d.new.isDir() {
		err = dir.Mkdir(name, 0o700)
	} else if err = dir.Rename(d.temp, name); err == nil {
		d.temp = ""
	}
	if err != nil {
		return err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	n := *d.new
	n.host = newStat(info)
	if n.isDir() {
		n.children = nil // they are noted one by one
	}
	c.note(fresh, d, base, &n)
	return nil
}

// unlinking looks once more at an entry that is about to be replaced or removed.
func (c *committer) unlinking(dir *os.Root, d *delta) error {
	info, err := c.unchanged(dir, d)
	if err != nil || info == nil {
		return err
	}
	if n, id := links(info); n > 1 {
		c.relinked[id] = true
	}
	return nil
}

// loosen lets the other names of relinked files have another ctime than they had.
func (c *committer) loosen(n *node) {
	if len(c.relinked) == 0 {
		return
	}
	if c.relinked[n.host.id] {
		n.host.ctime = 0
	}
	for _, child := range n.children {
		c.loosen(child)
	}
}

// remove removes what is to be removed.
func (c *committer) remove(deltas []*delta, base *node) error {
	for _, d := range deltas {
		var err error
		switch {
		case d.old.isDir() && d.new.isDir():
			if err = c.enterHost(d.name); err == nil {
				err = c.remove(d.below, base.child(d.name))
				c.host.pop()
			}
		case d.new != nil:
		case d.old.isDir():
			err = c.removeDir(d, base)
			if err == nil {
				c.note(nil, d, base, nil)
			}
		default:
			err = c.removeEntry(d, base)
		}
		if err != nil {
			return c.late(d.name, err)
		}
	}
	return nil
}

// removeEntry removes what is no directory.
func (c *committer) removeEntry(d *delta, base *node) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if err := c.unlinking(dir, d); err != nil {
		return err
	}
	if err := dir.Remove(d.name); err != nil {
		return err
	}
	c.note(nil, d, base, nil)
	return nil
}

// removeDir removes a directory with what it had.
func (c *committer) removeDir(d *delta, base *node) error {
	if err := c.enterHost(d.name); err != nil {
		return err
	}
	var err error
	for _, sub := range d.below {
		if sub.old == nil { // it comes with the new directory
			continue
		}
		if sub.old.isDir() {
			if err = c.removeDir(sub, base.child(d.name)); err == nil {
				c.note(nil, sub, base.child(d.name), nil)
			}
		} else {
			err = c.removeEntry(sub, base.child(d.name))
		}
		if err != nil {
			break
		}
	}
	c.host.pop()
	if err != nil {
		return c.late(d.name, err)
	}
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	return dir.Remove(d.name)
}

// modes gives directories their permission bits, inner ones first.
func (c *committer) modes(fresh []string, deltas []*delta, base *node) error {
	for _, d := range deltas {
		if !d.new.isDir() {
			continue
		}
		next := base.child(d.name)
		if err := c.modesBelow(fresh, d, next); err != nil {
			return err
		}
		if !d.differs {
			continue
		}
		name := path.Join(append(fresh, d.name)...)
		if err := c.mode(name, d, next); err != nil {
			return c.late(name, err)
		}
		if d.old.isDir() {
			next.stat.mode = d.new.stat.mode
			c.note(fresh, d, base, next)
		}
	}
	return nil
}

func (c *committer) modesBelow(fresh []string, d *delta, base *node) error {
	if !d.old.isDir() {
		return c.modes(append(fresh, d.name), d.below, base)
	}
	if len(d.below) == 0 {
		return nil
	}
	if err := c.enterHost(d.name); err != nil {
		return err
	}
	defer c.host.pop()
	return c.modes(fresh, d.below, base)
}

// mode gives one directory its permission bits.
func (c *committer) mode(name string, d *delta, n *node) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if n.host.id != inodeOf(info) || !info.IsDir() {
		return ErrConflict
	}
	if err := dir.Chmod(name, d.new.stat.mode.Perm()); err != nil {
		return err
	}
	info, err = dir.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		n.host = newStat(info)
	}
	return nil
}
