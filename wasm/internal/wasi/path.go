package wasi

import (
	"bytes"
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// maxPath is the length of the longest path, in bytes: PATH_MAX on Linux.
const maxPath = 4096

const (
	fileMode = 0o644
	dirMode  = 0o755
)

// at reads a path argument and gives the path to ask the FS for.
func (c call) at(fd, ptr, size uint32) (string, sys.Errno) {
	d := c.env.files.get(fd)
	switch {
	case d == nil:
		return "", sys.EBADF
	case !d.isDir():
		return "", sys.ENOTDIR
	}
	path, err := c.path(ptr, size)
	if err != 0 {
		return "", err
	}
	if path[0] == '/' {
		return "", sys.EPERM
	}
	if d.preopen {
		return path, 0
	}
	if escapes(path) {
		return "", sys.EPERM
	}
	return join(d.path, path)
}

// path reads a string that is not empty and has no NUL.
func (c call) path(ptr, size uint32) (string, sys.Errno) {
	if size > maxPath {
		return "", sys.ENAMETOOLONG
	}
	b, ok := c.mem.Read(ptr, size)
	switch {
	case !ok:
		return "", sys.EFAULT
	case size == 0:
		return "", sys.ENOENT
	case bytes.IndexByte(b, 0) >= 0:
		return "", sys.EINVAL
	}
	// A copy: the FS may keep it, and the guest can write over its own.
	return string(b), 0
}

// escapes reports whether path has, at some point, more ".." than names before it.
func escapes(path string) bool {
	depth := 0
	for name := range strings.SplitSeq(path, "/") {
		switch name {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// join bounds the result, since each directory that is opened relative to another makes it longer.
func join(dir, path string) (string, sys.Errno) {
	if dir == "" {
		return path, 0
	}
	if len(dir)+1+len(path) > maxPath {
		return "", sys.ENAMETOOLONG
	}
	return dir + "/" + path, 0
}

// dirPath takes "." and empty names out of a directory's path. ".." stays, for the FS to resolve.
func dirPath(path string) string {
	names := make([]string, 0, 8)
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return strings.Join(names, "/")
}

// pathCreateDirectory is path_create_directory(fd, *path, size).
func pathCreateDirectory(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[1]), uint32(p[2]))
	if err != 0 {
		return err
	}
	return c.env.fs.Mkdir(path, dirMode)
}

// pathRemoveDirectory is path_remove_directory(fd, *path, size).
func pathRemoveDirectory(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[1]), uint32(p[2]))
	if err != 0 {
		return err
	}
	return c.env.fs.Rmdir(path)
}

// pathUnlinkFile is path_unlink_file(fd, *path, size).
func pathUnlinkFile(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[1]), uint32(p[2]))
	if err != 0 {
		return err
	}
	return c.env.fs.Unlink(path)
}

// pathFilestatGet is path_filestat_get(fd, lookupflags, *path, size, *filestat).
func pathFilestatGet(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[2]), uint32(p[3]))
	if err != 0 {
		return err
	}
	follow, err := follows(uint32(p[1]))
	if err != 0 {
		return err
	}
	stat := c.env.fs.Lstat
	if follow {
		stat = c.env.fs.Stat
	}
	st, err := stat(path)
	if err != 0 {
		return err
	}
	return c.writeFilestat(uint32(p[4]), st, filetypeOf(st.Mode))
}

func follows(lookupflags uint32) (bool, sys.Errno) {
	if lookupflags&^lookupSymlinkFollow != 0 {
		return false, sys.EINVAL
	}
	return lookupflags&lookupSymlinkFollow != 0, 0
}

// lutimer is the method that an FS can add; see Config.FS.
type lutimer interface {
	Lutimens(path string, atim, mtim int64) sys.Errno
}

// pathFilestatSetTimes is path_filestat_set_times(fd, lookupflags, *path, size, atim, mtim, fstflags).
func pathFilestatSetTimes(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[2]), uint32(p[3]))
	if err != 0 {
		return err
	}
	follow, err := follows(uint32(p[1]))
	if err != 0 {
		return err
	}
	atim, mtim, err := times(p[4], p[5], uint32(p[6]))
	if err != 0 {
		return err
	}
	if follow {
		return c.env.fs.Utimens(path, atim, mtim)
	}
	if l, ok := c.env.fs.(lutimer); ok {
		return l.Lutimens(path, atim, mtim)
	}
	st, err := c.env.fs.Lstat(path)
	switch {
	case err != 0:
		return err
	case filetypeOf(st.Mode) == filetypeSymbolicLink:
		return sys.ENOTSUP
	}
	return c.env.fs.Utimens(path, atim, mtim)
}

// pathLink is path_link(fd, lookupflags, *old, size, fd, *new, size). A link to what a link points to is
// refused: an FS has no such call. What is no link can be asked for either way: CPython always follows when it
// is given descriptors of directories.
func pathLink(c call, p []uint64) sys.Errno {
	from, err := c.at(uint32(p[0]), uint32(p[2]), uint32(p[3]))
	if err != 0 {
		return err
	}
	to, err := c.at(uint32(p[4]), uint32(p[5]), uint32(p[6]))
	if err != 0 {
		return err
	}
	follow, err := follows(uint32(p[1]))
	if err != 0 {
		return err
	}
	if follow {
		switch st, err := c.env.fs.Lstat(from); {
		case err != 0:
			return err
		case st.Mode&fs.ModeSymlink != 0:
			return sys.EINVAL
		}
	}
	return c.env.fs.Link(from, to)
}

// pathRename is path_rename(fd, *old, size, fd, *new, size).
func pathRename(c call, p []uint64) sys.Errno {
	from, err := c.at(uint32(p[0]), uint32(p[1]), uint32(p[2]))
	if err != 0 {
		return err
	}
	to, err := c.at(uint32(p[3]), uint32(p[4]), uint32(p[5]))
	if err != 0 {
		return err
	}
	return c.env.fs.Rename(from, to)
}

// pathSymlink is path_symlink(*target, size, fd, *path, size). The target is any text: whoever follows
// the link resolves it, and that is the FS.
func pathSymlink(c call, p []uint64) sys.Errno {
	target, err := c.path(uint32(p[0]), uint32(p[1]))
	if err != 0 {
		return err
	}
	path, err := c.at(uint32(p[2]), uint32(p[3]), uint32(p[4]))
	if err != 0 {
		return err
	}
	return c.env.fs.Symlink(target, path)
}

// pathReadlink is path_readlink(fd, *path, size, *buf, size, *used). A target that is longer than the
// buffer is cut, without a word, as POSIX has it.
func pathReadlink(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[1]), uint32(p[2]))
	if err != 0 {
		return err
	}
	buf, ok := c.mem.Read(uint32(p[3]), uint32(p[4]))
	if !ok {
		return sys.EFAULT
	}
	if _, ok := c.mem.Read(uint32(p[5]), 4); !ok {
		return sys.EFAULT
	}
	if len(buf) == 0 {
		return sys.EINVAL
	}
	target, err := c.env.fs.Readlink(path)
	if err != 0 {
		return err
	}
	c.mem.WriteUint32Le(uint32(p[5]), uint32(copy(buf, target)))
	return 0
}
