package stage1

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// setUp is stage 1. The order matters: what a step needs must not have been given up by one before it.
func setUp() {
	h := &host{fd: spec.FDSocket}
	if err := ownDescriptors(); err != nil {
		h.fail("close descriptors", err)
	}
	h.send(spec.KindHello, nil)
	kind, payload, err := h.receive()
	if err != nil {
		h.fail("receive", err)
	}
	var s spec.Setup
	if kind == spec.KindSetup {
		err = json.Unmarshal(payload, &s)
	} else {
		err = fmt.Errorf("%w: %s", spec.ErrProtocol, kind)
	}
	if err != nil {
		h.fail("receive", err)
	}
	unix.Umask(0)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		// After the host has put us into our cgroup: the namespace's root is the group at this moment.
		{"cgroup namespace", func() error { return os.NewSyscallError("unshare", unix.Unshare(unix.CLONE_NEWCGROUP)) }},
		{"hostname", func() error { return os.NewSyscallError("sethostname", unix.Sethostname([]byte(s.Hostname))) }},
		{"loopback", func() error { return loopback(s.Loopback) }},
		{"file system", func() error { return mountAll(&s) }},
		// While /proc is still writable to us.
		{"oom score", keepScore},
		{"confinement", func() error { return confine(&s) }},
		{"second stage", executeSelf},
	} {
		if err := step.do(); err != nil {
			h.fail(step.name, err)
		}
	}
}

// ownDescriptors marks every descriptor above the socket to be closed by execve. Who started the embedding
// program may have left it some.
func ownDescriptors() error {
	err := unix.CloseRange(spec.FDSocket+1, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	return os.NewSyscallError("close_range", err)
}

// loopback brings "lo" up, which is down in a new network namespace: netdevice(7).
func loopback(wanted bool) error {
	if !wanted {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return os.NewSyscallError("ioctl SIOCGIFFLAGS", err)
	}
	if req.Uint16()&unix.IFF_UP != 0 {
		return nil
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	return os.NewSyscallError("ioctl SIOCSIFFLAGS", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req))
}

// keepScore leaves stage 2 a descriptor of its own oom_score_adj, which Landlock would not let it open.
func keepScore() error {
	fd, err := unix.Open("/proc/self/oom_score_adj", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: "/proc/self/oom_score_adj", Err: err}
	}
	return moveDescriptor(fd, spec.FDScore)
}

// moveDescriptor gives fd the number that stage 2 knows it by, and keeps it over execve.
func moveDescriptor(fd, number int) error {
	if fd == number {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		return os.NewSyscallError("fcntl", err)
	}
	if err := unix.Dup3(fd, number, 0); err != nil {
		return os.NewSyscallError("dup3", err)
	}
	return os.NewSyscallError("close", unix.Close(fd))
}
