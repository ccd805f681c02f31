//go:build linux || darwin

package cow

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func kernelPage() int { return os.Getpagesize() }

// backing is the image as a file without a name, and a view of it to copy from.
type backing struct {
	file *os.File
	view []byte
}

func newBacking(size uint64, pieces []Piece) (backing, error) {
	file, err := anonymousFile()
	if err != nil {
		return backing{}, err
	}
	b := backing{file: file}
	if err := b.fill(size, pieces); err != nil {
		return backing{}, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *backing) fill(size uint64, pieces []Piece) error {
	if err := b.file.Truncate(int64(size)); err != nil {
		return err
	}
	for _, p := range pieces {
		if _, err := b.file.WriteAt(p.Bytes, int64(p.Offset)); err != nil {
			return err
		}
	}
	if err := seal(b.file); err != nil {
		return err
	}
	view, err := unix.Mmap(int(b.file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	b.view = view
	return nil
}

func (b *backing) close() error {
	var err error
	if b.view != nil {
		err = os.NewSyscallError("munmap", unix.Munmap(b.view))
		b.view = nil
	}
	return errors.Join(err, b.file.Close())
}

// Bytes is the whole content, to be read only. It is gone after Close.
func (im *Image) Bytes() []byte { return im.view }
