package native

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/filter"
)

// setFilter puts a seccomp program on this thread: seccomp(2). The thread has no_new_privs.
func setFilter(p filter.Program) error {
	code := make([]unix.SockFilter, len(p))
	for i, ins := range p {
		code[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}
