package wasi

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

const (
	fdstatSize   = 24
	filestatSize = 64
)

// fdFdstatGet is fd_fdstat_get(fd, *fdstat).
func fdFdstatGet(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	if d == nil {
		return sys.EBADF
	}
	buf, ok := c.mem.Read(uint32(p[1]), fdstatSize)
	if !ok {
		return sys.EFAULT
	}
	base, inheriting := d.rights()
	le := binary.LittleEndian
	le.PutUint16(buf, uint16(d.filetype))
	le.PutUint16(buf[2:], d.flags)
	le.PutUint32(buf[4:], 0)
	le.PutUint64(buf[8:], base)
	le.PutUint64(buf[16:], inheriting)
	return 0
}

// fdFdstatSetFlags is fd_fdstat_set_flags(fd, flags). Append changes the file, nonblock what reads of
// standard input do; the flags about synchronous writes cannot be changed after the opening, as with
// F_SETFL on Linux.
func fdFdstatSetFlags(c call, p []uint64) sys.Errno {
	d, flags := c.env.files.get(uint32(p[0])), uint32(p[1])
	if d == nil {
		return sys.EBADF
	}
	const settable = fdflagAppend | fdflagNonblock
	if flags&^fdflagsAll != 0 || (uint16(flags)^d.flags)&^settable != 0 {
		return sys.EINVAL
	}
	if d.file != nil && !d.isDir() && (uint16(flags)^d.flags)&fdflagAppend != 0 {
		if err := d.file.SetAppend(flags&fdflagAppend != 0); err != 0 {
			return err
		}
	}
	d.flags = uint16(flags)
	return 0
}

// fdFdstatSetRights is fd_fdstat_set_rights(fd, base, inheriting). ENOTSUP says that this host has no
// rights to give up.
func fdFdstatSetRights(c call, p []uint64) sys.Errno {
	if c.env.files.get(uint32(p[0])) == nil {
		return sys.EBADF
	}
	return sys.ENOTSUP
}

// fdFilestatGet is fd_filestat_get(fd, *filestat).
func fdFilestatGet(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	if d == nil {
		return sys.EBADF
	}
	if d.isStream() {
		return c.writeFilestat(uint32(p[1]), wasys.Stat_t{Ino: d.number, Nlink: 1}, d.filetype)
	}
	f, err := c.env.open(d)
	if err != 0 {
		return err
	}
	st, err := f.Stat()
	if err != 0 {
		return err
	}
	return c.writeFilestat(uint32(p[1]), st, filetypeOf(st.Mode))
}

func (c call) writeFilestat(ptr uint32, st wasys.Stat_t, t filetype) sys.Errno {
	buf, ok := c.mem.Read(ptr, filestatSize)
	if !ok {
		return sys.EFAULT
	}
	le := binary.LittleEndian
	le.PutUint64(buf, st.Dev)
	le.PutUint64(buf[8:], st.Ino)
	le.PutUint64(buf[16:], uint64(t))
	le.PutUint64(buf[24:], st.Nlink)
	le.PutUint64(buf[32:], uint64(st.Size))
	le.PutUint64(buf[40:], timestamp(st.Atim))
	le.PutUint64(buf[48:], timestamp(st.Mtim))
	le.PutUint64(buf[56:], timestamp(st.Ctim))
	return 0
}

// timestamp: preview 1 cannot say "before 1970"; wasi-libc makes it 1970 too.
func timestamp(ns int64) uint64 { return uint64(max(ns, 0)) }

// fdFilestatSetSize is fd_filestat_set_size(fd, size).
func fdFilestatSetSize(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	switch {
	case d == nil:
		return sys.EBADF
	case d.isDir(), d.isPipe(), !d.write:
		return sys.EINVAL
	case p[1] > maxOffset:
		return errno.EFBIG
	}
	return d.file.Truncate(int64(p[1]))
}

// fdAllocate is fd_allocate(fd, offset, len). The file grows to hold the range; what the range costs is
// counted by the FS when it grows.
func fdAllocate(c call, p []uint64) sys.Errno {
	d, err := c.writer(uint32(p[0]))
	if err != 0 {
		return err
	}
	offset, n := p[1], p[2]
	switch {
	case d.isPipe():
		return errno.ESPIPE
	case n == 0, offset > math.MaxInt64, n > math.MaxInt64:
		return sys.EINVAL
	case offset+n > maxOffset:
		return errno.EFBIG
	}
	st, err := d.file.Stat()
	if err != 0 || uint64(st.Size) >= offset+n {
		return err
	}
	return d.file.Truncate(int64(offset + n))
}

// fdAdvise is fd_advise(fd, offset, len, advice): checked, and then not used.
func fdAdvise(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	switch {
	case d == nil:
		return sys.EBADF
	case d.isDir():
		return sys.EBADF
	case d.isPipe():
		return errno.ESPIPE
	case uint32(p[3]) > adviceLast, p[1] > math.MaxInt64, p[2] > math.MaxInt64:
		return sys.EINVAL
	}
	return 0
}

// fdSync is fd_sync(fd).
func fdSync(c call, p []uint64) sys.Errno {
	f, err := c.synced(uint32(p[0]))
	if err != 0 {
		return err
	}
	return f.Sync()
}

// fdDatasync is fd_datasync(fd).
func fdDatasync(c call, p []uint64) sys.Errno {
	f, err := c.synced(uint32(p[0]))
	if err != 0 {
		return err
	}
	return f.Datasync()
}

func (c call) synced(fd uint32) (sys.File, sys.Errno) {
	d := c.env.files.get(fd)
	switch {
	case d == nil:
		return nil, sys.EBADF
	case d.isPipe():
		return nil, sys.EINVAL
	}
	return c.env.open(d)
}

// fdFilestatSetTimes is fd_filestat_set_times(fd, atim, mtim, fstflags).
func fdFilestatSetTimes(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	switch {
	case d == nil:
		return sys.EBADF
	case d.isPipe():
		return sys.EINVAL
	}
	atim, mtim, err := times(p[1], p[2], uint32(p[3]))
	if err != 0 {
		return err
	}
	f, err := c.env.open(d)
	if err != 0 {
		return err
	}
	return f.Utimens(atim, mtim)
}

// times gives what to pass to Utimens. A timestamp past 2262 has no room in an int64 and
// would be read as "leave alone".
func times(atim, mtim uint64, flags uint32) (a, m int64, err sys.Errno) {
	if flags&^fstflagsAll != 0 {
		return 0, 0, sys.EINVAL
	}
	now := time.Now().UnixNano()
	if a, err = oneTime(atim, now, flags&fstflagAtim != 0, flags&fstflagAtimNow != 0); err != 0 {
		return 0, 0, err
	}
	m, err = oneTime(mtim, now, flags&fstflagMtim != 0, flags&fstflagMtimNow != 0)
	return a, m, err
}

func oneTime(t uint64, now int64, set, setNow bool) (int64, sys.Errno) {
	switch {
	case set && setNow, set && t > math.MaxInt64:
		return 0, sys.EINVAL
	case set:
		return int64(t), 0
	case setNow:
		return now, 0
	default:
		return sys.UTIME_OMIT, 0
	}
}
