package wire

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// kinds are the errors of the session contract that travel, in the order of ErrorKind.
//
// Clients and proxies retry by the code alone, some of them without being told to. Unavailable is what all retry, so it is
// for a server that has not begun anything. A run whose end is not known may have done all that it was to do: its code is
// DataLoss, which nobody retries (Aborted and Unknown some do).
//
// Unimplemented is not used: to a client it means a server that lacks the procedure.
var kinds = []struct {
	kind sandboxv2.ErrorKind
	err  error
	code connect.Code
	rank rank
}{
	{sandboxv2.ErrorKind_ERROR_KIND_INVALID, engine.ErrInvalid, connect.CodeInvalidArgument, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_AVAILABLE, engine.ErrNotAvailable, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_ENFORCEABLE, engine.ErrNotEnforceable, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_CLOSED, engine.ErrClosed, connect.CodeFailedPrecondition, rankSession},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_STARTED, engine.ErrNotStarted, connect.CodeInternal, rankNotStarted},
	{sandboxv2.ErrorKind_ERROR_KIND_LOST, engine.ErrLost, connect.CodeDataLoss, rankLost},
	{sandboxv2.ErrorKind_ERROR_KIND_TOO_LARGE, engine.ErrTooLarge, connect.CodeOutOfRange, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NO_SPACE, engine.ErrNoSpace, connect.CodeResourceExhausted, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_EXIST, engine.ErrNotExist, connect.CodeNotFound, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_IS_DIRECTORY, engine.ErrIsDirectory, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_DIRECTORY, engine.ErrNotDirectory, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NOT_REGULAR, engine.ErrNotRegular, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_ESCAPES, engine.ErrEscapes, connect.CodeInvalidArgument, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NEEDS_NATIVE, engine.ErrNeedsNative, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_SNAPSHOT, engine.ErrSnapshot, connect.CodeInvalidArgument, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NO_MARK, engine.ErrNoMark, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_BUSY, engine.ErrBusy, connect.CodeFailedPrecondition, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_CONFLICT, engine.ErrConflict, connect.CodeAborted, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_NO_SESSION, engine.ErrNoSession, connect.CodeNotFound, rankSession},
	{sandboxv2.ErrorKind_ERROR_KIND_LIMIT, engine.ErrLimit, connect.CodeResourceExhausted, rankPlain},
	{sandboxv2.ErrorKind_ERROR_KIND_DENIED, engine.ErrDenied, connect.CodePermissionDenied, rankPrincipal},
	{sandboxv2.ErrorKind_ERROR_KIND_UNAUTHENTICATED, engine.ErrUnauthenticated, connect.CodeUnauthenticated, rankPrincipal},
	{sandboxv2.ErrorKind_ERROR_KIND_DRAINING, engine.ErrDraining, connect.CodeUnavailable, rankDraining},
}

// rank says whose code counts when an error is of several kinds: that of the lowest rank, and in a rank the first one.
type rank int

const (
	rankLost       rank = iota // whatever else it is, it must not be retried
	rankPrincipal              // who asks counts more than what is asked
	rankSession                // without a session nothing else matters
	rankPlain                  // all others
	rankDraining               // says that a retry is right, and so only where nothing says otherwise
	rankNotStarted             // says only that the cause is something else: errors of contexts go before it
)

// kindsOf are all that err is, in the order of ErrorKind.
func kindsOf(err error) []sandboxv2.ErrorKind {
	var list []sandboxv2.ErrorKind
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			list = append(list, k.kind)
		}
	}
	return list
}

// codeOf is the code of err, and whether err was made for callers: it is of the contract or of a context.
func codeOf(err error) (code connect.Code, known bool) {
	best := rankNotStarted + 1
	for _, k := range kinds {
		if k.rank < best && errors.Is(err, k.err) {
			code, best = k.code, k.rank
		}
	}
	switch {
	case best < rankNotStarted:
	case errors.Is(err, context.DeadlineExceeded):
		return connect.CodeDeadlineExceeded, true
	case errors.Is(err, context.Canceled):
		return connect.CodeCanceled, true
	case best > rankNotStarted:
		return connect.CodeInternal, false
	}
	return code, true
}
