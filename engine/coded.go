package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// coded gives an error of the host's file system the package's own code, and takes off the paths of the
// host that it names.
func coded(err error) error {
	var theirs *callersError
	if err == nil || errors.As(err, &theirs) || isCoded(err) {
		return err
	}
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	for _, c := range codes {
		if errors.Is(err, c.host) {
			return c.code
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota):
		return fmt.Errorf("%w: %w", ErrNoSpace, err) // of the host's disk: say so
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &InvalidError{"path", "is too long"}
	case err.Error() == "path escapes from parent": // os.Root has no value for it
		return ErrEscapes
	}
	return err
}

var codes = []struct{ host, code error }{
	{fs.ErrNotExist, ErrNotExist},
	{syscall.ENOTDIR, ErrNotDirectory},
	{syscall.EISDIR, ErrIsDirectory},
	{syscall.ENXIO, ErrNotRegular}, // a socket, or a FIFO that nobody reads
}

// isCoded reports whether err is one of ours already.
func isCoded(err error) bool {
	for _, ours := range []error{
		ErrInvalid, ErrClosed, ErrTooLarge, ErrNoSpace, ErrNotExist, ErrIsDirectory, ErrNotDirectory, ErrNotRegular, ErrEscapes,
		ErrNoMark, ErrBusy, ErrConflict,
	} {
		if errors.Is(err, ours) {
			return true
		}
	}
	return false
}

// callersError is an error of a reader or writer that the caller gave. It is passed on as it is: that the
// caller's own disk is full, say, has nothing to do with the work directory.
type callersError struct{ err error }

func (e *callersError) Error() string { return e.err.Error() }
func (e *callersError) Unwrap() error { return e.err }

// reasonOf says an error inside another message.
func reasonOf(err error) string {
	return strings.TrimPrefix(coded(err).Error(), "engine: ")
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
