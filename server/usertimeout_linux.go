package server

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// userTimeout has the kernel give up a connection whose other side does not acknowledge what was sent: tcp(7),
// TCP_USER_TIMEOUT. Keep-alives find only those that are silent. Accepted connections have it of the listener.
func userTimeout(_, _ string, c syscall.RawConn) error {
	var err error
	ctlErr := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(writeStallTime.Milliseconds()))
	})
	return errors.Join(ctlErr, err)
}
