package cow

import (
	"os"

	"golang.org/x/sys/unix"
)

// restore drops this memory's own pages in [start, end): the next touch finds the image's again,
// madvise(2) MADV_DONTNEED on a private file mapping.
func (m *Memory) restore(start, end uint64) error {
	if start >= end {
		return nil
	}
	return os.NewSyscallError("madvise", unix.Madvise(m.bytes[start:end:end], unix.MADV_DONTNEED))
}
