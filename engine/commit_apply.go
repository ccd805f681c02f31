package engine

import "os"

// apply puts what was staged in its place, and removes what is to be removed. What is done is noted in the base.
func (c *committer) apply(deltas []*delta, base *node) error {
	defer c.loosen(base)
	if err := c.place(deltas, base); err != nil {
		return err
	}
	if err := c.remove(deltas, base); err != nil {
		return err
	}
	return c.modes(deltas, base)
}

// note notes that a delta is applied. n is what the host has now, or nil.
func (c *committer) note(d *delta, base, n *node) {
	if n == nil {
		delete(base.children, d.name)
	} else {
		base.put(d.name, n)
	}
	c.done = append(c.done, d.change(c.host.path(d.name)))
}

// place renames what was staged to its place.
func (c *committer) place(deltas []*delta, base *node) error {
	for _, d := range deltas {
		switch {
		case d.new == nil:
			continue
		case !d.old.isDir() || !d.new.isDir():
			if err := c.placeEntry(d, base); err != nil {
				return c.late(d.name, err)
			}
		case len(d.below) > 0:
			if err := c.enterHost(d.name); err != nil {
				return err
			}
			err := c.place(d.below, base.child(d.name))
			c.host.pop()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// placeEntry puts one file or link in its place, or one new directory with what is in it.
func (c *committer) placeEntry(d *delta, base *node) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if err := c.unlinking(dir, d); err != nil {
		return err
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
	if err := dir.Rename(d.temp, d.name); err != nil {
		return err
	}
	d.temp = ""
	info, err := dir.Lstat(d.name)
	if err != nil {
		return err
	}
	d.made.host = newStat(info)
	c.note(d, base, d.made)
	if !d.new.isDir() {
		return nil
	}
	return eachDelta(c.host.path(d.name)+"/", d.below, func(path string, d *delta) error {
		c.done = append(c.done, d.change(path))
		return nil
	})
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
				c.note(d, base, nil)
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
	c.note(d, base, nil)
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
				c.note(sub, base.child(d.name), nil)
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

// modes gives directories that stay their permission bits, inner ones first.
func (c *committer) modes(deltas []*delta, base *node) error {
	for _, d := range deltas {
		if !d.old.isDir() || !d.new.isDir() {
			continue
		}
		next := base.child(d.name)
		if len(d.below) > 0 {
			if err := c.enterHost(d.name); err != nil {
				return err
			}
			err := c.modes(d.below, next)
			c.host.pop()
			if err != nil {
				return err
			}
		}
		if !d.differs {
			continue
		}
		if err := c.mode(d, next); err != nil {
			return c.late(d.name, err)
		}
		c.note(d, base, next)
	}
	return nil
}

// mode gives one directory its permission bits.
func (c *committer) mode(d *delta, n *node) error {
	dir, err := c.host.here()
	if err != nil {
		return err
	}
	if _, err := c.unchanged(dir, d); err != nil {
		return err
	}
	if err := dir.Chmod(d.name, d.new.stat.mode.Perm()); err != nil {
		return err
	}
	n.stat.mode, n.host.mode = d.new.stat.mode, d.new.stat.mode
	return nil
}
