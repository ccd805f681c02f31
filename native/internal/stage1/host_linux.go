package stage1

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// host is the other end of the socket.
type host struct {
	fd  int
	buf []byte // a message that is being sent
	// fds came with the message that was received last.
	fds []int
	oob [256]byte
}

// receive reads one message and nothing beyond it: what follows may be for the next stage. At the end of the
// stream the host is gone, and this process ends.
func (h *host) receive() (spec.Kind, []byte, error) {
	h.fds = h.fds[:0]
	var head [spec.HeaderSize]byte
	if err := h.fill(head[:]); err != nil {
		return 0, nil, err
	}
	hd, err := spec.ParseHeader(head[:], spec.MaxToInit)
	if err != nil {
		return 0, nil, err
	}
	payload := make([]byte, hd.Length)
	if err := h.fill(payload); err != nil {
		return 0, nil, err
	}
	if len(h.fds) != hd.FDs {
		return 0, nil, fmt.Errorf("%w: %d descriptors instead of %d", spec.ErrProtocol, len(h.fds), hd.FDs)
	}
	return hd.Kind, payload, nil
}

// fill reads until p is full.
func (h *host) fill(p []byte) error {
	for len(p) > 0 {
		n, oobn, _, _, err := unix.Recvmsg(h.fd, p, h.oob[:], unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			unix.Exit(0)
		}
		p = p[n:]
		if oobn > 0 {
			if err := h.accept(h.oob[:oobn]); err != nil {
				return err
			}
		}
	}
	return nil
}

// accept takes descriptors.
func (h *host) accept(oob []byte) error {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return err
	}
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return err
		}
		h.fds = append(h.fds, fds...)
	}
	return nil
}

// send sends a message. When the host is gone, this process ends.
func (h *host) send(k spec.Kind, payload []byte, fds ...int) {
	h.buf = spec.AppendHeader(h.buf[:0], spec.Header{Kind: k, FDs: len(fds), Length: len(payload)})
	h.buf = append(h.buf, payload...)
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for p := h.buf; len(p) > 0; {
		n, err := unix.SendmsgN(h.fd, p, oob, nil, unix.MSG_NOSIGNAL)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			unix.Exit(0)
		}
		p, oob = p[n:], nil
	}
}

// fail tells the host which step could not be done, and ends.
func (h *host) fail(step string, err error) {
	f := spec.Failed{Step: step, Text: err.Error()}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		f.Errno = int(errno)
	}
	h.send(spec.KindFailed, f.Append(nil))
	unix.Exit(1)
}
