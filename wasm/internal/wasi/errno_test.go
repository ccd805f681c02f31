package wasi

import (
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		err  sys.Errno
		want uint16
	}{
		{0, 0},
		{sys.EACCES, 2},
		{sys.EAGAIN, 6},
		{sys.EBADF, 8},
		{sys.EEXIST, 20},
		{sys.EFAULT, 21},
		{sys.EINTR, 27},
		{sys.EINVAL, 28},
		{sys.EIO, 29},
		{sys.EISDIR, 31},
		{sys.ELOOP, 32},
		{sys.ENAMETOOLONG, 37},
		{sys.ENOENT, 44},
		{sys.ENOSYS, 52},
		{sys.ENOTDIR, 54},
		{sys.ERANGE, 68},
		{sys.ENOTEMPTY, 55},
		{sys.ENOTSOCK, 57},
		{sys.ENOTSUP, 58},
		{sys.EPERM, 63},
		{sys.EROFS, 69},
		{errno.ENOSPC, 51},
		{errno.EXDEV, 75},
		{errno.EMFILE, 33},
		{sys.EROFS + 1, 29}, // not defined today
		{0xff, 29},
	} {
		if got := number(test.err); got != test.want {
			t.Errorf("number(%d) = %d, want %d", test.err, got, test.want)
		}
	}
}

// Each Errno that wazero has a name for has a number of its own.
func TestNumber_Complete(t *testing.T) {
	seen := map[uint16]sys.Errno{}
	for e := sys.Errno(1); e.Error() != fmt.Sprintf("Errno(%d)", int(e)); e++ {
		n := number(e)
		if other, twice := seen[n]; twice {
			t.Errorf("%v and %v are both %d", e, other, n)
		}
		seen[n] = e
	}
	if len(seen) < 20 {
		t.Errorf("only %d numbers", len(seen))
	}
}
