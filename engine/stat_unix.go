//go:build unix

package engine

import (
	"io/fs"
	"syscall"
)

// calmFlags are for opening what may not be the file that it was a moment ago: a FIFO does not block
// the opener, and a terminal does not become ours.
const calmFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// An inode names a file whatever its path is.
type inode struct{ dev, ino uint64 }

// links returns the number of hard links, and which file it is. Directories have links of their own
// kind and count as one.
func links(info fs.FileInfo) (uint64, inode) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() {
		return 1, inode{}
	}
	return uint64(st.Nlink), inode{uint64(st.Dev), st.Ino}
}

// errQuota is what the host's file system says when a user's quota is spent.
const errQuota = syscall.EDQUOT
