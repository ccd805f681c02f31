//go:build unix

package engine

import (
	"io/fs"
	"os"
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

// inodeOf tells which file or directory it is.
func inodeOf(info fs.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}
	}
	return inode{uint64(st.Dev), st.Ino}
}

// keepOwner gives a file the owner and the group of old, if it has others.
func keepOwner(dir *os.Root, name string, old fs.FileInfo) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	return dir.Lchown(name, int(was.Uid), int(was.Gid))
}

// errQuota is what the host's file system says when a user's quota is spent.
const errQuota = syscall.EDQUOT
