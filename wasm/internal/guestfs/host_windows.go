package guestfs

import (
	"os"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"
)

const (
	hostDirectory = 0
	hostNoWait    = 0
	nativeAppend  = false
)

// hostName refuses what Windows reads differently from us: other separators, drives and streams. os.Root would keep
// such a path below the root too; this keeps one name from meaning two things.
func hostName(rel string) bool { return !strings.ContainsAny(rel, `\:`) }

// unlinkAt looks before it removes: Windows has one call for both.
func (m *hostMount) unlinkAt(rel string, dir bool) sys.Errno {
	fi, errno := m.info(rel, false)
	switch {
	case errno != 0:
		return errno
	case dir && !fi.IsDir():
		return sys.ENOTDIR
	case !dir && fi.IsDir():
		return sys.EISDIR
	}
	return rootErrno(m.root.Remove(rel))
}

func (m *hostMount) renameAt(from, to string, dirOnly bool) sys.Errno {
	if dirOnly {
		fi, errno := m.info(from, false)
		if errno != 0 {
			return errno
		}
		if !fi.IsDir() {
			return sys.ENOTDIR
		}
	}
	return rootErrno(m.root.Rename(from, to))
}

func (m *hostMount) utimensAt(rel string, atim, mtim int64) sys.Errno {
	fi, errno := m.info(rel, false)
	switch {
	case errno != 0:
		return errno
	case fi.Mode()&os.ModeSymlink != 0:
		return sys.ENOTSUP
	}
	return rootErrno(m.root.Chtimes(rel, hostTime(atim), hostTime(mtim)))
}

// setAppend leaves it to hostFile.Write.
func setAppend(*os.File, bool) sys.Errno { return 0 }

func futimens(f *os.File, atim, mtim int64) sys.Errno {
	raw, err := f.SyscallConn()
	if err != nil {
		return hostErrno(err)
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = syscall.SetFileTime(syscall.Handle(fd), nil, filetime(atim), filetime(mtim))
	})
	if err == nil {
		err = inner
	}
	return hostErrno(err)
}

func filetime(nanos int64) *syscall.Filetime {
	if nanos == sys.UTIME_OMIT {
		return nil
	}
	ft := syscall.NsecToFiletime(nanos)
	return &ft
}
