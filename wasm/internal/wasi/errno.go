package wasi

import (
	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

// numbers holds the preview 1 number of each Errno that wazero defines.
var numbers = [...]uint16{
	0:                0,
	sys.EACCES:       2,
	sys.EAGAIN:       6,
	sys.EBADF:        8,
	sys.EEXIST:       20,
	sys.EFAULT:       21,
	sys.EINTR:        27,
	sys.EINVAL:       28,
	sys.EIO:          numberEIO,
	sys.EISDIR:       31,
	sys.ELOOP:        32,
	sys.ENAMETOOLONG: 37,
	sys.ENOENT:       44,
	sys.ENOSYS:       52,
	sys.ENOTDIR:      54,
	sys.ERANGE:       68,
	sys.ENOTEMPTY:    55,
	sys.ENOTSOCK:     57,
	sys.ENOTSUP:      58,
	sys.EPERM:        63,
	sys.EROFS:        69,
}

const numberEIO = 29

// number gives what the guest gets for e. A value that neither wazero nor package errno defines is EIO.
func number(e sys.Errno) uint16 {
	if int(e) < len(numbers) {
		return numbers[e]
	}
	if n, ok := errno.Raw(e); ok {
		return n
	}
	return numberEIO
}
