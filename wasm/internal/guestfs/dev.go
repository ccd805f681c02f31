package guestfs

import (
	"crypto/rand"
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// devices are all that /dev has. The index is the inode number less two.
var devices = []string{"full", "null", "random", "stderr", "stdin", "stdout", "urandom", "zero"}

// maxRandom bounds one read of /dev/urandom in bytes, so that a read of the guest's whole memory does not keep
// the host busy past the guest's deadline. Linux gives up to 32 MiB.
const maxRandom = 1 << 20

// devMount is /dev. The directory is read-only; the devices can be written to.
type devMount struct {
	frozen
	run *RunConfig
}

func (m *devMount) stat(rel string, _ bool) (wsys.Stat_t, sys.Errno) {
	if rel == "" {
		return fixedStat(devDev, 1, fs.ModeDir|0o555, 0, 0), 0
	}
	c, tail, _ := strings.Cut(rel, "/")
	for i, name := range devices {
		if name != c {
			continue
		}
		if tail != "" {
			return wsys.Stat_t{}, sys.ENOTDIR
		}
		return fixedStat(devDev, wsys.Inode(i)+2, fs.ModeDevice|fs.ModeCharDevice|0o666, 0, 0), 0
	}
	return wsys.Stat_t{}, sys.ENOENT
}

func (m *devMount) readlink(rel string) (string, sys.Errno) {
	_, errno := m.stat(rel, false)
	return "", orEinval(errno)
}

func (m *devMount) open(_ *FS, rel string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	st, errno := m.stat(rel, false)
	switch {
	case errno == sys.ENOENT:
		return nil, checkCreate(m, rel, flag)
	case errno != 0:
		return nil, errno
	case st.Mode.IsDir():
		if errno := checkOpen(st.Mode, flag, true); errno != 0 {
			return nil, errno
		}
		return &listing{st: st, count: len(devices), entry: func(i int) sys.Dirent {
			return sys.Dirent{Ino: wsys.Inode(i) + 2, Name: devices[i], Type: fs.ModeDevice | fs.ModeCharDevice}
		}}, 0
	case exclusive(flag):
		return nil, sys.EEXIST
	case flag&sys.O_DIRECTORY != 0:
		return nil, sys.ENOTDIR
	}
	switch rel {
	case "stdin":
		return delegate(m.run.Stdin)
	case "stdout":
		return delegate(m.run.Stdout)
	case "stderr":
		return delegate(m.run.Stderr)
	}
	return &devFile{st: st, name: rel, flag: flag}, 0
}

// delegate is a file that closes by itself and is f in all else. It can be polled if f can.
func delegate(f sys.File) (sys.File, sys.Errno) {
	if f == nil {
		return nil, eNXIO
	}
	if p, ok := f.(sys.PollableFile); ok {
		return &keepOpenPoll{p}, 0
	}
	return &keepOpen{f}, 0
}

type keepOpen struct{ sys.File }

func (keepOpen) Close() sys.Errno { return 0 }

type keepOpenPoll struct{ sys.PollableFile }

func (keepOpenPoll) Close() sys.Errno { return 0 }

// devFile is an open null, zero, full, random or urandom.
type devFile struct {
	sys.UnimplementedFile
	st     wsys.Stat_t
	name   string
	flag   sys.Oflag
	closed bool
}

func (f *devFile) Dev() (uint64, sys.Errno)     { return f.st.Dev, 0 }
func (f *devFile) Ino() (wsys.Inode, sys.Errno) { return f.st.Ino, 0 }
func (f *devFile) IsAppend() bool               { return f.flag&sys.O_APPEND != 0 }

func (f *devFile) SetAppend(on bool) sys.Errno {
	f.flag = withAppend(f.flag, on)
	return 0
}

func (f *devFile) Stat() (wsys.Stat_t, sys.Errno) {
	if f.closed {
		return wsys.Stat_t{}, sys.EBADF
	}
	return f.st, 0
}

func (f *devFile) Read(buf []byte) (int, sys.Errno) {
	if f.closed || !readable(f.flag) {
		return 0, sys.EBADF
	}
	switch f.name {
	case "null":
		return 0, 0
	case "random", "urandom":
		// Read never fails: the Go runtime ends the program if the kernel has no randomness.
		n, _ := rand.Read(buf[:min(len(buf), maxRandom)])
		return n, 0
	}
	clear(buf)
	return len(buf), 0
}

func (f *devFile) Pread(buf []byte, off int64) (int, sys.Errno) {
	if off < 0 {
		return 0, sys.EINVAL
	}
	return f.Read(buf)
}

func (f *devFile) Write(buf []byte) (int, sys.Errno) {
	switch {
	case f.closed || !writable(f.flag):
		return 0, sys.EBADF
	case f.name == "full" && len(buf) > 0:
		return 0, eNOSPC
	}
	return len(buf), 0
}

func (f *devFile) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	if off < 0 {
		return 0, sys.EINVAL
	}
	return f.Write(buf)
}

// Seek leaves the position at 0, as null_lseek does.
func (f *devFile) Seek(seekOffset, int) (int64, sys.Errno) {
	if f.closed {
		return 0, sys.EBADF
	}
	return 0, 0
}

func (f *devFile) Truncate(int64) sys.Errno       { return sys.EINVAL }
func (f *devFile) Utimens(int64, int64) sys.Errno { return sys.EROFS }

func (f *devFile) Close() sys.Errno {
	f.closed = true
	return 0
}

func withAppend(flag sys.Oflag, on bool) sys.Oflag {
	if on {
		return flag | sys.O_APPEND
	}
	return flag &^ sys.O_APPEND
}
