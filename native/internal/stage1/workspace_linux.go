package stage1

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// keep is the keeper of a work directory: see the second diagram of package spec. It was started in a user and
// a mount namespace of its own, with CAP_SYS_ADMIN there and no other capability in any of its threads, and it
// never looks at what is in the directory.
func keep() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(20)
	h := &host{fd: spec.FDSocket}
	k, err := receiveKeep(h)
	if err != nil {
		h.fail("receive", err)
	}
	fd := -1
	var o overlay
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"close descriptors", closeInherited}, // while there is a /proc
		{"file system", func() (err error) {
			fd, err = newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, k.params()...)
			return err
		}},
		{"overlay directory", func() error { return o.open(k) }},
		{"mount namespace", func() error {
			return hide(fd, func(root int) (err error) {
				if k.Lower != "" {
					fd, err = o.mount(fd, root)
				}
				return err
			})
		}},
		{"confinement", keeperRights},
	} {
		if err := step.do(); err != nil {
			h.fail(step.name, err)
		}
	}
	answer := spec.KindReady
	for {
		mount, err := clone(fd)
		if err != nil {
			h.fail("copy of the mount", err)
		}
		h.send(answer, nil, append([]int{mount}, o.given...)...)
		_ = unix.Close(mount)
		o.giveUpper()
		kind, _, err := h.receive() // ends this process when the host is gone
		if err == nil && kind != spec.KindStart {
			err = fmt.Errorf("%w: %s", spec.ErrProtocol, kind)
		}
		if err != nil {
			h.fail("receive", err)
		}
		answer = spec.KindStarted
	}
}

// keepParams is what a keeper is told.
type keepParams spec.Keep

func receiveKeep(h *host) (*keepParams, error) {
	kind, payload, err := h.receive()
	if err != nil {
		return nil, err
	}
	if kind != spec.KindSetup {
		return nil, fmt.Errorf("%w: %s", spec.ErrProtocol, kind)
	}
	k := new(keepParams)
	return k, json.Unmarshal(payload, k)
}

// params are the options of the file system: tmpfs(5). Both limits are always given, because a tmpfs that is told
// none has half of the machine's memory; zero is no limit.
func (k *keepParams) params() []string {
	return []string{
		"mode", "0700", "uid", strconv.Itoa(k.UID), "gid", strconv.Itoa(k.GID),
		"size", strconv.FormatInt(k.Size, 10), "nr_inodes", strconv.FormatInt(k.Inodes, 10),
	}
}

// closeInherited closes what this process did not open: what is not to be closed by execve was there before it.
// The socket and the standard streams stay.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= spec.FDSocket {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// hide mounts the file system in an otherwise empty root and drops all other mounts: what the host unmounts is
// then not held here. Also is called with that root while there are still the others.
func hide(fd int, also func(root int) error) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount MS_PRIVATE", err)
	}
	m := &mounter{}
	if err := m.openRoot(true); err != nil {
		return err
	}
	if err := unix.Mkdirat(m.root, "work", 0o700); err != nil {
		return os.NewSyscallError("mkdir", err)
	}
	if err := unix.MoveMount(fd, "", m.root, "work", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return os.NewSyscallError("move_mount", err)
	}
	if err := also(m.root); err != nil {
		return err
	}
	return pivot(m.root)
}

// keeperRights gives up what a keeper does not need. It executes nothing any more.
func keeperRights() error {
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	// Others with its id are not to look into it: ptrace(2), access mode checking.
	return os.NewSyscallError("prctl", errors.Join(err, unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)))
}
