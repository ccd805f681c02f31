package stage1

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// The kernel mounts a devpts only for somebody who has a user 0 (mknod_ptmx in fs/devpts), and a cell maps
// one id, which is not 0. So a child makes the mount in a user namespace of its own, in which our id is 0, and
// leaves it in the table of descriptors that we share with it.
//
// The child is a bare fork of a Go process, in which nothing of the runtime works: it makes system calls with
// memory that was laid out before, and exits. An exit code below errBase is the descriptor of the mount.
const errBase = 128

type devptsCall struct {
	uidMap, gidMap, deny                  [2]*byte // path, content
	uidLen, gidLen, denyLen               uintptr
	fsName, modeKey, mode, ptmxKey, ptmxM *byte
}

func newDevpts() (int, error) {
	str := func(s string) *byte { return unsafe.StringData(s + "\x00") }
	uid, gid := fmt.Sprintf("0 %d 1", spec.UID), fmt.Sprintf("0 %d 1", spec.GID)
	c := &devptsCall{
		uidMap: [2]*byte{str("/proc/self/uid_map"), str(uid)}, uidLen: uintptr(len(uid)),
		gidMap: [2]*byte{str("/proc/self/gid_map"), str(gid)}, gidLen: uintptr(len(gid)),
		deny: [2]*byte{str("/proc/self/setgroups"), str("deny")}, denyLen: 4,
		fsName: str("devpts"), modeKey: str("mode"), mode: str("0620"), ptmxKey: str("ptmxmode"), ptmxM: str("0666"),
	}
	// A signal handler of the runtime must not run in the child.
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return -1, os.NewSyscallError("rt_sigprocmask", err)
	}
	pid, errno := forkDevpts(c)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil); err != nil {
		return -1, os.NewSyscallError("rt_sigprocmask", err)
	}
	runtime.KeepAlive(c)
	if errno != 0 {
		return -1, os.NewSyscallError("clone for devpts", errno)
	}
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(int(pid), &ws, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, os.NewSyscallError("wait4", err)
		}
		break
	}
	switch code := ws.ExitStatus(); {
	case code < 0:
		return -1, fmt.Errorf("the child that mounts devpts ended by %v", ws.Signal())
	case code >= errBase:
		return -1, os.NewSyscallError("mount of devpts", unix.Errno(code-errBase))
	default:
		return code, nil
	}
}

// forkDevpts returns in the parent only. Between clone and exit the child must not grow its stack, allocate,
// or call what does: see forkAndExecInChild1 of package syscall, which is under the same rules.
//
//go:norace
//go:nosplit
func forkDevpts(c *devptsCall) (pid uintptr, errno unix.Errno) {
	const flags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_FILES | uintptr(unix.SIGCHLD)
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	var fs, mnt uintptr
	// setgroups must be denied before an unprivileged process may write gid_map: user_namespaces(7).
	if errno = childWrite(c.deny[0], c.deny[1], c.denyLen); errno != 0 {
		goto fail
	}
	if errno = childWrite(c.uidMap[0], c.uidMap[1], c.uidLen); errno != 0 {
		goto fail
	}
	if errno = childWrite(c.gidMap[0], c.gidMap[1], c.gidLen); errno != 0 {
		goto fail
	}
	if fs, _, errno = unix.RawSyscall(unix.SYS_FSOPEN, uintptr(unsafe.Pointer(c.fsName)), unix.FSOPEN_CLOEXEC, 0); errno != 0 {
		goto fail
	}
	if _, _, errno = unix.RawSyscall6(unix.SYS_FSCONFIG, fs, unix.FSCONFIG_SET_STRING, uintptr(unsafe.Pointer(c.modeKey)), uintptr(unsafe.Pointer(c.mode)), 0, 0); errno != 0 {
		goto fail
	}
	if _, _, errno = unix.RawSyscall6(unix.SYS_FSCONFIG, fs, unix.FSCONFIG_SET_STRING, uintptr(unsafe.Pointer(c.ptmxKey)), uintptr(unsafe.Pointer(c.ptmxM)), 0, 0); errno != 0 {
		goto fail
	}
	if _, _, errno = unix.RawSyscall6(unix.SYS_FSCONFIG, fs, unix.FSCONFIG_CMD_CREATE, 0, 0, 0, 0); errno != 0 {
		goto fail
	}
	if mnt, _, errno = unix.RawSyscall(unix.SYS_FSMOUNT, fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); errno != 0 {
		goto fail
	}
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fs, 0, 0)
	for {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, mnt, 0, 0)
	}
fail:
	for {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno)+errBase, 0, 0)
	}
}

// childWrite writes a file of /proc in the child.
//
//go:norace
//go:nosplit
func childWrite(path, data *byte, n uintptr) unix.Errno {
	at := unix.AT_FDCWD
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(path)), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	_, _, errno = unix.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(data)), n)
	_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	return errno
}
