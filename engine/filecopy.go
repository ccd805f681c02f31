package engine

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A fileCopy copies a regular file to a new name, holes as holes. The descriptor of the copy is open for moments only,
// and no fork can happen then: see upload.write.
type fileCopy struct {
	dir    *os.Root
	name   string
	src    *os.File
	size   int64
	digest *digester
	// clone is cleared when content cannot be shared. Nil: it is not to be.
	clone *bool
	made  bool
}

// run makes the copy, with mode 0600. It returns the hash of what it copied, and none where it did not read it.
func (f *fileCopy) run(ctx context.Context) (*digest, error) {
	if f.clone != nil && *f.clone && f.size > 0 {
		err := f.with(func(dst *os.File) error {
			*f.clone = cloneFile(dst, f.src) == nil
			return nil
		})
		if err != nil || *f.clone {
			return nil, err
		}
	}
	d := f.digest
	d.hash.Reset()
	hashed, ends := true, f.size == 0 // ends: in a hole, which nothing is written for
	err := segments(f.src, f.size, func(off, n int64, hole bool) error {
		if ends = hole; !hole {
			return f.copy(ctx, off, n)
		}
		err := error(nil)
		if hashed {
			err = d.zeros(ctx, n)
		}
		if errors.Is(err, errUnhashed) {
			hashed, err = false, nil
		}
		return err
	})
	if err == nil && ends {
		err = f.with(func(dst *os.File) error { return dst.Truncate(f.size) })
	}
	if err != nil || !hashed {
		return nil, err
	}
	return d.result(), nil
}

// copy copies a part that is not a hole.
func (f *fileCopy) copy(ctx context.Context, off, n int64) error {
	return pieces(ctx, off, n, piece, func(off, n int64) error {
		return f.with(func(dst *os.File) error {
			return pieces(ctx, off, n, int64(len(f.digest.buf)), func(off, n int64) error {
				buf := f.digest.buf[:n]
				got, err := f.src.ReadAt(buf, off)
				if errors.Is(err, io.EOF) { // it got shorter meanwhile: the rest is a hole
					clear(buf[got:])
					err = nil
				}
				if err != nil {
					return err
				}
				f.digest.hash.Write(buf)
				_, err = dst.WriteAt(buf, off)
				return err
			})
		})
	})
}

// with calls g with the copy, which is made the first time.
func (f *fileCopy) with(g func(dst *os.File) error) error {
	flags := os.O_WRONLY | calmFlags
	if !f.made {
		flags |= os.O_CREATE | os.O_EXCL
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	dst, err := f.dir.OpenFile(f.name, flags, 0o600)
	if err != nil {
		return err
	}
	f.made = true
	return errors.Join(g(dst), dst.Close())
}

// finish gives the copy the permission bits and the time of the original.
func (f *fileCopy) finish(info fs.FileInfo) error {
	if err := f.dir.Chtimes(f.name, time.Time{}, info.ModTime()); err != nil {
		return err
	}
	return f.dir.Chmod(f.name, info.Mode().Perm())
}
