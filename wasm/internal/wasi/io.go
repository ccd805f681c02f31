package wasi

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

const (
	// maxIovecs is POSIX's IOV_MAX on Linux.
	maxIovecs = 1024
	// maxTransfer is what one read or write moves at most: the result is a signed 32-bit number in
	// wasi-libc. Linux has the same bound.
	maxTransfer = 0x7ffff000
	// piece is how many bytes are moved between two looks at Signals.
	piece = 1 << 20
	// maxOffset is beyond any file, and adding two of them does not overflow.
	maxOffset = 1 << 62
)

// fdRead is fd_read(fd, *iovecs, count, *nread).
func fdRead(c call, p []uint64) sys.Errno {
	d, err := c.reader(uint32(p[0]))
	if err != 0 {
		return err
	}
	if d.isStdin() {
		return c.readStdin(d, uint32(p[1]), uint32(p[2]), uint32(p[3]))
	}
	return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[3]), d.file.Read)
}

// fdPread is fd_pread(fd, *iovecs, count, offset, *nread).
func fdPread(c call, p []uint64) sys.Errno {
	d, err := c.reader(uint32(p[0]))
	if err != 0 {
		return err
	}
	if d.isPipe() {
		return errno.ESPIPE
	}
	if p[3] > maxOffset {
		return sys.EINVAL
	}
	off := int64(p[3])
	return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[4]), func(b []byte) (int, sys.Errno) {
		n, err := d.file.Pread(b, off)
		off += int64(n)
		return n, err
	})
}

// fdWrite is fd_write(fd, *ciovecs, count, *nwritten).
func fdWrite(c call, p []uint64) sys.Errno {
	d, err := c.writer(uint32(p[0]))
	if err != 0 {
		return err
	}
	if d.out == nil {
		return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[3]), d.file.Write)
	}
	return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[3]), func(b []byte) (int, sys.Errno) {
		n, err := d.out.Write(b)
		if err != nil {
			return n, sys.EIO
		}
		return n, 0
	})
}

// fdPwrite is fd_pwrite(fd, *ciovecs, count, offset, *nwritten). On a file that appends it does what
// Linux does: the bytes go to the end, and the offset stays.
func fdPwrite(c call, p []uint64) sys.Errno {
	d, err := c.writer(uint32(p[0]))
	if err != 0 {
		return err
	}
	if d.isPipe() {
		return errno.ESPIPE
	}
	if p[3] > maxOffset {
		return sys.EINVAL
	}
	if d.flags&fdflagAppend != 0 {
		at, err := d.file.Seek(0, io.SeekCurrent)
		if err != 0 {
			return err
		}
		defer func() { _, _ = d.file.Seek(at, io.SeekStart) }()
		return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[4]), d.file.Write)
	}
	off := int64(p[3])
	return c.transfer(uint32(p[1]), uint32(p[2]), uint32(p[4]), func(b []byte) (int, sys.Errno) {
		n, err := d.file.Pwrite(b, off)
		off += int64(n)
		return n, err
	})
}

// reader finds a descriptor that can be read.
func (c call) reader(fd uint32) (*descriptor, sys.Errno) {
	d := c.env.files.get(fd)
	switch {
	case d == nil:
		return nil, sys.EBADF
	case d.isDir():
		return nil, sys.EISDIR
	case !d.read:
		return nil, sys.EBADF
	}
	return d, 0
}

// writer finds a descriptor that can be written.
func (c call) writer(fd uint32) (*descriptor, sys.Errno) {
	d := c.env.files.get(fd)
	switch {
	case d == nil:
		return nil, sys.EBADF
	case d.isDir():
		return nil, sys.EISDIR
	case !d.write:
		return nil, sys.EBADF
	}
	return d, 0
}

// iovecs is the array of buffers of a call, checked as a whole; each buffer is checked when it is used,
// since a read can overwrite the array itself.
func (c call) iovecs(ptr, count, result uint32) ([]byte, sys.Errno) {
	if count > maxIovecs {
		return nil, sys.EINVAL
	}
	vec, ok := c.array(ptr, count, 8)
	if !ok {
		return nil, sys.EFAULT
	}
	if _, ok := c.mem.Read(result, 4); !ok {
		return nil, sys.EFAULT
	}
	return vec, 0
}

// iovec gives the i-th buffer.
func (c call) iovec(vec []byte, i uint32) ([]byte, bool) {
	return c.mem.Read(binary.LittleEndian.Uint32(vec[8*i:]), binary.LittleEndian.Uint32(vec[8*i+4:]))
}

// limited is buf, or its first n bytes.
func limited(buf []byte, n int) []byte { return buf[:min(len(buf), n)] }

// transfer calls move for the buffers in order until it moves less than it was given, and stores the
// sum at result. An error counts only when nothing was moved.
func (c call) transfer(ptr, count, result uint32, move func([]byte) (int, sys.Errno)) sys.Errno {
	vec, err := c.iovecs(ptr, count, result)
	if err != 0 {
		return err
	}
	total := 0
	for i := range count {
		buf, ok := c.iovec(vec, i)
		if !ok {
			err = sys.EFAULT
			break
		}
		buf = limited(buf, maxTransfer-total)
		var n int
		n, err = c.pieces(buf, move)
		total += n
		if err != 0 || n < len(buf) {
			break
		}
	}
	if total == 0 && err != 0 {
		if err == sys.EINTR {
			// A File of StdinFile was interrupted.
			c.interrupted()
		}
		return err
	}
	c.mem.WriteUint32Le(result, uint32(total))
	return 0
}

// pieces calls move on buf, bit by bit when it is long. When something wants to interrupt, it stops short;
// the guest meets the interruption at its next call.
func (c call) pieces(buf []byte, move func([]byte) (int, sys.Errno)) (int, sys.Errno) {
	total := 0
	for len(buf) > piece {
		n, err := move(buf[:piece])
		total += n
		if err != 0 || n < piece || c.pending() {
			return total, err
		}
		buf = buf[piece:]
	}
	if len(buf) == 0 {
		return total, 0
	}
	n, err := move(buf)
	return total + n, err
}

// readStdin reads once, into the first buffer that has room: more could block.
func (c call) readStdin(d *descriptor, ptr, count, result uint32) sys.Errno {
	vec, err := c.iovecs(ptr, count, result)
	if err != 0 {
		return err
	}
	var buf []byte
	for i := uint32(0); i < count && len(buf) == 0; i++ {
		var ok bool
		if buf, ok = c.iovec(vec, i); !ok {
			return sys.EFAULT
		}
	}
	n, err := c.stdin(d, limited(buf, maxTransfer))
	if err != 0 {
		return err
	}
	c.mem.WriteUint32Le(result, uint32(n))
	return 0
}

func (c call) stdin(d *descriptor, buf []byte) (int, sys.Errno) {
	in := c.env.stdin
	if len(buf) == 0 || in == nil {
		return 0, 0
	}
	if d.flags&fdflagNonblock != 0 && in.Wait(closed) != nil {
		return 0, sys.EAGAIN
	}
	n, err := in.Read(buf, c.env.signals.Wait())
	switch {
	case n > 0 || errors.Is(err, io.EOF):
		return n, 0
	case c.interrupted():
		return 0, sys.EINTR
	default:
		return 0, sys.EIO
	}
}

// fdSeek is fd_seek(fd, offset, whence, *newoffset).
func fdSeek(c call, p []uint64) sys.Errno {
	return c.seek(uint32(p[0]), int64(p[1]), uint32(p[2]), uint32(p[3]))
}

// fdTell is fd_tell(fd, *offset).
func fdTell(c call, p []uint64) sys.Errno {
	return c.seek(uint32(p[0]), 0, io.SeekCurrent, uint32(p[1]))
}

func (c call) seek(fd uint32, offset int64, whence, result uint32) sys.Errno {
	d := c.env.files.get(fd)
	switch {
	case d == nil:
		return sys.EBADF
	case d.isDir():
		return sys.EISDIR
	case d.isPipe():
		return errno.ESPIPE
	case whence > io.SeekEnd, offset > maxOffset, offset < -maxOffset:
		return sys.EINVAL
	}
	if _, ok := c.mem.Read(result, 8); !ok {
		return sys.EFAULT
	}
	at, err := d.file.Seek(offset, int(whence))
	if err != 0 {
		return err
	}
	c.mem.WriteUint64Le(result, uint64(at))
	return 0
}
