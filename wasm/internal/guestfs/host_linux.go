package guestfs

import (
	"os"
	"strconv"

	"github.com/tetratelabs/wazero/experimental/sys"
	"golang.org/x/sys/unix"
)

const (
	// dirOnlyFlags open a directory to act in it; O_PATH needs no permission to read it.
	dirOnlyFlags = unix.O_PATH | unix.O_DIRECTORY
	utimeOmit    = unix.UTIME_OMIT
)

// futimens needs Linux 5.8 for an empty path (utimensat(2)); before, /proc must be mounted.
func futimens(f *os.File, atim, mtim int64) sys.Errno {
	ts := []unix.Timespec{timespec(atim), timespec(mtim)}
	return control(f, func(fd uintptr) error {
		err := unix.UtimesNanoAt(int(fd), "", ts, unix.AT_EMPTY_PATH)
		if err != unix.EINVAL && err != unix.ENOENT {
			return err
		}
		return unix.UtimesNanoAt(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(fd)), ts, 0)
	})
}
