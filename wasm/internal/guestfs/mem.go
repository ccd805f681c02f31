package guestfs

import (
	"io/fs"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// memFS is the in-memory file system at /tmp. Each name counts as a file, so that links and directories are
// bounded too; bytes are those that contents and link targets hold. Permission bits are stored, not checked;
// access times change only by utimens.
type memFS struct {
	maxBytes, maxFiles int64
	bytes, files       int64
	root               *memNode // made at the first use
	lastIno            wsys.Inode
}

// memNode is an inode.
type memNode struct {
	st     wsys.Stat_t // all but Size
	opens  int         // open files: the content stays until the last is closed
	target string      // of a link
	dir    *memDir     // of a directory
	data   memData     // of a file
}

func (n *memNode) isLink() bool { return n.st.Mode&fs.ModeSymlink != 0 }

func (n *memNode) stat() wsys.Stat_t {
	st := n.st
	switch {
	case n.isLink():
		st.Size = int64(len(n.target))
	case n.dir != nil:
		st.Size = int64(len(n.dir.names))
	default:
		st.Size = n.data.size
	}
	return st
}

// changed notes a change of the content, and with it of the inode.
func (n *memNode) changed() {
	n.st.Mtim = time.Now().UnixNano()
	n.st.Ctim = n.st.Mtim
}

func (m *memFS) newNode(mode fs.FileMode) *memNode {
	m.lastIno++
	now := time.Now().UnixNano()
	n := &memNode{st: fixedStat(devTmp, m.lastIno, mode, 0, now)}
	if mode.IsDir() {
		n.dir = &memDir{}
	}
	return n
}

// top gives the root. It holds a name for the mount point in it, which the mount table keeps from being touched.
func (m *memFS) top() *memNode {
	if m.root == nil {
		m.root = m.newNode(fs.ModeDir | 0o777)
		_, name := split(WorkPath)
		m.root.dir.put(name, m.newNode(fs.ModeDir|0o755))
		m.root.st.Nlink++
	}
	return m.root
}

func (m *memFS) drop() { *m = memFS{} }

// charge takes bytes and files from what is left.
func (m *memFS) charge(bytes, files int64) sys.Errno {
	if bytes > m.maxBytes-m.bytes || files > m.maxFiles-m.files {
		return eNOSPC
	}
	m.bytes += bytes
	m.files += files
	return 0
}

// release frees what an inode holds once no name and no open file is left.
func (m *memFS) release(n *memNode) {
	if n.st.Nlink == 0 && n.opens == 0 {
		m.bytes -= n.data.truncate(0) + int64(len(n.target))
	}
}

// find walks to rel. It leaves links to the walk: the last component only if follow is set.
func (m *memFS) find(rel string, follow bool) (*memNode, sys.Errno) {
	n := m.top()
	for rel != "" {
		var c string
		c, rel, _ = strings.Cut(rel, "/")
		switch {
		case n.isLink():
			return nil, errWalk
		case n.dir == nil:
			return nil, sys.ENOTDIR
		}
		if n = n.dir.get(c); n == nil {
			return nil, sys.ENOENT
		}
	}
	if follow && n.isLink() {
		return nil, errWalk
	}
	return n, 0
}

// spot finds the directory that a name lies in, and the inode of that name if there is one.
func (m *memFS) spot(rel string) (dir *memNode, name string, n *memNode, errno sys.Errno) {
	parent, name := split(rel)
	dir, errno = m.find(parent, true)
	switch {
	case errno != 0:
		return nil, "", nil, errno
	case dir.dir == nil:
		return nil, "", nil, sys.ENOTDIR
	}
	return dir, name, dir.dir.get(name), 0
}

func (m *memFS) readOnly() bool { return false }

func (m *memFS) stat(rel string, follow bool) (wsys.Stat_t, sys.Errno) {
	n, errno := m.find(rel, follow)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	return n.stat(), 0
}

func (m *memFS) readlink(rel string) (string, sys.Errno) {
	n, errno := m.find(rel, false)
	switch {
	case errno != 0:
		return "", errno
	case !n.isLink():
		return "", sys.EINVAL
	}
	return n.target, 0
}

func (m *memFS) open(_ *FS, rel string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	n, errno := m.find(rel, flag&sys.O_NOFOLLOW == 0)
	if errno == sys.ENOENT && flag&sys.O_CREAT != 0 {
		n, errno = m.create(rel, perm, "")
	} else if errno == 0 {
		errno = checkOpen(n.st.Mode, flag, false)
	}
	if errno != 0 {
		return nil, errno
	}
	n.opens++
	if n.dir != nil {
		return &memDirFile{m: m, n: n}, 0
	}
	if flag&sys.O_TRUNC != 0 && n.data.size > 0 {
		m.bytes -= n.data.truncate(0)
		n.changed()
	}
	return &memFile{m: m, n: n, flag: flag}, 0
}

// create makes a name and its inode: a directory, a link or a file, by mode.
func (m *memFS) create(rel string, mode fs.FileMode, target string) (*memNode, sys.Errno) {
	dir, name, n, errno := m.spot(rel)
	switch {
	case errno != 0:
		return nil, errno
	case n != nil:
		return nil, sys.EEXIST
	}
	if errno := m.charge(int64(len(target)), 1); errno != 0 {
		return nil, errno
	}
	n = m.newNode(mode)
	n.target = strings.Clone(target)
	dir.dir.put(name, n)
	dir.changed()
	if n.dir != nil {
		n.dir.parent = dir
		dir.st.Nlink++
	}
	return n, 0
}

func (m *memFS) mkdir(rel string, perm fs.FileMode) sys.Errno {
	_, errno := m.create(rel, fs.ModeDir|perm, "")
	return errno
}

func (m *memFS) symlink(target, rel string) sys.Errno {
	_, errno := m.create(rel, fs.ModeSymlink|0o777, target)
	return errno
}

func (m *memFS) link(from, to string) sys.Errno {
	n, errno := m.find(from, false)
	if errno != 0 {
		return errno
	}
	dir, name, old, errno := m.spot(to)
	switch {
	case errno != 0:
		return errno
	case old != nil:
		return sys.EEXIST
	case n.dir != nil:
		return sys.EPERM
	}
	if errno := m.charge(0, 1); errno != 0 {
		return errno
	}
	dir.dir.put(name, n)
	dir.changed()
	n.st.Nlink++
	n.st.Ctim = dir.st.Ctim
	return 0
}

func (m *memFS) unlink(rel string) sys.Errno {
	dir, name, n, errno := m.spot(rel)
	switch {
	case errno != 0:
		return errno
	case n == nil:
		return sys.ENOENT
	case n.dir != nil:
		return sys.EISDIR
	}
	m.remove(dir, name, n)
	return 0
}

func (m *memFS) rmdir(rel string) sys.Errno {
	dir, name, n, errno := m.spot(rel)
	switch {
	case errno != 0:
		return errno
	case n == nil:
		return sys.ENOENT
	case n.dir == nil:
		return sys.ENOTDIR
	case len(n.dir.names) > 0:
		return sys.ENOTEMPTY
	}
	m.remove(dir, name, n)
	return 0
}

// remove takes a name away, and the inode with its last name.
func (m *memFS) remove(dir *memNode, name string, n *memNode) {
	dir.dir.drop(name)
	dir.changed()
	m.files--
	m.lostName(dir, n)
}

// lostName counts that n has one name less, which was in dir.
func (m *memFS) lostName(dir, n *memNode) {
	if n.dir != nil {
		dir.st.Nlink--
		n.st.Nlink = 0
	} else {
		n.st.Nlink--
	}
	n.st.Ctim = dir.st.Ctim
	m.release(n)
}

func (m *memFS) rename(from, to string, dirOnly bool) sys.Errno {
	fromDir, fromName, n, errno := m.spot(from)
	if errno != 0 {
		return errno
	}
	toDir, toName, old, errno := m.spot(to)
	switch {
	case errno != 0:
		return errno
	case n == nil:
		return sys.ENOENT
	case dirOnly && n.dir == nil:
		return sys.ENOTDIR
	case n.dir != nil && toDir.under(n):
		return sys.EINVAL
	case old != nil && old.dir != nil && fromDir.under(old):
		return sys.ENOTEMPTY
	case old == n:
		return 0
	}
	if errno := replaceable(n, old); errno != 0 {
		return errno
	}
	fromDir.dir.drop(fromName)
	if old != nil {
		toDir.dir.drop(toName)
		m.files--
		m.lostName(toDir, old)
	}
	toDir.dir.put(toName, n)
	if n.dir != nil {
		n.dir.parent = toDir
		fromDir.st.Nlink--
		toDir.st.Nlink++
	}
	fromDir.changed()
	toDir.changed()
	n.st.Ctim = toDir.st.Ctim
	return 0
}

// replaceable says whether n may take the place of old, which may be nil.
func replaceable(n, old *memNode) sys.Errno {
	switch {
	case old == nil:
		return 0
	case n.dir != nil && old.dir == nil:
		return sys.ENOTDIR
	case n.dir == nil && old.dir != nil:
		return sys.EISDIR
	case old.dir != nil && len(old.dir.names) > 0:
		return sys.ENOTEMPTY
	}
	return 0
}

// under reports that the directory n is dir or lies below it.
func (n *memNode) under(dir *memNode) bool {
	for ; n != nil; n = n.dir.parent {
		if n == dir {
			return true
		}
	}
	return false
}

func (m *memFS) chmod(rel string, perm fs.FileMode) sys.Errno {
	n, errno := m.find(rel, true)
	if errno != 0 {
		return errno
	}
	n.st.Mode = n.st.Mode.Type() | perm
	n.st.Ctim = time.Now().UnixNano()
	return 0
}

func (m *memFS) utimens(rel string, atim, mtim int64, follow bool) sys.Errno {
	n, errno := m.find(rel, follow)
	if errno == 0 {
		n.setTimes(atim, mtim)
	}
	return errno
}

func (n *memNode) setTimes(atim, mtim int64) {
	if atim != sys.UTIME_OMIT {
		n.st.Atim = atim
	}
	if mtim != sys.UTIME_OMIT {
		n.st.Mtim = mtim
	}
	n.st.Ctim = time.Now().UnixNano()
}
