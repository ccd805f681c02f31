package guestfs

import (
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// hostFile is an open regular file of the host, and what a hostDir shares with it.
type hostFile struct {
	sys.UnimplementedFile
	fs     *FS
	m      *hostMount
	f      *os.File
	rel    string      // where it was when it was opened
	seen   fs.FileInfo // at the time of opening
	flag   sys.Oflag
	closed bool
}

func (h *hostFile) Dev() (uint64, sys.Errno) { return h.m.guestStat(h.seen, h.rel).Dev, 0 }

func (h *hostFile) Ino() (wsys.Inode, sys.Errno) { return h.m.guestStat(h.seen, h.rel).Ino, 0 }

func (h *hostFile) IsAppend() bool { return h.flag&sys.O_APPEND != 0 }

func (h *hostFile) SetAppend(on bool) sys.Errno {
	if h.closed {
		return sys.EBADF
	}
	if errno := setAppend(h.f, on); errno != 0 {
		return errno
	}
	h.flag = withAppend(h.flag, on)
	return 0
}

func (h *hostFile) Stat() (wsys.Stat_t, sys.Errno) {
	if h.closed {
		return wsys.Stat_t{}, sys.EBADF
	}
	fi, err := h.f.Stat()
	if err != nil {
		return wsys.Stat_t{}, hostErrno(err)
	}
	return h.m.guestStat(fi, h.rel), 0
}

func (h *hostFile) Read(buf []byte) (int, sys.Errno) {
	if h.closed || !readable(h.flag) {
		return 0, sys.EBADF
	}
	n, err := h.f.Read(buf)
	return max(n, 0), hostErrno(err)
}

func (h *hostFile) Pread(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case h.closed || !readable(h.flag):
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	}
	n, err := h.f.ReadAt(buf, off)
	return n, hostErrno(err)
}

func (h *hostFile) Write(buf []byte) (int, sys.Errno) {
	if h.closed || !writable(h.flag) {
		return 0, sys.EBADF
	}
	if !nativeAppend && h.IsAppend() {
		if _, err := h.f.Seek(0, io.SeekEnd); err != nil {
			return 0, hostErrno(err)
		}
	}
	return h.grow(len(buf), func() (int64, error) { return h.f.Seek(0, io.SeekCurrent) }, func() (int, error) {
		return h.f.Write(buf)
	})
}

func (h *hostFile) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	switch {
	case h.closed || !writable(h.flag):
		return 0, sys.EBADF
	case off < 0:
		return 0, sys.EINVAL
	}
	return h.grow(len(buf), func() (int64, error) { return off, nil }, func() (int, error) {
		return h.f.WriteAt(buf, off)
	})
}

// grow runs a write of n bytes at start under the quota. It gives an error only if nothing was written.
func (h *hostFile) grow(n int, start func() (int64, error), write func() (int, error)) (int, sys.Errno) {
	if n == 0 {
		return 0, 0
	}
	var written int
	var err error
	if h.m.account == nil {
		written, err = write()
	} else {
		written, err = h.m.account.grow(h.f, int64(n), h.IsAppend(), start, write)
	}
	if written > 0 {
		return written, 0
	}
	return 0, hostErrno(err)
}

func (h *hostFile) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	switch {
	case h.closed:
		return 0, sys.EBADF
	case whence != io.SeekStart && whence != io.SeekCurrent && whence != io.SeekEnd:
		return 0, sys.EINVAL // Linux has more of them
	}
	off, err := h.f.Seek(offset, whence)
	return off, hostErrno(err)
}

func (h *hostFile) Truncate(size int64) sys.Errno {
	switch {
	case h.closed:
		return sys.EBADF
	case size < 0 || !writable(h.flag):
		return sys.EINVAL
	}
	return h.truncate(size)
}

func (h *hostFile) truncate(size int64) sys.Errno {
	if h.m.account == nil {
		return hostErrno(h.f.Truncate(size))
	}
	return hostErrno(h.m.account.truncate(h.f, size))
}

func (h *hostFile) Sync() sys.Errno {
	if h.closed {
		return sys.EBADF
	}
	return hostErrno(h.f.Sync())
}

func (h *hostFile) Datasync() sys.Errno { return h.Sync() }

func (h *hostFile) Utimens(atim, mtim int64) sys.Errno {
	switch {
	case h.closed:
		return sys.EBADF
	case h.m.ro:
		return sys.EROFS
	}
	return futimens(h.f, atim, mtim)
}

// Close gives the descriptor back. While another goroutine forks, the child has a copy of it until its exec, and
// a copy that is open for writing makes the exec of the file fail with "text file busy" in whoever runs the
// script's output next. ForkLock is held over fork and exec, so once we have had it, the copies are gone but for the
// microseconds in which the kernel has already let the parent of a vfork go on.
func (h *hostFile) Close() sys.Errno {
	if h.closed {
		return 0
	}
	h.closed = true
	h.fs.untrack(h)
	return h.m.counted(func() sys.Errno {
		h.m.account.closing(h.f, h.seen)
		if writable(h.flag) {
			syscall.ForkLock.RLock()
			defer syscall.ForkLock.RUnlock()
		}
		return hostErrno(h.f.Close())
	})
}

// hostDir is an open directory of the host.
type hostDir struct{ *hostFile }

func (d *hostDir) IsDir() (bool, sys.Errno) { return true, 0 }

func (d *hostDir) IsAppend() bool                       { return false }
func (d *hostDir) SetAppend(bool) sys.Errno             { return sys.EISDIR }
func (d *hostDir) Read([]byte) (int, sys.Errno)         { return 0, sys.EISDIR }
func (d *hostDir) Pread([]byte, int64) (int, sys.Errno) { return 0, sys.EISDIR }
func (d *hostDir) Write([]byte) (int, sys.Errno)        { return 0, sys.EISDIR }
func (d *hostDir) Truncate(int64) sys.Errno             { return sys.EISDIR }

func (d *hostDir) Pwrite([]byte, int64) (int, sys.Errno) { return 0, sys.EISDIR }

// Seek only goes back to the start.
func (d *hostDir) Seek(offset seekOffset, whence int) (int64, sys.Errno) {
	switch {
	case d.closed:
		return 0, sys.EBADF
	case offset != 0 || whence != io.SeekStart:
		return 0, sys.EINVAL
	}
	_, err := d.f.Seek(0, io.SeekStart)
	return 0, hostErrno(err)
}

// Readdir looks at each entry through the directory's descriptor, not by its path.
func (d *hostDir) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if d.closed {
		return nil, sys.EBADF
	}
	infos, err := d.f.Readdir(n)
	dirents := make([]sys.Dirent, 0, len(infos))
	for _, fi := range infos {
		st := d.m.guestStat(fi, join(d.rel, fi.Name()))
		dirents = append(dirents, sys.Dirent{Ino: st.Ino, Name: fi.Name(), Type: st.Mode.Type()})
	}
	if len(dirents) > 0 {
		return dirents, 0
	}
	return nil, hostErrno(err)
}
