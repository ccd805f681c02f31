package guestfs

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// The calls of this file make and remove names. They do not follow a link in the last component, and they
// refuse mount points. The errors and their order are those of Linux.

// entryPath begins the resolution of a name to be made or removed. slash tells of a slash at its end, which
// here does not mean that a link is followed.
func (f *FS) entryPath(path string) (w walk, slash bool, errno sys.Errno) {
	w, errno = f.walkPath(path, false)
	slash = w.slash
	w.dir = false
	return w, slash, errno
}

// at1 runs op on the mount where the name lies. dots are the errors for a path that ends in "/", "." or "..";
// mountPoint is the one for a mount point.
func (f *FS) at1(path string, dots [4]sys.Errno, mountPoint func(*node) sys.Errno, op func(b backend, rel string, slash bool) sys.Errno) sys.Errno {
	w, slash, errno := f.entryPath(path)
	if errno != 0 {
		return errno
	}
	if w.last != lastName {
		if _, errno := f.Stat(path); errno != 0 {
			return errno
		}
		return dots[w.last]
	}
	return w.at(func(n *node, b backend, rel string) sys.Errno {
		if rel != "" && b.readOnly() && !w.settled {
			// A link in the path may lead from here to a mount that is not read-only.
			if errno := w.settle(); errno != 0 {
				return errno
			}
			n, rel = f.session.table.locate(w.abs)
			b = f.backend(n)
		}
		if rel == "" {
			return mountPoint(n)
		}
		return op(b, rel, slash)
	})
}

func always(errno sys.Errno) func(*node) sys.Errno {
	return func(*node) sys.Errno { return errno }
}

var existing = [4]sys.Errno{0, sys.EEXIST, sys.EEXIST, sys.EEXIST}

// creating runs op for a name that must not exist yet. On a read-only mount an existing name is EEXIST all the
// same, as in Linux: makedirs(exist_ok=True) lives on that.
func (f *FS) creating(path string, isDir bool, op func(b backend, rel string) sys.Errno) sys.Errno {
	return f.at1(path, existing, always(sys.EEXIST), func(b backend, rel string, slash bool) sys.Errno {
		if b.readOnly() || (slash && !isDir) {
			switch _, errno := b.stat(rel, false); {
			case errno == 0:
				return sys.EEXIST
			case errno == sys.ENOENT && slash && !isDir:
				return sys.ENOENT
			case errno == sys.ENOENT:
				return refuseNew(b, rel)
			default:
				return errno
			}
		}
		return op(b, rel)
	})
}

// Mkdir implements sys.FS. The directory gets exactly perm&0777.
func (f *FS) Mkdir(path string, perm fs.FileMode) sys.Errno {
	return f.creating(path, true, func(b backend, rel string) sys.Errno {
		return b.mkdir(rel, perm&permMask)
	})
}

// Symlink implements sys.FS. The target is kept as it is; it may be absolute, and means a path of the guest.
func (f *FS) Symlink(target, path string) sys.Errno {
	switch {
	case target == "":
		return sys.ENOENT
	case len(target) >= pathMax:
		return sys.ENAMETOOLONG
	case strings.IndexByte(target, 0) >= 0:
		return sys.EINVAL
	}
	return f.creating(path, false, func(b backend, rel string) sys.Errno {
		return b.symlink(target, rel)
	})
}

// Rmdir implements sys.FS.
func (f *FS) Rmdir(path string) sys.Errno {
	dots := [4]sys.Errno{0, sys.EINVAL, sys.ENOTEMPTY, eBUSY}
	return f.at1(path, dots, always(eBUSY), func(b backend, rel string, _ bool) sys.Errno {
		if b.readOnly() {
			return sys.EROFS
		}
		return b.rmdir(rel)
	})
}

// Unlink implements sys.FS.
func (f *FS) Unlink(path string) sys.Errno {
	dots := [4]sys.Errno{0, sys.EISDIR, sys.EISDIR, sys.EISDIR}
	mountPoint := func(n *node) sys.Errno {
		if n.single {
			return eBUSY
		}
		return sys.EISDIR
	}
	return f.at1(path, dots, mountPoint, func(b backend, rel string, slash bool) sys.Errno {
		if b.readOnly() {
			return sys.EROFS
		}
		if !slash {
			return b.unlink(rel)
		}
		switch st, errno := b.stat(rel, false); {
		case errno != 0:
			return errno
		case st.Mode.IsDir():
			return sys.EISDIR
		}
		return sys.ENOTDIR
	})
}
