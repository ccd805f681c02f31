package server

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerUID is the user of the process that has connected, at that time: unix(7), SO_PEERCRED.
func peerUID(conn net.Conn) (uid uint32, known bool, err error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, false, errors.New("peer of connection: not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *unix.Ucred
	var problem error
	if err := raw.Control(func(fd uintptr) {
		cred, problem = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, false, err
	}
	if problem != nil {
		return 0, false, os.NewSyscallError("getsockopt SO_PEERCRED", problem)
	}
	return cred.Uid, true, nil
}
