//go:build unix

package guestfs

import (
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
)

const (
	hostDirectory = unix.O_DIRECTORY
	// hostNoWait keeps an open that meets a FIFO from waiting, and a terminal from becoming ours.
	hostNoWait = unix.O_NONBLOCK | unix.O_NOCTTY
	// nativeAppend: the host appends by itself, also beside other processes that write to the file.
	nativeAppend = true
)

// hostName reports whether the host takes rel for the components that we take it for.
func hostName(string) bool { return true }

// The calls below are those that os.Root has no exact counterpart for: Remove does not tell files from directories,
// Rename refuses to replace an empty one, Chtimes follows links. They act on a descriptor of the parent that came
// out of the root, and on a last component that the kernel does not follow.

// inParent runs do with a descriptor of the directory that rel lies in.
func (m *hostMount) inParent(rel string, do func(dirfd int, base string) error) sys.Errno {
	dir, base := split(rel)
	parent, err := m.root.OpenFile(rootPath(dir), dirOnlyFlags, 0)
	if err != nil {
		return rootErrno(err)
	}
	defer parent.Close()
	return control(parent, func(fd uintptr) error { return do(int(fd), base) })
}

func (m *hostMount) unlinkAt(rel string, dir bool) sys.Errno {
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return m.inParent(rel, func(fd int, base string) error {
		return unix.Unlinkat(fd, base, flags)
	})
}

func (m *hostMount) renameAt(from, to string, dirOnly bool) sys.Errno {
	var second sys.Errno
	first := m.inParent(from, func(fromDir int, fromBase string) error {
		second = m.inParent(to, func(toDir int, toBase string) error {
			if dirOnly {
				if err := isDirAt(fromDir, fromBase); err != nil {
					return err
				}
			}
			return unix.Renameat(fromDir, fromBase, toDir, toBase)
		})
		return nil
	})
	switch {
	case first != 0:
		return first
	case second == sys.EEXIST:
		return sys.ENOTEMPTY // POSIX allows either
	}
	return second
}

func isDirAt(fd int, base string) error {
	var st unix.Stat_t
	err := unix.Fstatat(fd, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.ENOTDIR
	}
	return err
}

func (m *hostMount) utimensAt(rel string, atim, mtim int64) sys.Errno {
	ts := []unix.Timespec{timespec(atim), timespec(mtim)}
	return m.inParent(rel, func(fd int, base string) error {
		return unix.UtimesNanoAt(fd, base, ts, unix.AT_SYMLINK_NOFOLLOW)
	})
}

func timespec(nanos int64) unix.Timespec {
	if nanos == sys.UTIME_OMIT {
		return unix.Timespec{Nsec: utimeOmit}
	}
	return unix.NsecToTimespec(nanos)
}

func setAppend(f *os.File, on bool) sys.Errno {
	return control(f, func(fd uintptr) error {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil {
			return err
		}
		flags &^= unix.O_APPEND
		if on {
			flags |= unix.O_APPEND
		}
		_, err = unix.FcntlInt(fd, unix.F_SETFL, flags)
		return err
	})
}

// control runs do with the descriptor of f.
func control(f *os.File, do func(fd uintptr) error) sys.Errno {
	raw, err := f.SyscallConn()
	if err != nil {
		return hostErrno(err)
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return hostErrno(err)
	}
	return hostErrno(inner)
}
