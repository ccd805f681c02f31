package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"
)

// firstPassed is the number of the first descriptor that systemd passes: sd_listen_fds(3).
const firstPassed = 3

// passedListeners are the sockets that systemd has opened for this process. There is at least one. The caller closes them.
func passedListeners(getenv func(string) string) ([]net.Listener, error) {
	pid, pidErr := strconv.Atoi(getenv("LISTEN_PID"))
	n, err := strconv.Atoi(getenv("LISTEN_FDS"))
	if err != nil || n <= 0 || pidErr != nil || pid != os.Getpid() {
		return nil, errors.New("systemd has passed no sockets to this process")
	}
	var all []net.Listener
	for fd := firstPassed; fd < firstPassed+n; fd++ {
		l, err := passedListener(fd)
		if err != nil {
			for _, made := range all {
				made.Close()
			}
			return nil, fmt.Errorf("socket %d of systemd: %w", fd, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// passedListener takes one over. The descriptor itself is closed: no child is to have it.
func passedListener(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "systemd")
	if f == nil {
		return nil, os.ErrInvalid
	}
	defer f.Close()
	return net.FileListener(f)
}

// notifyTime bounds a message to systemd.
const notifyTime = time.Second

// notify tells systemd of a state: sd_notify(3). Without systemd it does nothing.
func notify(ctx context.Context, getenv func(string) string, state string) error {
	socket := getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTime)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unixgram", socket) // a name that begins with @ is an abstract one, as in sd_notify
	if err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify systemd: %w", err)
	}
	return nil
}
