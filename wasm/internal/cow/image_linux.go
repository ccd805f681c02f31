package cow

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymousFile is a memfd: memory of this process that no path leads to.
func anonymousFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("sandbar-image", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "sandbar-image"), nil
}

// seal makes the content final, fcntl(2) F_ADD_SEALS: not even a bug of ours can change what the next
// instance starts from.
func seal(f *os.File) error {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return os.NewSyscallError("fcntl F_ADD_SEALS", err)
}
