package guestfs

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// RunConfig is what one run has of its own.
type RunConfig struct {
	// ScriptName is the base name of the script's file in ScriptDir. Empty, or no plain name: there is none.
	ScriptName string
	// Script is its content. It is not copied and must not change before FS.Close.
	Script []byte
	// TmpBytes and TmpFiles bound /tmp: the memory that file contents hold, in bytes, rounded up to 4 KiB per
	// piece of a file, and the number of names. Zero leaves no room for anything.
	TmpBytes, TmpFiles int64
	// Stdin, Stdout and Stderr are what /dev/stdin and so on delegate to. Closing such a file does not close
	// these. Nil: opening the device gives ENXIO.
	Stdin, Stdout, Stderr sys.File
}

// FS is the file system of one run. It is for one goroutine at a time; so are the files that it opens.
// Paths are relative to "/", with or without a slash in front.
type FS struct {
	session *Session
	run     RunConfig
	closed  bool
	tmp     memFS
	dev     devMount
	script  scriptMount
	open    map[hostHandle]struct{}
}

var _ sys.FS = (*FS)(nil)

// hostHandle is an open file that holds a host descriptor.
type hostHandle interface{ Close() sys.Errno }

// NewFS makes the file system of one run. It does no system call. Close it before the session.
func (s *Session) NewFS(c RunConfig) *FS {
	f := &FS{session: s, run: c}
	f.tmp.maxBytes, f.tmp.maxFiles = c.TmpBytes, c.TmpFiles
	f.dev.run = &f.run
	f.script.run, f.script.born = &f.run, s.born
	return f
}

// Close closes the host descriptors that the run has left open and drops /tmp. Afterwards every call on f gives
// EBADF, and so do the open host files. It must not run beside another call on f or on a file of f; it may be called
// again.
func (f *FS) Close() {
	f.closed = true
	for h := range f.open {
		_ = h.Close()
	}
	f.open = nil
	f.tmp.drop()
	f.run = RunConfig{}
}

func (f *FS) track(h hostHandle) {
	if f.open == nil {
		f.open = make(map[hostHandle]struct{})
	}
	f.open[h] = struct{}{}
	f.session.hostFiles.Add(1)
}

func (f *FS) untrack(h hostHandle) {
	delete(f.open, h)
	f.session.hostFiles.Add(-1)
}

func (f *FS) backend(n *node) backend {
	switch n.kind {
	case kindFixed:
		return n.fixed
	case kindTmp:
		return &f.tmp
	case kindDev:
		return &f.dev
	case kindScript:
		return &f.script
	}
	return &tableMount{n: n, born: f.session.born}
}

// OpenFile implements sys.FS. New files get exactly perm&0777.
func (f *FS) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (file sys.File, errno sys.Errno) {
	if flag&sys.O_CREAT != 0 && flag&sys.O_DIRECTORY != 0 {
		return nil, sys.EINVAL // as Linux since 6.4
	}
	if exclusive(flag) {
		flag |= sys.O_NOFOLLOW
	}
	w, errno := f.walkPath(path, flag&sys.O_NOFOLLOW == 0)
	if errno != 0 {
		return nil, errno
	}
	if w.dir && flag&sys.O_CREAT != 0 {
		if errno := f.parentErrno(path); errno != 0 {
			return nil, errno
		}
		if exclusive(flag) && !w.slash {
			return nil, sys.EEXIST
		}
		return nil, sys.EISDIR
	}
	errno = w.at(func(_ *node, b backend, rel string) (errno sys.Errno) {
		use := flag
		if w.dir {
			use = use&^sys.O_NOFOLLOW | sys.O_DIRECTORY
		}
		if use&sys.O_CREAT != 0 && use&sys.O_DIRECTORY != 0 {
			return sys.EISDIR // a link whose target ends in a slash
		}
		file, errno = b.open(f, rel, use, perm&permMask)
		return errno
	})
	if errno != 0 {
		return nil, errno
	}
	return file, 0
}

// parentErrno is the error of the directory that the path's last component, whatever it is, would be looked up in.
func (f *FS) parentErrno(path string) sys.Errno {
	dir := dirOf(strings.TrimRight(path, "/"))
	if dir == "" {
		return 0
	}
	_, errno := f.Stat(dir + "/")
	return errno
}

// Stat implements sys.FS.
func (f *FS) Stat(path string) (wsys.Stat_t, sys.Errno) { return f.stat(path, true) }

// Lstat implements sys.FS.
func (f *FS) Lstat(path string) (wsys.Stat_t, sys.Errno) { return f.stat(path, false) }

func (f *FS) stat(path string, follow bool) (st wsys.Stat_t, errno sys.Errno) {
	w, errno := f.walkPath(path, follow)
	if errno != 0 {
		return st, errno
	}
	errno = w.at(func(_ *node, b backend, rel string) (errno sys.Errno) {
		st, errno = b.stat(rel, follow || w.dir)
		return errno
	})
	if errno == 0 && w.dir && !st.Mode.IsDir() {
		errno = sys.ENOTDIR
	}
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	return st, 0
}

// Readlink implements sys.FS.
func (f *FS) Readlink(path string) (target string, errno sys.Errno) {
	w, errno := f.walkPath(path, false)
	if errno != 0 {
		return "", errno
	}
	if w.dir {
		if _, errno := f.Stat(path); errno != 0 {
			return "", errno
		}
		return "", sys.EINVAL
	}
	errno = w.at(func(_ *node, b backend, rel string) (errno sys.Errno) {
		target, errno = b.readlink(rel)
		return errno
	})
	return target, errno
}

// Chmod implements sys.FS. Only the bits of 0777 count. The root of a host mount is refused with EPERM: its
// mode may be all that keeps other users of the host out.
func (f *FS) Chmod(path string, perm fs.FileMode) sys.Errno {
	return f.change(path, true, func(b backend, rel string) sys.Errno {
		return b.chmod(rel, perm&permMask)
	})
}

// Utimens implements sys.FS. It follows a link in the last component.
func (f *FS) Utimens(path string, atim, mtim int64) sys.Errno {
	return f.change(path, true, func(b backend, rel string) sys.Errno {
		return b.utimens(rel, atim, mtim, true)
	})
}

// Lutimens is Utimens for the link itself, which sys.FS does not have and utimensat(2) does.
func (f *FS) Lutimens(path string, atim, mtim int64) sys.Errno {
	return f.change(path, false, func(b backend, rel string) sys.Errno {
		return b.utimens(rel, atim, mtim, false)
	})
}

// change runs op on something that exists. A path that does not is ENOENT also on a read-only mount.
func (f *FS) change(path string, follow bool, op func(b backend, rel string) sys.Errno) sys.Errno {
	w, errno := f.walkPath(path, follow)
	if errno != 0 {
		return errno
	}
	return w.at(func(_ *node, b backend, rel string) sys.Errno {
		follow := follow || w.dir
		if b.readOnly() || w.dir {
			st, errno := b.stat(rel, follow)
			switch {
			case errno != 0:
				return errno
			case w.dir && !st.Mode.IsDir():
				return sys.ENOTDIR
			case b.readOnly():
				return sys.EROFS
			}
		}
		return op(b, rel)
	})
}
