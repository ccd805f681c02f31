package native

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// conn is our end of the socket to a cell. One goroutine receives at a time; sends may come from any.
type conn struct {
	c   *net.UnixConn
	buf []byte // received and not yet given out: buf[r:w]
	r,
	w int
	fds []int // received and not yet given out
	pid int   // of who sent last, in our own namespace
	oob [512]byte

	mu   sync.Mutex
	head []byte
}

// newConn makes a pair of sockets and returns our end and the cell's. The caller closes both.
func newConn() (*conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "cell socket")
	// The kernel says who sends: unix(7), SO_PASSCRED.
	err = os.NewSyscallError("setsockopt SO_PASSCRED", unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1))
	f := os.NewFile(uintptr(fds[0]), "host socket")
	defer f.Close()
	var c net.Conn
	if err == nil {
		c, err = net.FileConn(f)
	}
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return &conn{c: c.(*net.UnixConn), buf: make([]byte, 4096)}, theirs, nil
}

func (c *conn) close() error {
	for _, fd := range c.fds {
		_ = unix.Close(fd)
	}
	c.fds = nil
	return c.c.Close()
}

// send sends one message.
func (c *conn) send(k spec.Kind, payload []byte, fds ...int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head = spec.AppendHeader(c.head[:0], spec.Header{Kind: k, FDs: len(fds), Length: len(payload)})
	c.head = append(c.head, payload...)
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for p := c.head; len(p) > 0; {
		n, _, err := c.c.WriteMsgUnix(p, oob, nil)
		if err != nil {
			return err
		}
		p, oob = p[n:], nil
	}
	if cap(c.head) > 64<<10 { // a large script is not kept
		c.head = nil
	}
	return nil
}

// trySignal sends the message for a signal, or nothing when there is no room for it: EAGAIN. The kernel takes a message that
// fits one of its buffers as a whole or not at all.
func (c *conn) trySignal(sig unix.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head = spec.AppendHeader(c.head[:0], spec.Header{Kind: spec.KindSignal, Length: 1})
	c.head = append(c.head, byte(sig))
	raw, err := c.c.SyscallConn()
	if err != nil {
		return err
	}
	var sendErr error
	err = raw.Control(func(fd uintptr) {
		sendErr = unix.Send(int(fd), c.head, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	})
	return errors.Join(err, os.NewSyscallError("send", sendErr))
}

// receive returns the next message. The payload is valid until the next call; the caller closes the
// descriptors. At the end of the stream the error is io.EOF.
func (c *conn) receive() (spec.Kind, []byte, []int, error) {
	if err := c.fill(spec.HeaderSize); err != nil {
		return 0, nil, nil, err
	}
	h, err := spec.ParseHeader(c.buf[c.r:c.w], spec.MaxToHost)
	if err != nil {
		return 0, nil, nil, err
	}
	if err := c.fill(spec.HeaderSize + h.Length); err != nil {
		return 0, nil, nil, err
	}
	if h.FDs > len(c.fds) {
		return 0, nil, nil, fmt.Errorf("%w: %d descriptors instead of %d", spec.ErrProtocol, len(c.fds), h.FDs)
	}
	payload := c.buf[c.r+spec.HeaderSize : c.r+spec.HeaderSize+h.Length]
	c.r += spec.HeaderSize + h.Length
	fds := c.fds[:h.FDs:h.FDs]
	c.fds = c.fds[h.FDs:]
	return h.Kind, payload, fds, nil
}

// fill reads until n bytes are there.
func (c *conn) fill(n int) error {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	if len(c.buf)-c.r < n {
		grown := make([]byte, max(2*len(c.buf), n))
		c.w = copy(grown, c.buf[c.r:c.w])
		c.buf, c.r = grown, 0
	}
	for c.w-c.r < n {
		got, oobn, _, _, err := c.c.ReadMsgUnix(c.buf[c.w:], c.oob[:])
		if err == nil && got == 0 {
			err = io.EOF
		}
		if err != nil {
			return err
		}
		c.w += got
		if err := c.control(c.oob[:oobn]); err != nil {
			return err
		}
	}
	return nil
}

// control takes what came beside the bytes.
func (c *conn) control(oob []byte) error {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return fmt.Errorf("%w: %w", spec.ErrProtocol, err)
	}
	for i := range msgs {
		if cred, err := unix.ParseUnixCredentials(&msgs[i]); err == nil {
			c.pid = int(cred.Pid)
			continue
		}
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return fmt.Errorf("%w: %w", spec.ErrProtocol, err)
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd) // ReadMsgUnix asks for MSG_CMSG_CLOEXEC; this costs little
		}
		c.fds = append(c.fds, fds...)
	}
	if len(c.fds) > spec.MaxFDs {
		return fmt.Errorf("%w: too many descriptors", spec.ErrProtocol)
	}
	return nil
}

// giveUp lets a receive that is under way return with an error.
func (c *conn) giveUp() { _ = c.c.SetReadDeadline(time.Unix(1, 0)) }
