package guestfs

import (
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// bytesFile is an open file whose content does not change. load gives the content at the first read.
type bytesFile struct {
	sys.UnimplementedFile
	st     wsys.Stat_t
	load   func() ([]byte, sys.Errno)
	off    int64
	closed bool
}

func (f *bytesFile) Dev() (uint64, sys.Errno)     { return f.st.Dev, 0 }
func (f *bytesFile) Ino() (wsys.Inode, sys.Errno) { return f.st.Ino, 0 }
func (f *bytesFile) IsAppend() bool               { return false }

// SetAppend has nothing to act on: the file cannot be written.
func (f *bytesFile) SetAppend(bool) sys.Errno { return f.check() }

func (f *bytesFile) check() sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	return 0
}

func (f *bytesFile) Stat() (wsys.Stat_t, sys.Errno) { return f.st, f.check() }

func (f *bytesFile) Read(buf []byte) (int, sys.Errno) {
	n, errno := f.Pread(buf, f.off)
	f.off += int64(n)
	return n, errno
}

func (f *bytesFile) Pread(buf []byte, off int64) (int, sys.Errno) {
	if f.closed {
		return 0, sys.EBADF
	}
	if off < 0 {
		return 0, sys.EINVAL
	}
	content, errno := f.load()
	if errno != 0 || off >= int64(len(content)) {
		return 0, errno
	}
	return copy(buf, content[off:]), 0
}

func (f *bytesFile) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	if f.closed {
		return 0, sys.EBADF
	}
	off, errno := seek(f.off, f.st.Size, offset, whence)
	if errno == 0 {
		f.off = off
	}
	return off, errno
}

func (f *bytesFile) Write([]byte) (int, sys.Errno)         { return 0, sys.EBADF }
func (f *bytesFile) Pwrite([]byte, int64) (int, sys.Errno) { return 0, sys.EBADF }
func (f *bytesFile) Truncate(int64) sys.Errno              { return sys.EINVAL }
func (f *bytesFile) Utimens(int64, int64) sys.Errno        { return sys.EROFS }

func (f *bytesFile) Close() sys.Errno {
	f.closed = true
	return 0
}

// seekOffset is int64. go vet takes a method Seek(int64, int) for io.Seeker's and would have it return an error; by this
// name it sees that sys.File's is another.
type seekOffset = int64

// seek computes a new offset. It may lie past the end.
func seek(cur, size, offset int64, whence int) (int64, sys.Errno) {
	switch whence {
	case io.SeekStart:
		cur = 0
	case io.SeekCurrent:
	case io.SeekEnd:
		cur = size
	default:
		return 0, sys.EINVAL
	}
	// Both cur and size are never negative, so the sum can only overflow upwards, into a negative number.
	if off := cur + offset; off >= 0 {
		return off, 0
	}
	return 0, sys.EINVAL
}

// listing is an open directory whose entries do not change. Readdir gives no "." and ".."; WASI adds them.
type listing struct {
	sys.UnimplementedFile
	sys.DirFile
	st     wsys.Stat_t
	count  int
	entry  func(i int) sys.Dirent
	next   int
	closed bool
}

func (d *listing) Dev() (uint64, sys.Errno)       { return d.st.Dev, 0 }
func (d *listing) Ino() (wsys.Inode, sys.Errno)   { return d.st.Ino, 0 }
func (d *listing) IsDir() (bool, sys.Errno)       { return true, 0 }
func (d *listing) IsAppend() bool                 { return false }
func (d *listing) SetAppend(bool) sys.Errno       { return sys.EISDIR }
func (d *listing) Read([]byte) (int, sys.Errno)   { return 0, sys.EISDIR }
func (d *listing) Write([]byte) (int, sys.Errno)  { return 0, sys.EISDIR }
func (d *listing) Truncate(int64) sys.Errno       { return sys.EISDIR }
func (d *listing) Utimens(int64, int64) sys.Errno { return sys.EROFS }

func (d *listing) Pread([]byte, int64) (int, sys.Errno)  { return 0, sys.EISDIR }
func (d *listing) Pwrite([]byte, int64) (int, sys.Errno) { return 0, sys.EISDIR }

func (d *listing) Stat() (wsys.Stat_t, sys.Errno) {
	if d.closed {
		return wsys.Stat_t{}, sys.EBADF
	}
	return d.st, 0
}

func (d *listing) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	switch {
	case d.closed:
		return 0, sys.EBADF
	case offset != 0 || whence != io.SeekStart:
		return 0, sys.EINVAL
	}
	d.next = 0
	return 0, 0
}

func (d *listing) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if d.closed {
		return nil, sys.EBADF
	}
	end := d.count
	if n > 0 {
		end = min(d.next+n, d.count)
	}
	entries := make([]sys.Dirent, 0, end-d.next)
	for ; d.next < end; d.next++ {
		entries = append(entries, d.entry(d.next))
	}
	return entries, 0
}

func (d *listing) Close() sys.Errno {
	d.closed = true
	return 0
}
