//go:build unix

package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// socketDir is a directory with a short name: that of a socket has 107 bytes at most.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestListen_Unix(t *testing.T) {
	dir := socketDir(t)
	path := filepath.Join(dir, "x.sock")
	stale, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close() // as after a kill
	l, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatalf("a stale socket is in the way: %v", err)
	}
	if l.Addr().String() != path || !Loopback(l) {
		t.Errorf("address %v", l.Addr())
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := Listen(t.Context(), "unix://"+path); !errors.Is(err, errInUse) {
		t.Errorf("listen where somebody does = %v, want %v", err, errInUse)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v are there, want the socket alone", entries)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}

// A server that does not get round to accept is not dead.
func TestListen_UnixBusy(t *testing.T) {
	path := filepath.Join(socketDir(t), "x.sock")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 4 { // fill its queue
		dialer := net.Dialer{Timeout: 50 * time.Millisecond}
		if conn, err := dialer.DialContext(t.Context(), "unix", path); err == nil {
			defer conn.Close()
		}
	}
	if l, err := Listen(t.Context(), "unix:"+path); err == nil {
		l.Close()
		t.Error("the socket of a busy server was taken")
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket of a busy server is gone: %v", err)
	}
}

func TestListen_UnixOther(t *testing.T) {
	dir := socketDir(t)
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Symlink(filepath.Join(dir, "nothing"), link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, dir, filepath.Join(dir, "no", "such")} {
		if l, err := Listen(t.Context(), "unix:"+path); err == nil {
			l.Close()
			t.Errorf("listens on %s", path)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "x" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

// Close does not remove the socket of another server that has taken the place.
func TestListen_UnixReplaced(t *testing.T) {
	path := filepath.Join(socketDir(t), "x.sock")
	first, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other server's socket is gone: %v", err)
	}
}

// At no moment is there a socket that others may connect to, whatever the umask.
func TestListen_UnixMode(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := socketDir(t)
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				info, err := e.Info()
				if err == nil && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has the mode %v", e.Name(), info.Mode())
					return
				}
			}
		}
	})
	for range 200 {
		l, err := Listen(t.Context(), "unix:"+filepath.Join(dir, "x"))
		if err != nil {
			t.Error(err)
			break
		}
		l.Close()
	}
	stop()
	looking.Wait()
}
