package stage1

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// selfTest tries what must not work. It says what it found, and an error when something worked after all:
// then the cell serves nothing.
func selfTest(s *spec.Serve) (map[string]string, error) {
	facts := map[string]string{}
	for _, test := range []struct {
		name string
		try  func(*spec.Serve) (string, error)
	}{
		{"status", testStatus},
		{"landlock", testLandlock},
		{"seccomp", testFilter},
		{"read-only", testReadOnly},
		{"network", testNetwork},
		{"pid", testPID},
	} {
		fact, err := test.try(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", test.name, err)
		}
		facts[test.name] = fact
	}
	return facts, nil
}

// testStatus reads what the kernel says of this process: proc_pid_status(5).
func testStatus(s *spec.Serve) (string, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	want := map[string]string{"NoNewPrivs": "1", "Seccomp": "2"}
	if !s.Filter {
		delete(want, "Seccomp")
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		want[set] = "0000000000000000"
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if w, ok := want[name]; ok {
			if value != w {
				return "", fmt.Errorf("%s is %s", name, value)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 {
		return "", fmt.Errorf("the kernel does not tell %v", want)
	}
	return "no capabilities, no_new_privs", nil
}

// testLandlock opens for writing what nothing but Landlock keeps from being written: a file of /proc that is
// this process's own.
func testLandlock(s *spec.Serve) (string, error) {
	if s.Landlock == 0 {
		return "not there", nil
	}
	fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return fmt.Sprintf("ABI %d", s.Landlock), refused("write to /proc/self/comm", err, unix.EACCES)
}

// refused checks that a call failed as it must.
func refused(what string, err error, want ...unix.Errno) error {
	for _, w := range want {
		if errors.Is(err, w) {
			return nil
		}
	}
	if err == nil {
		return fmt.Errorf("%s works", what)
	}
	return fmt.Errorf("%s: %w instead of %v", what, err, want)
}

// testFilter makes calls that are refused before the kernel looks at their arguments, which are wrong.
func testFilter(s *spec.Serve) (string, error) {
	if !s.Filter {
		return "not there", nil
	}
	for _, call := range []struct {
		name string
		nr   uintptr
		args [3]uintptr
		want unix.Errno
	}{
		{"unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER}, unix.EPERM},
		{"mount", unix.SYS_MOUNT, [3]uintptr{}, unix.EPERM},
		{"ptrace", unix.SYS_PTRACE, [3]uintptr{^uintptr(0)}, unix.EPERM},
		{"keyctl", unix.SYS_KEYCTL, [3]uintptr{^uintptr(0)}, unix.EPERM},
		{"clone3", unix.SYS_CLONE3, [3]uintptr{}, unix.ENOSYS},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, [3]uintptr{}, unix.ENOSYS},
	} {
		_, _, errno := unix.RawSyscall(call.nr, call.args[0], call.args[1], call.args[2])
		if err := refused(call.name, errno, call.want); err != nil {
			return "", err
		}
	}
	return "in force", nil
}

func testReadOnly(s *spec.Serve) (string, error) {
	for _, dir := range s.ReadOnly {
		name := filepath.Join(dir, ".sandbar-self-test")
		fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
			_ = unix.Unlink(name)
		}
		if err := refused("making "+name, err, unix.EROFS, unix.EACCES, unix.EPERM); err != nil {
			return "", err
		}
	}
	return "in force", nil
}

// testNetwork asks for a route to an address of TEST-NET-3 (RFC 5737). To connect a datagram socket sends
// nothing.
func testNetwork(s *spec.Serve) (string, error) {
	if !s.Alone {
		return "the host's", nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{203, 0, 113, 1}})
	if err := refused("a route out", err, unix.ENETUNREACH); err != nil {
		return "", err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", fmt.Errorf("the loopback is down: %w", err)
	}
	return "loopback alone", nil
}

func testPID(*spec.Serve) (string, error) {
	if pid := os.Getpid(); pid != 1 {
		return "", fmt.Errorf("the init is process %d", pid)
	}
	return "1", nil
}
