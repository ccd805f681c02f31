package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// unixPath is the path of an address of the form "unix:/path" or "unix:///path".
func unixPath(address string) (string, bool) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return "", false
	}
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		path = rest
	}
	return path, true
}

// listenUnix makes a socket that only its owner can use. It is made in a directory that only its owner can enter: between the making
// and the change of its mode nobody else gets at it.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".s") // a short name: that of a socket has 107 bytes at most
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l, err := listenIn(ctx, private, path)
	if err := errors.Join(err, os.Remove(private)); err != nil {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return l, nil
}

// listenIn makes the socket in a directory, and gives it its place.
func listenIn(ctx context.Context, private, path string) (net.Listener, error) {
	fresh := filepath.Join(private, "s")
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", fresh)
	if err != nil {
		return nil, err
	}
	err = os.Chmod(fresh, 0o600)
	info, statErr := os.Lstat(fresh)
	if err = errors.Join(err, statErr); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close()) // which removes it
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove the first name
	}
	return &unixListener{l, path, info}, nil
}

// removeStale removes a socket that nobody listens on, and nothing else.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something else than a socket")
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		conn.Close()
		return errInUse
	case !nobodyListens(err): // one that is too busy to answer is there
		return fmt.Errorf("whether somebody listens there: %w", err)
	}
	return os.Remove(path)
}

// wsaConnRefused is what Windows calls it.
const wsaConnRefused = syscall.Errno(10061)

func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaConnRefused)
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
	info fs.FileInfo // of the socket
}

// Addr implements net.Listener.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close implements net.Listener.
func (l *unixListener) Close() error {
	err := l.Listener.Close()
	if info, statErr := os.Lstat(l.path); statErr != nil || !os.SameFile(info, l.info) {
		return err // somebody has put another one in its place
	}
	if rmErr := os.Remove(l.path); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return err
}
