package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// identity is who a script is on the host.
type identity struct {
	uid, gid int
	// owner is set when we are root: a user namespace in which our files belong to uid. Mounts are mapped by it,
	// so that a script owns what root owns below them, and what it makes belongs to root.
	owner   *os.File
	warning string
}

// findIdentity decides who scripts are. As root they are an id without rights, where mounts can be mapped;
// otherwise they are who we are, without capabilities.
func findIdentity(self func() (*os.File, error)) (*identity, error) {
	id := &identity{uid: os.Geteuid(), gid: os.Getegid()}
	if id.uid != 0 {
		return id, nil
	}
	owner, err := mappedOwner(self)
	if err == nil {
		if err = tryMapped(owner); err != nil {
			owner.Close()
		}
	}
	if err != nil && passing(err) {
		return nil, err
	}
	if err != nil {
		id.warning = fmt.Sprintf("native: this program is root and mounts cannot be mapped to another user (%v); scripts have root's id on the host, without its capabilities", err)
		return id, nil
	}
	id.uid, id.gid, id.owner = OutsideID, OutsideID, owner
	return id, nil
}

// passing tells a host that could not map mounts at this moment from one that never can.
func passing(err error) bool {
	for _, errno := range []unix.Errno{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.EINTR} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// mappedOwner makes a user namespace in which root's files are OutsideID's, by a process that does nothing in
// it and ends.
func mappedOwner(self func() (*os.File, error)) (*os.File, error) {
	exe, err := self()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: fmt.Sprintf("/proc/self/fd/%d", spec.FDSelf), Args: []string{"sandbar", spec.Arg, spec.Holding},
		Env: []string{}, Stdin: r, ExtraFiles: []*os.File{nil, exe},
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: OutsideID, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: OutsideID, Size: 1}},
		},
	}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("user namespace: %w", err)
	}
	owner, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	w.Close()
	if waitErr := cmd.Wait(); err == nil && waitErr != nil {
		owner.Close()
		return nil, fmt.Errorf("user namespace: %w", waitErr)
	}
	return owner, err
}

// tryMapped maps the directory that work directories are made in.
func tryMapped(owner *os.File) error {
	f, err := mapped(os.TempDir(), owner)
	if err != nil {
		return err
	}
	return f.Close()
}

// mapped makes a detached mount of path, with what is mounted below it, whose owner is mapped. The caller
// closes it.
func mapped(path string, owner *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, &os.PathError{Op: "open_tree", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP | unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE, Userns_fd: uint64(owner.Fd())}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		return nil, errors.Join(&os.PathError{Op: "mount_setattr MOUNT_ATTR_IDMAP", Path: path, Err: err}, f.Close())
	}
	return f, nil
}
