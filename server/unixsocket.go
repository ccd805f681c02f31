package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
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

// listenUnix makes a socket that only its owner can use. It is made under another name: between the making and the change of
// its mode nobody finds it.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := removeStale(ctx, path); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", fresh)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := errors.Join(os.Chmod(fresh, 0o600), os.Rename(fresh, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), l.Close())
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove the first name
	}
	return &unixListener{l, path}, nil
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
	if conn, err := dialer.DialContext(ctx, "unix", path); err == nil {
		conn.Close()
		return errInUse
	}
	return os.Remove(path)
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
}

// Addr implements net.Listener.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close implements net.Listener.
func (l *unixListener) Close() error {
	err := l.Listener.Close()
	if rmErr := os.Remove(l.path); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return err
}
