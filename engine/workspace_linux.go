package engine

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepSize is FALLOC_FL_KEEP_SIZE: a file has room past its end.
const keepSize = 1

// reserve gives a file room for size bytes, or changes nothing: fallocate(2).
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	for {
		err := syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// sparse reports whether a file has holes: less room than its size. The unit is that of stat(2).
func sparse(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Blocks*512 < st.Size
}
