package engine

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// Of lseek(2).
const (
	seekData = 3
	seekHole = 4
)

// maxHashed is the size of the largest file that is read to the end: holes are counted where they are seen.
const maxHashed = math.MaxInt64

// segments calls f for each part of the first size bytes of a file, in order: holes, and what is not one.
func segments(file *os.File, size int64, f func(off, n int64, hole bool) error) error {
	for off := int64(0); off < size; {
		data, err := file.Seek(off, seekData)
		switch {
		case errors.Is(err, syscall.ENXIO): // a hole up to the end
			data = size
		case err != nil: // a file system that does not tell
			return f(off, size-off, false)
		}
		data = min(max(data, off), size)
		if data > off {
			if err := f(off, data-off, true); err != nil {
				return err
			}
		}
		if data == size {
			return nil
		}
		end, err := file.Seek(data, seekHole)
		if err != nil || end <= data {
			end = size
		}
		if off = min(end, size); off > data {
			if err := f(data, off-data, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// ficlone is FICLONE of ioctl_ficlone(2).
const ficlone = 0x40049409

// cloneFile makes dst share the content of src, where the file system can do that.
func cloneFile(dst, src *os.File) error {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, dst.Fd(), ficlone, src.Fd())
	if errno != 0 {
		return os.NewSyscallError("ioctl FICLONE", errno)
	}
	return nil
}
