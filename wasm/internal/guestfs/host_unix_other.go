//go:build unix && !linux

package guestfs

import (
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"
)

const (
	// dirOnlyFlags open a directory to act in it.
	dirOnlyFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK
	utimeOmit    = -2 // UTIME_OMIT in sys/stat.h of macOS
)

// futimens has microseconds: there is no futimens with nanoseconds that can be called without cgo. A time that is
// to stay is read and set again.
func futimens(f *os.File, atim, mtim int64) sys.Errno {
	fi, err := f.Stat()
	if err != nil {
		return hostErrno(err)
	}
	st := wsys.NewStat_t(fi)
	if atim == sys.UTIME_OMIT {
		atim = st.Atim
	}
	if mtim == sys.UTIME_OMIT {
		mtim = st.Mtim
	}
	tv := []unix.Timeval{unix.NsecToTimeval(atim), unix.NsecToTimeval(mtim)}
	return control(f, func(fd uintptr) error { return unix.Futimes(int(fd), tv) })
}
