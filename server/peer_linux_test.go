package server

import (
	"io"
	"net"
	"path/filepath"
	"testing"
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
