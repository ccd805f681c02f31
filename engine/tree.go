package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// A tree is what a directory had at some time.
type tree struct {
	root *node
	// taken is when it was complete. sure is set when no run was under way until then: a process can write through a
	// mapping that it has without any sign of it in stat(2).
	taken time.Time
	sure  bool
}

// A node is a file, link or directory of a tree.
type node struct {
	stat stat // in the work directory
	// host is the stat of the same entry in the directory that the session lies over, when the two were the same.
	host     stat
	sum      *digest // of a regular file; nil: not known
	target   string  // of a link
	unread   bool    // a directory whose content could not be read
	children map[string]*node
}

type digest [sha256.Size]byte

// A stat says which file it is and tells whether it was changed: stat(2). Fields that a system does not have are
// zero.
type stat struct {
	mode         fs.FileMode // type and permission bits
	size         int64       // of a regular file
	mtime, ctime int64       // nanoseconds since 1970
	id           inode
}

func newStat(info fs.FileInfo) stat {
	return stat{
		mode: info.Mode() & (fs.ModeType | fs.ModePerm), size: sizeOf(info),
		mtime: info.ModTime().UnixNano(), ctime: changeTime(info), id: inodeOf(info),
	}
}

func newNode(info fs.FileInfo) *node { return &node{stat: newStat(info)} }

func (n *node) isDir() bool     { return n != nil && n.stat.mode.IsDir() }
func (n *node) isRegular() bool { return n != nil && n.stat.mode.IsRegular() }
func (n *node) isLink() bool    { return n != nil && n.stat.mode.Type() == fs.ModeSymlink }

// isSpecial is for what has no content that could be copied: FIFOs, sockets, devices.
func (n *node) isSpecial() bool { return n != nil && !n.isDir() && !n.isRegular() && !n.isLink() }

func (n *node) put(name string, child *node) {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[name] = child
}

// child is nil-safe.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	return n.children[name]
}

// same reports whether two entries are the same, their children aside.
func same(a, b *node) bool {
	if a.stat.mode != b.stat.mode {
		return false
	}
	switch {
	case a.isLink():
		return a.target == b.target
	case !a.isRegular():
		return true
	case a.stat == b.stat && (a.sum == nil || b.sum == nil):
		return true
	}
	return a.sum != nil && b.sum != nil && *a.sum == *b.sum
}

// A delta is a difference between two trees: at this entry, or below it.
type delta struct {
	name     string
	old, new *node // nil: there is none
	differs  bool  // the entry itself, and not only what is below
	below    []*delta
	// temp is for Commit: where what is new waits, and made is what waits there.
	temp string
	made *node
}

// compare returns the differences between two directories, by name.
func compare(old, now *node) []*delta {
	var oldNames, newNames map[string]*node
	if old != nil {
		oldNames = old.children
	}
	if now != nil {
		newNames = now.children
	}
	names := slices.Collect(maps.Keys(newNames))
	for name := range oldNames {
		if newNames[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all []*delta
	for _, name := range names {
		d := &delta{name: name, old: oldNames[name], new: newNames[name]}
		d.differs = d.old == nil || d.new == nil || !same(d.old, d.new)
		if !d.new.isDir() || !d.new.unread { // else nobody knows
			d.below = compare(d.old, d.new)
		}
		if d.differs || len(d.below) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// maxPaths bounds the paths of one list of changes, in bytes together: a script can nest long names.
const maxPaths = 256 << 20

// changes lists deltas, sorted by path.
func changes(deltas []*delta) ([]Change, error) {
	var list []Change
	bytes := int64(0)
	err := eachDelta("", deltas, func(path string, d *delta) error {
		if bytes += int64(len(path)); bytes > maxPaths || len(list) == maxList {
			return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
		}
		list = append(list, d.change(path))
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, byPath)
	return list, nil
}

func byPath(a, b Change) int { return cmp.Compare(a.Path, b.Path) }

// eachDelta calls f for each entry that differs, directories before what is in them.
func eachDelta(dir string, deltas []*delta, f func(path string, d *delta) error) error {
	for _, d := range deltas {
		path := dir + d.name
		if d.differs {
			if err := f(path, d); err != nil {
				return err
			}
		}
		if len(d.below) == 0 {
			continue
		}
		if err := eachDelta(path+"/", d.below, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *delta) change(path string) Change {
	c := Change{Path: path}
	if d.old != nil {
		c.Kind, c.OldMode, c.OldSize = Removed, d.old.stat.mode, d.old.stat.size
	}
	if d.new == nil {
		return c
	}
	c.Kind = Changed
	if d.old == nil {
		c.Kind = Added
	}
	c.Mode, c.Size, c.Target, c.Unread = d.new.stat.mode, d.new.stat.size, d.new.target, d.new.unread
	if d.new.sum != nil {
		c.SHA256 = hex.EncodeToString(d.new.sum[:])
	}
	return c
}
