package server

import (
	"net"
	"os"
)

// OwnerOnly lets connections to a unix socket through only when the process at the other end belongs to the user who runs this one,
// or to root. Others are closed. It is a second lock: the socket's mode should be 0600, and is all there is on systems but Linux.
//
// It sees user ids as this process does: in a user namespace, all users who are not mapped have one id, which must not be the
// server's own.
func OwnerOnly(l net.Listener) net.Listener { return &ownerListener{l} }

type ownerListener struct{ net.Listener }

// Accept implements net.Listener.
func (l *ownerListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(conn)
		if err == nil && (uid == peerUnknown || uid == 0 || uid == os.Geteuid()) {
			return conn, nil
		}
		conn.Close()
	}
}

// peerUnknown stands for a user who cannot be asked for on this system.
const peerUnknown = -1
