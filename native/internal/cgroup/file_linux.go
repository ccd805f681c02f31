package cgroup

import (
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// open opens a file that must be there already: O_CREAT never makes sense here. The descriptor is not inherited.
func open(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, pathError("open", path, err)
		}
	}
}

// write writes text to a control file in one call, as the kernel wants it.
func write(path, text string) error {
	fd, err := open(path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Write(fd, []byte(text))
		if !errors.Is(err, unix.EINTR) {
			return pathError("write "+text+" to", path, err)
		}
	}
}

func mkdir(path string) error { return pathError("mkdir", path, unix.Mkdir(path, 0o755)) }

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// gone says that err means that a group, or a process, is not there any more. An open file of a removed group answers
// ENODEV.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH)
}

// backoff sleeps between attempts: shortly at first, because processes that were killed are gone within a millisecond
// as a rule.
type backoff struct {
	deadline time.Time
	next     time.Duration
}

func newBackoff() *backoff {
	return &backoff{deadline: time.Now().Add(closeTime), next: 50 * time.Microsecond}
}

// wait returns false, without sleeping, when the time is up.
func (b *backoff) wait() bool {
	if !time.Now().Before(b.deadline) {
		return false
	}
	time.Sleep(b.next)
	b.next = min(2*b.next, 5*time.Millisecond)
	return true
}
