package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
)

// maxHoles is how many bytes of holes are read for hashes in one walk: a script makes a file of exabytes in no time.
const maxHoles = 1 << 30

// A digester makes the hashes of one walk.
type digester struct {
	hash  hash.Hash
	buf   []byte
	holes int64 // bytes of holes that may still be read
}

func newDigester() *digester {
	return &digester{hash: sha256.New(), buf: make([]byte, 256<<10), holes: maxHoles}
}

// errUnhashed: there is no hash of a file, because it is nearly all hole or changes all the time.
var errUnhashed = errors.New("not hashed")

// sum hashes the first size bytes of a file.
func (d *digester) sum(ctx context.Context, f *os.File, size int64) (*digest, error) {
	if size > maxHashed {
		return nil, errUnhashed
	}
	d.hash.Reset()
	err := segments(f, size, func(off, n int64, hole bool) error {
		if hole {
			return d.zeros(ctx, n)
		}
		return d.read(ctx, f, off, n)
	})
	if err != nil {
		return nil, err
	}
	return d.result(), nil
}

func (d *digester) result() *digest {
	var out digest
	d.hash.Sum(out[:0])
	return &out
}

func (d *digester) read(ctx context.Context, f *os.File, off, n int64) error {
	return pieces(ctx, off, n, int64(len(d.buf)), func(off, n int64) error {
		if err := readFull(f, d.buf[:n], off); err != nil {
			return err
		}
		d.hash.Write(d.buf[:n])
		return nil
	})
}

// zeros hashes a hole.
func (d *digester) zeros(ctx context.Context, n int64) error {
	if n > d.holes {
		return errUnhashed
	}
	d.holes -= n
	clear(d.buf)
	return pieces(ctx, 0, n, int64(len(d.buf)), func(_, n int64) error {
		d.hash.Write(d.buf[:n])
		return nil
	})
}

// pieces calls f for n bytes from off on, at most so many at once.
func pieces(ctx context.Context, off, n, most int64, f func(off, n int64) error) error {
	for end := off + n; off < end; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		k := min(most, end-off)
		if err := f(off, k); err != nil {
			return err
		}
		off += k
	}
	return nil
}

// attempts is how often something that a script changes meanwhile is looked at again.
const attempts = 3

// file hashes a file and says how it was then. It returns no hash for one that changes all the time, is nearly all hole or
// may not be read, and ErrNotExist for what is no regular file any more.
func (d *digester) file(ctx context.Context, open func() (*os.File, error)) (*digest, fs.FileInfo, error) {
	f, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	for range attempts {
		if err != nil {
			return nil, nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, nil, errMoved
		}
		sum, sumErr := d.sum(ctx, f, info.Size())
		if sumErr != nil && !errors.Is(sumErr, io.ErrUnexpectedEOF) {
			if errors.Is(sumErr, errUnhashed) {
				sumErr = nil
			}
			return nil, info, sumErr
		}
		var after fs.FileInfo
		if after, err = f.Stat(); err == nil && sumErr == nil && newStat(after) == newStat(info) {
			return sum, info, nil
		}
		info = after
	}
	return nil, info, err
}
