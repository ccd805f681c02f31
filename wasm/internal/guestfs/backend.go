package guestfs

import (
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// backend is one mount. Paths are relative to it, clean, without ".."; "" is the mount's root.
//
// A method that cannot follow a link, or sees the ground move, answers errWalk and has changed nothing.
// Unless follow is set, or for utimens and chmod, the last component is not followed.
type backend interface {
	// readOnly mounts answer EROFS to all that would change them.
	readOnly() bool
	stat(rel string, follow bool) (wsys.Stat_t, sys.Errno)
	readlink(rel string) (string, sys.Errno)
	// open follows the last component unless flag has O_NOFOLLOW. f is the file system that closes what is
	// left open.
	open(f *FS, rel string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno)
	mkdir(rel string, perm fs.FileMode) sys.Errno
	rmdir(rel string) sys.Errno
	unlink(rel string) sys.Errno
	symlink(target, rel string) sys.Errno
	link(from, to string) sys.Errno
	// rename refuses anything but a directory when dirOnly is set.
	rename(from, to string, dirOnly bool) sys.Errno
	chmod(rel string, perm fs.FileMode) sys.Errno
	utimens(rel string, atim, mtim int64, follow bool) sys.Errno
}

// frozen is the changing half of a backend that never changes. What it refuses exists: FS has looked.
type frozen struct{}

func (frozen) readOnly() bool                               { return true }
func (frozen) mkdir(string, fs.FileMode) sys.Errno          { return sys.EROFS }
func (frozen) rmdir(string) sys.Errno                       { return sys.EROFS }
func (frozen) unlink(string) sys.Errno                      { return sys.EROFS }
func (frozen) symlink(string, string) sys.Errno             { return sys.EROFS }
func (frozen) link(string, string) sys.Errno                { return sys.EROFS }
func (frozen) rename(string, string, bool) sys.Errno        { return sys.EROFS }
func (frozen) chmod(string, fs.FileMode) sys.Errno          { return sys.EROFS }
func (frozen) utimens(string, int64, int64, bool) sys.Errno { return sys.EROFS }

// Device numbers that guests see. Host mounts and trees follow from devFirst on.
const (
	devTable uint64 = 1 + iota
	devTmp
	devDev
	devScript
	devFirst
)

const (
	accessMask = sys.O_RDONLY | sys.O_RDWR | sys.O_WRONLY
	permMask   = fs.FileMode(0o777)
)

func readable(flag sys.Oflag) bool { return flag&accessMask != sys.O_WRONLY }
func writable(flag sys.Oflag) bool { return flag&accessMask != sys.O_RDONLY }

// exclusive reports that the call must create the file.
func exclusive(flag sys.Oflag) bool {
	return flag&(sys.O_CREAT|sys.O_EXCL) == sys.O_CREAT|sys.O_EXCL
}

// checkOpen says whether something that exists and has this mode may be opened so. FIFOs, sockets and devices
// of a mount may not: opening one can block, or act on whoever has the other end.
func checkOpen(mode fs.FileMode, flag sys.Oflag, readOnly bool) sys.Errno {
	change := writable(flag) || flag&sys.O_TRUNC != 0
	switch {
	case exclusive(flag):
		return sys.EEXIST
	case mode&fs.ModeSymlink != 0 && flag&sys.O_DIRECTORY != 0:
		return sys.ENOTDIR
	case mode&fs.ModeSymlink != 0:
		return sys.ELOOP
	case mode.IsDir() && (change || flag&sys.O_CREAT != 0):
		return sys.EISDIR
	case mode.IsDir():
		return 0
	case flag&sys.O_DIRECTORY != 0:
		return sys.ENOTDIR
	case !mode.IsRegular():
		return sys.EACCES
	case change && readOnly:
		return sys.EROFS
	}
	return 0
}

// checkCreate is the error of opening something that does not exist on a read-only mount.
func checkCreate(b backend, rel string, flag sys.Oflag) sys.Errno {
	if flag&sys.O_CREAT == 0 {
		return sys.ENOENT
	}
	return refuseNew(b, rel)
}

// refuseNew is the error of making rel, which does not exist, on a read-only mount.
func refuseNew(b backend, rel string) sys.Errno {
	if errno := noDir(b, rel); errno != 0 {
		return errno
	}
	return sys.EROFS
}

// noDir is the error of the directory that rel lies in.
func noDir(b backend, rel string) sys.Errno {
	dir := dirOf(rel)
	if dir == "" {
		return 0
	}
	_, errno := b.stat(dir, true)
	return errno
}
