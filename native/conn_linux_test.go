package native

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// A peer that does not read gets what fits, in whole messages, and trySignal does not wait for it.
func TestConn_TrySignal(t *testing.T) {
	c, theirs, err := newConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.close() })
	peer, err := net.FileConn(theirs)
	if err = errors.Join(err, theirs.Close()); err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	const most = 1 << 20
	sent := 0
	for err == nil && sent < most {
		if err = c.trySignal(unix.Signal(byte(sent))); err == nil {
			sent++
		}
	}
	if !errors.Is(err, unix.EAGAIN) || sent == 0 {
		t.Fatalf("after %d messages: %v, want EAGAIN", sent, err)
	}
	message := make([]byte, spec.HeaderSize+1)
	for i := range sent {
		if _, err := io.ReadFull(peer, message); err != nil {
			t.Fatal(err)
		}
		h, err := spec.ParseHeader(message, spec.MaxToHost)
		if err != nil || h.Kind != spec.KindSignal || h.Length != 1 || message[spec.HeaderSize] != byte(i) {
			t.Fatal(fmt.Errorf("message %d: %+v %v: %w", i, h, message, err))
		}
	}
	if err := c.trySignal(unix.SIGINT); err != nil {
		t.Errorf("with room again: %v", err)
	}
	peer.Close()
	if err := c.trySignal(unix.SIGINT); err == nil {
		t.Error("to a peer that is gone: no error")
	}
}
