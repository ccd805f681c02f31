package filter

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// install puts the filter of this machine on all threads of the process. There is no way back.
func install() error {
	p, err := Build(runtime.GOARCH)
	if err != nil {
		return err
	}
	// Each thread that TSYNC puts the filter on gets no_new_privs from this one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	code := p.Bytes()
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: (*unix.SockFilter)(unsafe.Pointer(&code[0]))}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
