package stage1

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// installFilter installs a seccomp program for this thread: seccomp(2).
func installFilter(program []byte) error {
	if len(program) == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(unix.SockFilter{}))
	if len(program)%size != 0 {
		return fmt.Errorf("%w: filter of %d bytes", spec.ErrProtocol, len(program))
	}
	// A copy of the right type is aligned as the kernel wants it.
	filter := make([]unix.SockFilter, len(program)/size)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&filter[0])), len(program)), program)
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// execveat replaces the process by the program behind a descriptor: execveat(2).
func execveat(fd int, args []string) error {
	argv := make([]*byte, len(args)+1)
	for i, a := range args {
		p, err := unix.BytePtrFromString(a)
		if err != nil {
			return err
		}
		argv[i] = p
	}
	empty, env := []byte{0}, make([]*byte, 1)
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	return os.NewSyscallError("execveat", errno)
}

// kernelSigaction is the kernel's own struct sigaction; its layout is the same on the machines we run on as
// far as it is zero.
type kernelSigaction struct{ handler, flags, restorer, mask uintptr }

// lastSignal is _NSIG.
const lastSignal = 64

// defaultSignals takes all handlers away. A PID 1 without a handler for a signal does not get it from
// within its own namespace (pid_namespaces(7)), so that no script can stop, end or crash its init; and what
// the embedding program had ignored is not ignored in a script.
func defaultSignals() error {
	var dfl kernelSigaction
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		if sig == uintptr(unix.SIGKILL) || sig == uintptr(unix.SIGSTOP) {
			continue
		}
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&dfl)), 0, 8, 0, 0); errno != 0 {
			return os.NewSyscallError("rt_sigaction", errno)
		}
	}
	var none unix.Sigset_t
	return os.NewSyscallError("rt_sigprocmask", unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil))
}

// ioPriority is a thread's, ioprio_get(2); the first argument says that the second is a thread.
func ioPriority(thread int) (int, error) {
	r, _, errno := unix.RawSyscall(unix.SYS_IOPRIO_GET, 1, uintptr(thread), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}

// The commands of shmctl(2), semctl(2) and msgctl(2) that tell how much there is.
const (
	shmInfo = 14
	semInfo = 19
	msgInfo = 12
)

// ipcLeft counts the System V objects of the cell's IPC namespace.
func ipcLeft() (int, error) {
	// Where each structure has its count: shm_info.used_ids, seminfo.semusz, msginfo.msgpool.
	var shm [16]uint64
	var sem, msg [16]int32
	if _, _, errno := unix.RawSyscall(unix.SYS_SHMCTL, 0, shmInfo, uintptr(unsafe.Pointer(&shm))); errno != 0 {
		return 0, os.NewSyscallError("shmctl SHM_INFO", errno)
	}
	if _, _, errno := unix.RawSyscall6(unix.SYS_SEMCTL, 0, 0, semInfo, uintptr(unsafe.Pointer(&sem)), 0, 0); errno != 0 {
		return 0, os.NewSyscallError("semctl SEM_INFO", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_MSGCTL, 0, msgInfo, uintptr(unsafe.Pointer(&msg))); errno != 0 {
		return 0, os.NewSyscallError("msgctl MSG_INFO", errno)
	}
	return int(uint32(shm[0])) + int(sem[7]) + int(msg[0]), nil
}

// ioctlInt is an ioctl(2) whose argument is a number, or that returns a descriptor.
func ioctlInt(fd int, request, arg uintptr) (int, error) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, arg)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// ioctlIntPointer is an ioctl(2) whose argument points to a number.
func ioctlIntPointer(fd int, request uintptr, value int32) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&value)))
	if errno != 0 {
		return errno
	}
	return nil
}
