//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock, which goes with the process: flock(2). Children do not have it, since files are closed in them.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return os.NewSyscallError("flock", err)
}

// onlyOurs refuses a directory that others could put something into.
func onlyOurs(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, and this is user %d", st.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("its group or other users can write it (mode %#o)", info.Mode().Perm())
	}
	return nil
}

func isRoot() bool { return os.Geteuid() == 0 }
