package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// opaqueName is the attribute of a directory in the upper layer of an overlayfs through which the lower layer
// does not show: its value is "y". Who looks through the overlayfs cannot set it.
const opaqueName = "user.overlay.opaque"

// isWhiteout reports whether an entry of the upper layer stands for a name that is removed: a character device 0:0.
func isWhiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Mode&syscall.S_IFMT == syscall.S_IFCHR && st.Rdev == 0
}

// isOpaque reports whether a directory of the upper layer hides that of the lower one.
func isOpaque(dir *os.Root) (bool, error) {
	f, err := dir.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close()
	var value [8]byte
	n, err := syscall.Getxattr(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), opaqueName, value[:])
	if errors.Is(err, syscall.ENODATA) {
		return false, nil
	}
	return err == nil && n == 1 && value[0] == 'y', os.NewSyscallError("getxattr", err)
}

// isOurs reports whether an entry belongs to this process's user and group.
func isOurs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid()
}

// deviceOf tells on which file system an entry lies.
func deviceOf(info fs.FileInfo) uint64 { return inodeOf(info).dev }
