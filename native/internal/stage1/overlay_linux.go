package stage1

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// overlay is the work directory of a keeper that lays it over a directory of the host.
type overlay struct {
	lower int
	given []int // what the first answer has besides the work directory: a mount of the upper layer
}

// open opens the host's directory, in this mount namespace: the kernel takes no other's mount.
func (o *overlay) open(k *keepParams) (err error) {
	if k.Lower == "" {
		return nil
	}
	o.lower, err = unix.Open(k.Lower, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	return sameFile(o.lower, k.LowerDev, k.LowerIno)
}

// mount mounts an overlayfs whose changes go to the file system fd, in the new root. It refuses a directory in which
// something is mounted: the kernel does, since all mounts here are locked to each other (mount_namespaces(7)). With userxattr,
// what overlayfs notes in attributes needs no right on the host; it refuses or renames attributes of that kind that come
// through it. What it is told to leave off, a lower layer or a forged upper one could use to lead elsewhere.
func (o *overlay) mount(fd, root int) (int, error) {
	for _, name := range []string{"upper", "work"} {
		if err := unix.Mkdirat(fd, name, 0o700); err != nil {
			return -1, os.NewSyscallError("mkdir", err)
		}
	}
	upper, err := unix.Openat(fd, "upper", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("open", err)
	}
	defer unix.Close(upper)
	// Where the tmpfs keeps no attributes (before Linux 6.6), overlayfs goes on without, and cannot do all then.
	const probe = "user.sandbar"
	if err := unix.Fsetxattr(upper, probe, []byte("y"), 0); err != nil {
		return -1, os.NewSyscallError("setxattr on a tmpfs", err)
	}
	if err := unix.Fremovexattr(upper, probe); err != nil {
		return -1, os.NewSyscallError("removexattr", err)
	}
	merged, err := newMount("overlay", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
		"userxattr", "", "redirect_dir", "nofollow", "metacopy", "off", "index", "off", "xino", "off",
		"lowerdir", fmt.Sprintf("/proc/self/fd/%d", o.lower),
		"upperdir", fmt.Sprintf("/proc/self/fd/%d/upper", fd), "workdir", fmt.Sprintf("/proc/self/fd/%d/work", fd))
	if err != nil {
		return -1, err
	}
	if err := unix.Mkdirat(root, "merged", 0o700); err != nil {
		return -1, os.NewSyscallError("mkdir", err)
	}
	if err := unix.MoveMount(merged, "", root, "merged", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return -1, os.NewSyscallError("move_mount", err)
	}
	given, err := clone(upper)
	if err != nil {
		return -1, err
	}
	o.given = []int{given}
	_ = unix.Close(o.lower)
	_ = unix.Close(fd)
	return merged, nil
}

// giveUpper is called when the first answer is sent.
func (o *overlay) giveUpper() {
	for _, fd := range o.given {
		_ = unix.Close(fd)
	}
	o.given = nil
}
