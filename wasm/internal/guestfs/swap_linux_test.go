package guestfs

import (
	"golang.org/x/sys/unix"
)

// swap exchanges two names at once, so that there is no moment without either.
func swap(dir, a, b string) {
	_ = unix.Renameat2(unix.AT_FDCWD, dir+"/"+a, unix.AT_FDCWD, dir+"/"+b, unix.RENAME_EXCHANGE)
}
