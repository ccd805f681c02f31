package engine

import (
	"io/fs"
	"syscall"
)

// changeTime is when the file's content or its inode changed last, in nanoseconds since 1970: nobody can set it.
func changeTime(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ctim.Nano()
}

// The magic numbers of statfs(2) of file systems that show each change in stat(2), also one through a mapping.
// tmpfs, say, does not.
const (
	magicExt   = 0xef53
	magicXFS   = 0x58465342
	magicBtrfs = 0x9123683e
)

// tellsChanges reports whether a file of this file system whose stat has not changed is the same file.
func tellsChanges(fd uintptr) bool {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(fd), &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case magicExt, magicXFS, magicBtrfs:
		return true
	}
	return false
}
