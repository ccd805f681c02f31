package guestfs

import (
	"io"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// memDir is the content of a directory in memory. order has the entries by the time they were made, so that an open
// directory needs to remember only how far it has come: no entry that stays is given twice or left out, whatever
// is made or removed meanwhile.
type memDir struct {
	parent *memNode // nil for the root
	names  map[string]*memEntry
	order  []*memEntry
	gone   int // entries of order that were removed
	made   uint64
}

type memEntry struct {
	name   string
	node   *memNode // nil once removed
	number uint64
}

func (d *memDir) get(name string) *memNode {
	if e := d.names[name]; e != nil {
		return e.node
	}
	return nil
}

func (d *memDir) put(name string, n *memNode) {
	if d.names == nil {
		d.names = make(map[string]*memEntry)
	}
	d.made++
	// The name is a piece of the path of some call, which must not stay in memory for it.
	e := &memEntry{name: strings.Clone(name), node: n, number: d.made}
	d.names[e.name] = e
	d.order = append(d.order, e)
}

// drop removes a name. Both the map and the slice are made anew when most of them is empty: else their memory
// would follow the names that ever were.
func (d *memDir) drop(name string) {
	e := d.names[name]
	e.node = nil
	delete(d.names, name)
	if d.gone++; d.gone <= len(d.names)+8 {
		return
	}
	d.gone = 0
	live := make([]*memEntry, 0, len(d.names))
	d.names = make(map[string]*memEntry, len(d.names))
	for _, e := range d.order {
		if e.node != nil {
			live = append(live, e)
			d.names[e.name] = e
		}
	}
	d.order = live
}

// after gives up to n entries made later than number, all if n <= 0.
func (d *memDir) after(number uint64, n int) []*memEntry {
	i, _ := slices.BinarySearchFunc(d.order, number+1, func(e *memEntry, want uint64) int {
		switch {
		case e.number < want:
			return -1
		case e.number > want:
			return 1
		}
		return 0
	})
	var found []*memEntry
	for _, e := range d.order[i:] {
		if n > 0 && len(found) == n {
			break
		}
		if e.node != nil {
			found = append(found, e)
		}
	}
	return found
}

// memDirFile is an open directory of a memFS.
type memDirFile struct {
	listing // for the calls that a directory refuses
	m       *memFS
	n       *memNode
	seen    uint64
}

func (f *memDirFile) Dev() (uint64, sys.Errno)     { return f.n.st.Dev, 0 }
func (f *memDirFile) Ino() (wsys.Inode, sys.Errno) { return f.n.st.Ino, 0 }

func (f *memDirFile) Stat() (wsys.Stat_t, sys.Errno) {
	if f.closed {
		return wsys.Stat_t{}, sys.EBADF
	}
	return f.n.stat(), 0
}

func (f *memDirFile) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	switch {
	case f.closed:
		return 0, sys.EBADF
	case offset != 0 || whence != io.SeekStart:
		return 0, sys.EINVAL
	}
	f.seen = 0
	return 0, 0
}

func (f *memDirFile) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if f.closed {
		return nil, sys.EBADF
	}
	entries := f.n.dir.after(f.seen, n)
	dirents := make([]sys.Dirent, 0, len(entries))
	for _, e := range entries {
		dirents = append(dirents, sys.Dirent{Ino: e.node.st.Ino, Name: e.name, Type: e.node.st.Mode.Type()})
		f.seen = e.number
	}
	return dirents, 0
}

func (f *memDirFile) Utimens(atim, mtim int64) sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	f.n.setTimes(atim, mtim)
	return 0
}

func (f *memDirFile) Close() sys.Errno {
	if !f.closed {
		f.closed = true
		f.n.opens--
	}
	return 0
}
