//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package native

import (
	"errors"

	"golang.org/x/sys/unix"
)

// waitEnded waits until a child has ended and leaves it to be reaped: kqueue(2), EVFILT_PROC. A child that ended
// before is not found (ESRCH).
func waitEnded(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return // then the child is waited for as it is reaped
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{change}
	for {
		n, err := unix.Kevent(kq, changes, changes[:1:1], nil)
		if n > 0 || !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
