package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOwnerOnly(t *testing.T) {
	l := OwnerOnly(listen(t, "unix", filepath.Join(t.TempDir(), "s")))
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "hello") //nolint:errcheck // the client tells
			conn.Close()
		}
	}()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello" {
		t.Errorf("the owner reads %q, %v", got, err)
	}
}

// A user who is not the server's is hung up on. The connection is made by a thread that has become one.
func TestOwnerOnly_Stranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	// Of the abstract names, which have no mode that would keep the stranger off.
	l := listen(t, "unix", fmt.Sprintf("@sandbar-owner-only-%d", os.Getpid()))
	accepted := make(chan bool, 1)
	go func() {
		defer close(accepted)
		if conn, err := OwnerOnly(l).Accept(); err == nil {
			conn.Close()
			accepted <- true
		}
	}()
	got := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const stranger, unchanged = 65534, ^uintptr(0)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, unchanged, stranger, unchanged); errno != 0 {
			got <- errno
			return
		}
		conn, err := net.Dial("unix", l.Addr().String()) //nolint:noctx // it must not leave this thread
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		got <- err
	}()
	if err := <-got; !errors.Is(err, io.EOF) {
		t.Errorf("a stranger's connection ends with %v, want EOF", err)
	}
	l.Close()
	if <-accepted {
		t.Error("a stranger's connection was accepted")
	}
}

func TestIsOwner(t *testing.T) {
	for _, tt := range []struct {
		uid  uint32
		own  int
		want bool
	}{
		{1000, 1000, true},
		{0, 1000, true},
		{0, 0, true},
		{1001, 1000, false},
		{1000, 0, false},
		{1<<32 - 1, 0, false},
		{1<<32 - 1, -1, false},
	} {
		if got := isOwner(tt.uid, tt.own); got != tt.want {
			t.Errorf("isOwner(%d, %d) = %v, want %v", tt.uid, tt.own, got, tt.want)
		}
	}
	if uid, known, err := peerUID(nil); known || err == nil {
		t.Errorf("peerUID of no unix socket = %d, %v, %v", uid, known, err)
	}
}
