// Package errno has the WASI preview 1 error numbers that wazero's experimental/sys leaves out, as
// values of its Errno type. Raw gives the number on the wire.
package errno

import "github.com/tetratelabs/wazero/experimental/sys"

// base is above every Errno that wazero defines. wazero's own WASI gives EIO for such a value.
const base sys.Errno = 0x100

// The numbers are those of the WASI preview 1 witx, type errno.
const (
	EBUSY       = base | 10
	EFBIG       = base | 22
	EMFILE      = base | 33
	EMLINK      = base | 34
	ENFILE      = base | 41
	ENOMEM      = base | 48
	ENOSPC      = base | 51
	ENOTCONN    = base | 53
	ENXIO       = base | 60
	EOVERFLOW   = base | 61
	EPIPE       = base | 64
	ESPIPE      = base | 70
	ETXTBSY     = base | 74
	EXDEV       = base | 75
	ENOTCAPABLE = base | 76
)

// Raw gives the preview 1 number that e carries, if it is one of this package's.
func Raw(e sys.Errno) (number uint16, ok bool) {
	if e&base == 0 {
		return 0, false
	}
	return uint16(e &^ base), true
}
