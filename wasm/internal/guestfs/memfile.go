package guestfs

import (
	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// memFile is an open file of a memFS.
type memFile struct {
	sys.UnimplementedFile
	m      *memFS
	n      *memNode
	flag   sys.Oflag
	off    int64
	closed bool
}

func (f *memFile) Dev() (uint64, sys.Errno)     { return f.n.st.Dev, 0 }
func (f *memFile) Ino() (wsys.Inode, sys.Errno) { return f.n.st.Ino, 0 }
func (f *memFile) IsAppend() bool               { return f.flag&sys.O_APPEND != 0 }

func (f *memFile) SetAppend(on bool) sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	f.flag = withAppend(f.flag, on)
	return 0
}

func (f *memFile) Stat() (wsys.Stat_t, sys.Errno) {
	if f.closed {
		return wsys.Stat_t{}, sys.EBADF
	}
	return f.n.stat(), 0
}

func (f *memFile) Read(buf []byte) (int, sys.Errno) {
	n, errno := f.Pread(buf, f.off)
	f.off += int64(n)
	return n, errno
}

func (f *memFile) Pread(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case f.closed || !readable(f.flag):
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	}
	return f.n.data.read(buf, off), 0
}

func (f *memFile) Write(buf []byte) (int, sys.Errno) {
	off := f.off
	if f.IsAppend() {
		off = f.n.data.size
	}
	n, errno := f.Pwrite(buf, off)
	if n > 0 {
		f.off = off + int64(n)
	}
	return n, errno
}

// Pwrite appends to a file that was opened to append, whatever off says: pwrite(2), BUGS.
func (f *memFile) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case f.closed || !writable(f.flag):
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	case len(buf) == 0:
		return 0, 0
	}
	if f.IsAppend() {
		off = f.n.data.size
	}
	n, errno := f.n.data.write(f.m, buf, off)
	if n > 0 {
		f.n.changed()
	}
	return n, errno
}

func (f *memFile) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	if f.closed {
		return 0, sys.EBADF
	}
	off, errno := seek(f.off, f.n.data.size, offset, whence)
	if errno == 0 {
		f.off = off
	}
	return off, errno
}

func (f *memFile) Truncate(size int64) sys.Errno {
	switch {
	case f.closed:
		return sys.EBADF
	case size < 0 || !writable(f.flag):
		return sys.EINVAL
	case size > maxMemFile:
		return eFBIG
	}
	f.m.bytes -= f.n.data.truncate(size)
	f.n.changed()
	return 0
}

func (f *memFile) Sync() sys.Errno     { return f.closedErrno() }
func (f *memFile) Datasync() sys.Errno { return f.closedErrno() }

func (f *memFile) closedErrno() sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	return 0
}

func (f *memFile) Utimens(atim, mtim int64) sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	f.n.setTimes(atim, mtim)
	return 0
}

func (f *memFile) Close() sys.Errno {
	if !f.closed {
		f.closed = true
		f.n.opens--
		f.m.release(f.n)
	}
	return 0
}
