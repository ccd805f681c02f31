package guestfs

import (
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// open looks first, so that a FIFO, socket or device is not even touched, and compares what it got with what it
// saw. That also makes O_NOFOLLOW hold, which os.Root does not know. What was swapped in between can have been
// opened for a moment (without waiting: O_NONBLOCK), but was neither created nor changed: O_CREAT is only passed
// on with O_EXCL, and O_TRUNC is done on the descriptor that was compared.
func (m *hostMount) open(f *FS, rel string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	fi, errno := m.info(rel, flag&sys.O_NOFOLLOW == 0)
	switch {
	case errno == sys.ENOENT && flag&sys.O_CREAT != 0 && m.ro:
		return nil, checkCreate(m, rel, flag)
	case errno == sys.ENOENT && flag&sys.O_CREAT != 0:
		return m.create(f, rel, flag, perm)
	case errno == 0:
		errno = checkOpen(fi.Mode(), flag, m.ro)
	}
	if errno != 0 {
		return nil, errno
	}
	return m.openExisting(f, rel, flag, fi)
}

func (m *hostMount) openExisting(f *FS, rel string, flag sys.Oflag, seen fs.FileInfo) (sys.File, sys.Errno) {
	h := &hostFile{fs: f, m: m, rel: rel, flag: flag}
	use := hostFlag(flag)
	switch {
	case seen.IsDir():
		use = os.O_RDONLY | hostDirectory
	case flag&sys.O_TRUNC != 0 && !writable(flag):
		use = hostFlag(flag | sys.O_RDWR) // Linux lets O_RDONLY|O_TRUNC truncate; writing stays refused by hostFile
	}
	errno := m.counted(func() (errno sys.Errno) {
		h.f, h.seen, errno = m.openSame(rootPath(rel), use, seen)
		if errno == 0 {
			m.account.opened(h.seen)
		}
		return errno
	})
	if errno != 0 {
		return nil, errno
	}
	f.track(h)
	if seen.IsDir() {
		return &hostDir{hostFile: h}, 0
	}
	if errno := h.prepare(); errno != 0 {
		_ = h.Close()
		return nil, errno
	}
	return h, 0
}

// openSame opens name and makes sure that it is what was seen. The answer errWalk has the call look again.
func (m *hostMount) openSame(name string, flag int, seen fs.FileInfo) (*os.File, fs.FileInfo, sys.Errno) {
	file, err := m.root.OpenFile(name, flag|hostNoWait, 0)
	if err != nil {
		return nil, nil, rootErrno(err)
	}
	fi, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, nil, hostErrno(err)
	}
	if !os.SameFile(seen, fi) || fi.Mode().Type() != seen.Mode().Type() {
		file.Close()
		return nil, nil, errWalk
	}
	return file, fi, 0
}

func (m *hostMount) create(f *FS, rel string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	h := &hostFile{fs: f, m: m, rel: rel, flag: flag}
	errno := m.making(rel, 0, func() sys.Errno {
		file, err := m.root.OpenFile(rel, hostFlag(flag)|hostNoWait|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return rootErrno(err)
		}
		fi, err := file.Stat()
		if err == nil && fi.Mode().Perm() != perm {
			err = file.Chmod(perm) // the umask
		}
		if err != nil {
			file.Close()
			return hostErrno(err)
		}
		h.f, h.seen = file, fi
		m.account.opened(fi)
		return 0
	})
	if errno == sys.EEXIST && !exclusive(flag) {
		return nil, errWalk // a link that leads to nothing yet, or somebody was faster
	}
	if errno != 0 {
		return nil, errno
	}
	f.track(h)
	if errno := h.prepare(); errno != 0 {
		_ = h.Close()
		return nil, errno
	}
	return h, 0
}

// counted runs do under the quota's lock, if there is a quota.
func (m *hostMount) counted(do func() sys.Errno) sys.Errno {
	if m.account != nil {
		m.account.mu.Lock()
		defer m.account.mu.Unlock()
	}
	return do()
}

// prepare does to a fresh descriptor what its flags ask for.
func (h *hostFile) prepare() sys.Errno {
	if h.flag&sys.O_TRUNC != 0 && h.seen.Size() > 0 {
		if errno := h.truncate(0); errno != 0 {
			return errno
		}
	}
	if h.flag&sys.O_APPEND != 0 {
		return h.SetAppend(true)
	}
	return 0
}

// hostFlag translates access mode and sync flags, which is all that is left to the host.
func hostFlag(flag sys.Oflag) int {
	use := os.O_RDONLY
	switch flag & accessMask {
	case sys.O_RDWR:
		use = os.O_RDWR
	case sys.O_WRONLY:
		use = os.O_WRONLY
	}
	if flag&(sys.O_SYNC|sys.O_DSYNC) != 0 {
		use |= os.O_SYNC
	}
	return use
}
