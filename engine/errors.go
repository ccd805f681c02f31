package engine

import (
	"errors"
	"fmt"
)

// The errors that callers test with errors.Is. They mean the same in process and over a transport.
// An error says that the call did not do what it was asked; what the user's own code did is a Result.
var (
	// ErrInvalid: an option, argument or path is not usable as given. Nothing was started or written.
	// The error is an *InvalidError, which names the field.
	ErrInvalid = errors.New("engine: invalid argument")

	// ErrNotAvailable: the chosen tier or backend cannot run on this host, or this program was built
	// without it. Nothing is retried with less isolation.
	ErrNotAvailable = errors.New("engine: not available")

	// ErrNotEnforceable: a limit that was asked for cannot be enforced here.
	ErrNotEnforceable = errors.New("engine: limit not enforceable")

	// ErrClosed: the session was closed before or during the call.
	ErrClosed = errors.New("engine: session closed")

	// ErrNotStarted: the run never began. There is no exit code.
	ErrNotStarted = errors.New("engine: run not started")

	// ErrLost: the run began, and its end could not be learned. There is no exit code.
	ErrLost = errors.New("engine: run lost")

	// ErrTooLarge: the content is larger than the maximum that the call was given.
	// The error is a *TooLargeError, which names both sizes.
	ErrTooLarge = errors.New("engine: too large")

	// ErrNoSpace: the session's disk limit is reached, or the host's disk is full; then the error says so.
	ErrNoSpace = errors.New("engine: disk limit reached")

	// ErrNotExist: there is no file of that name in the work directory.
	ErrNotExist = errors.New("engine: no such file")

	// ErrIsDirectory: the path names a directory where a file is needed.
	ErrIsDirectory = errors.New("engine: is a directory")

	// ErrNotDirectory: the path, or a parent of it, is not a directory where one is needed.
	ErrNotDirectory = errors.New("engine: not a directory")

	// ErrNotRegular: the path names a FIFO, socket or device. It was not opened.
	ErrNotRegular = errors.New("engine: not a regular file")

	// ErrEscapes: the path, or a link in it, leads out of the work directory.
	ErrEscapes = errors.New("engine: path leads out of the work directory")

	// ErrNeedsNative: the script needs something that only the native tier has, and was to run in the wasm tier.
	// Nothing of it was executed. The error is a *NeedsNativeError, which says what.
	ErrNeedsNative = errors.New("engine: script needs the native tier")

	// ErrSnapshot: this is no snapshot, a damaged one, or one of another version.
	ErrSnapshot = errors.New("engine: snapshot not usable")

	// ErrInterrupted: a read of stdin was given up. It is between Session and drivers; callers do not see it.
	ErrInterrupted = errors.New("engine: interrupted")

	// ErrNoMark: the session has a work directory that was given, and no Mark since when Diff could list changes.
	ErrNoMark = errors.New("engine: no mark to compare with")

	// ErrBusy: the call cannot be done as things are now: Commit while runs are under way, a run while Commit is, and a
	// snapshot of an interpreter that holds open files. The error says which.
	ErrBusy = errors.New("engine: busy")

	// ErrConflict: Commit found that the host's directory was changed as well.
	// The error is a *ConflictError, which lists the paths.
	ErrConflict = errors.New("engine: conflict with a change on the host")

	// ErrExit: RunCode's script did not end with exit code 0. The error is an *ExitError.
	ErrExit = errors.New("engine: script failed")

	// ErrDenied: the server's policy does not allow it to this principal. Nothing was started or written.
	// It comes from a server alone, as the errors below do.
	ErrDenied = errors.New("engine: denied by the server's policy")

	// ErrUnauthenticated: the server got no credentials, or wrong ones. It does not say which.
	ErrUnauthenticated = errors.New("engine: not authenticated")

	// ErrLimit: the server, or the principal, has as much as it may. A later call may succeed.
	// The error is a *LimitError, which says of what, and how much that is.
	ErrLimit = errors.New("engine: limit of the server reached")

	// ErrNoSession: there is no such session, run or snapshot, or it is somebody else's. It does not say which.
	ErrNoSession = errors.New("engine: no such session, run or snapshot")

	// ErrDraining: the server takes no new sessions and runs, since it is about to end.
	ErrDraining = errors.New("engine: server is about to end")
)

// InvalidError is an ErrInvalid: Field names the option or argument, Problem says what is wrong with it.
type InvalidError struct {
	Field   string
	Problem string
}

// Error implements error.
func (e *InvalidError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Problem) }

// Is reports that an InvalidError is ErrInvalid.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// TooLargeError is an ErrTooLarge: Size is what there is, Max what was allowed, both in bytes.
// Size is at least Max+1 where the whole size is not known. For List both count entries.
type TooLargeError struct {
	Path      string
	Size, Max int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %d bytes, more than the maximum of %d", e.Path, e.Size, e.Max)
}

// Is reports that a TooLargeError is ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// NeedsNativeError is an ErrNeedsNative.
type NeedsNativeError struct {
	// Module is what the script imports or uses: "numpy.linalg", "threading.Thread".
	Module string
	// Imported is set for an import, and not for a use.
	Imported bool
	// Line is where, in the script.
	Line int
	// Reason is why the wasm tier cannot do it, in a few words.
	Reason string
}

// Error implements error.
func (e *NeedsNativeError) Error() string {
	what := e.Module
	if e.Imported {
		what = "import " + what
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, what, e.Reason)
}

// Is reports that a NeedsNativeError is ErrNeedsNative.
func (e *NeedsNativeError) Is(target error) bool { return target == ErrNeedsNative }

// ConflictError is an ErrConflict: Paths changed in the session, and on the host too since the session was opened
// or last committed. They are sorted.
type ConflictError struct{ Paths []string }

// Error implements error. It names the first path.
func (e *ConflictError) Error() string {
	msg := "changed on the host too:"
	if len(e.Paths) > 0 {
		msg += fmt.Sprintf(" %q", shorten(e.Paths[0]))
	}
	if more := len(e.Paths) - 1; more > 0 {
		msg += fmt.Sprintf(" and %d more", more)
	}
	return msg
}

// Is reports that a ConflictError is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// ExitError is an ErrExit: the script of a RunCode call ended with another exit code than 0.
type ExitError struct {
	Result Result
	Stdout []byte
	Stderr []byte
}

// Error implements error. It ends with the last line of stderr, which in Python names the exception.
func (e *ExitError) Error() string {
	msg := fmt.Sprintf("script ended with exit code %d (%s)", e.Result.ExitCode, e.Result.Reason)
	if last := lastLine(e.Stderr); last != "" {
		msg += ": " + last
	}
	return msg
}

// Is reports that an ExitError is ErrExit.
func (e *ExitError) Is(target error) bool { return target == ErrExit }

// LimitError is an ErrLimit.
type LimitError struct {
	// What there is too much of: "sessions", "runs", "queue" or "snapshots".
	What string
	// Max is how many there may be.
	Max int64
	// OfPrincipal is set when the limit is the principal's own, and not the server's.
	OfPrincipal bool
}

// Error implements error.
func (e *LimitError) Error() string {
	whose := "server"
	if e.OfPrincipal {
		whose = "principal"
	}
	return fmt.Sprintf("%s: the %s has as many as it may, %d", e.What, whose, e.Max)
}

// Is reports that a LimitError is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
