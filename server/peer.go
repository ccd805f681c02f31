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
		uid, known, err := peerUID(conn)
		if err == nil && (!known || isOwner(uid, os.Geteuid())) {
			return conn, nil
		}
		conn.Close()
	}
}

// isOwner reports whether the user uid may use a server that runs as own.
func isOwner(uid uint32, own int) bool { return uid == 0 || int64(uid) == int64(own) }
