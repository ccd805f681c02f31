package wasi

import (
	"crypto/rand"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// procExit is proc_exit(code). It does not come back.
func procExit(c call, p []uint64) sys.Errno {
	c.env.signals.Exit(uint32(p[0]))
	return 0
}

// procRaise is proc_raise(signal). There are no signals; wasi-libc's are its own.
func procRaise(call, []uint64) sys.Errno { return sys.ENOSYS }

// schedYield is sched_yield(): a point at which a run can be interrupted.
func schedYield(c call, _ []uint64) sys.Errno {
	if c.interrupted() {
		return sys.EINTR
	}
	return 0
}

// randomPiece is how many bytes are drawn between two looks at Signals: about 0.1 ms.
const randomPiece = 64 << 10

// randomGet is random_get(*buf, size). wasi-libc asks for 256 bytes at most; a guest that asks for all
// its memory can be interrupted in the middle.
func randomGet(c call, p []uint64) sys.Errno {
	buf, ok := c.mem.Read(uint32(p[0]), uint32(p[1]))
	if !ok {
		return sys.EFAULT
	}
	for len(buf) > randomPiece {
		if _, err := rand.Read(buf[:randomPiece]); err != nil {
			return sys.EIO
		}
		buf = buf[randomPiece:]
		if c.interrupted() {
			return sys.EINTR
		}
	}
	if _, err := rand.Read(buf); err != nil {
		return sys.EIO
	}
	return 0
}

// notSocket is the answer of all sock functions: no descriptor is a socket.
func notSocket(c call, p []uint64) sys.Errno {
	if c.env.files.get(uint32(p[0])) == nil {
		return sys.EBADF
	}
	return sys.ENOTSOCK
}
