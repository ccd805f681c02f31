package guestfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

// The numbers that sys leaves out, under names that do not clash with the variable that everything here has.
const (
	eBUSY  = errno.EBUSY
	eFBIG  = errno.EFBIG
	eNOSPC = errno.ENOSPC
	eNXIO  = errno.ENXIO
	eSPIPE = errno.ESPIPE
	eXDEV  = errno.EXDEV
)

// hostErrno translates the error of a host call. nil and io.EOF are 0.
func hostErrno(err error) sys.Errno {
	if err == nil || err == io.EOF { //nolint:errorlint // os returns io.EOF bare, and this is on every read
		return 0
	}
	no, ok := errors.AsType[syscall.Errno](err)
	switch {
	case !ok && errors.Is(err, fs.ErrClosed):
		return sys.EBADF
	case !ok:
		return sys.EIO
	}
	switch no {
	case syscall.EBUSY:
		return errno.EBUSY
	case syscall.EFBIG:
		return errno.EFBIG
	case syscall.EMFILE:
		return errno.EMFILE
	case syscall.EMLINK:
		return errno.EMLINK
	case syscall.ENFILE:
		return errno.ENFILE
	case syscall.ENOMEM:
		return errno.ENOMEM
	case syscall.ENOSPC, syscall.EDQUOT:
		return errno.ENOSPC
	case syscall.ENXIO:
		return errno.ENXIO
	case syscall.EOVERFLOW:
		return errno.EOVERFLOW
	case syscall.ESPIPE:
		return errno.ESPIPE
	case syscall.ETXTBSY:
		return errno.ETXTBSY
	case syscall.EXDEV:
		return errno.EXDEV
	case syscall.EILSEQ: // macOS, for a name that is not UTF-8
		return sys.EINVAL
	case syscall.ENODEV, syscall.ESTALE:
		return sys.ENOENT
	}
	return sys.UnwrapOSError(no)
}

// rootErrno is hostErrno for a call on an os.Root. os.Root has no exported error for a path that leaves the
// root; it is the one error of a path operation that carries no error number. Too many links is the other
// that the walk can do better: os.Root follows 8, we follow 40. (A link of hundreds of components with many ".."
// among them is ENAMETOOLONG from os.Root, and stays so.)
func rootErrno(err error) sys.Errno {
	if err == nil {
		return 0
	}
	no, ok := errors.AsType[syscall.Errno](err)
	if (!ok && !errors.Is(err, fs.ErrClosed)) || no == syscall.ELOOP {
		return errWalk
	}
	return hostErrno(err)
}
