package stage1

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// directory is one that is emptied between runs.
type directory struct {
	fd int
	f  *os.File // the same, for reading its names
}

func openDirectory(path string) (directory, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return directory{}, err
	}
	return directory{int(f.Fd()), f}, nil
}

func (d directory) remove(name string) { _ = unix.Unlinkat(d.fd, name, 0) }

// clean takes away what a run left. An error means that the cell must not be used again.
func (c *cell) clean(r *running) error {
	c.scripts.remove(r.script)
	for _, d := range c.empty {
		if err := d.clear(0); err != nil {
			return fmt.Errorf("empty %s: %w", d.f.Name(), err)
		}
	}
	if err := c.posture.unchanged(c.threads); err != nil {
		return err
	}
	n, err := ipcLeft()
	if err == nil && n > 0 {
		err = fmt.Errorf("%d System V objects are left", n)
	}
	return err
}

// maxDepth bounds the descriptors and the stack that clearing takes.
const maxDepth = 64

// clear removes what is in the directory, but not what is mounted in it.
func (d directory) clear(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("directories are nested deeper than %d", maxDepth)
	}
	if _, err := d.f.Seek(0, 0); err != nil {
		return err
	}
	names, err := d.f.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.removeAll(name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (d directory) removeAll(name string, depth int) error {
	err := unix.Unlinkat(d.fd, name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) {
		return os.NewSyscallError("unlink", err)
	}
	switch err = unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR); {
	case err == nil || errors.Is(err, unix.EBUSY): // the work directory is mounted in /tmp
		return nil
	case !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EACCES):
		return os.NewSyscallError("rmdir", err)
	}
	// The script may have taken its own rights.
	if err := unix.Fchmodat(d.fd, name, 0o700, 0); err != nil {
		return os.NewSyscallError("chmod", err)
	}
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	sub := directory{fd, os.NewFile(uintptr(fd), name)}
	err = sub.clear(depth + 1)
	sub.f.Close()
	if err != nil {
		return err
	}
	return os.NewSyscallError("rmdir", unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}
