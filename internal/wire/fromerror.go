package wire

import (
	"context"
	"errors"
	"slices"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// FromError makes of an error of a Connect client what the server's session returned: it is the same errors of package
// engine by errors.Is, the same typed errors by errors.As, and has the same text. The *connect.Error is in it too.
//
// What the server said without an ErrorDetail, and what it did not say (a connection that broke or was never made) is
// returned as it is: whether a run is lost by that is the caller's to judge. Only that the server's own context ended is then
// told as context.Canceled or context.DeadlineExceeded.
func FromError(err error) error {
	var answer *connect.Error
	if !errors.As(err, &answer) {
		return err
	}
	detail := detailOf(answer)
	if detail == nil {
		if ended := contextError(answer); ended != nil && !errors.Is(err, ended) {
			return &remoteError{text: err.Error(), is: []error{ended, err}}
		}
		return err
	}
	out := &remoteError{text: answer.Message()}
	for _, k := range kinds {
		if slices.Contains(detail.GetKinds(), k.kind) {
			out.is = append(out.is, k.err)
		}
	}
	out.is = append(out.is, typedErrors(detail)...)
	if ended := contextError(answer); ended != nil {
		out.is = append(out.is, ended)
	}
	out.is = append(out.is, answer)
	return out
}

// remoteError is an error of a server's session.
type remoteError struct {
	text string
	is   []error
}

// Error implements error: it is the server's text.
func (e *remoteError) Error() string { return e.text }

// Unwrap gives errors.Is and errors.As all that the error is.
func (e *remoteError) Unwrap() []error { return e.is }

// typedErrors are those that the detail has.
func typedErrors(m *sandboxv2.ErrorDetail) []error {
	var list []error
	if e := m.GetInvalid(); e != nil {
		list = append(list, &engine.InvalidError{Field: e.GetField(), Problem: e.GetProblem()})
	}
	if e := m.GetTooLarge(); e != nil {
		list = append(list, &engine.TooLargeError{Path: e.GetPath(), Size: e.GetSize(), Max: e.GetMax()})
	}
	if e := m.GetNeedsNative(); e != nil {
		list = append(list, &engine.NeedsNativeError{
			Module:   e.GetModule(),
			Imported: e.GetImported(),
			Line:     int(e.GetLine()),
			Reason:   e.GetReason(),
		})
	}
	if e := m.GetConflict(); e != nil {
		paths := make([]string, len(e.GetPaths()))
		for i, path := range e.GetPaths() {
			paths[i] = string(path)
		}
		list = append(list, &engine.ConflictError{Paths: paths})
	}
	if e := m.GetLimit(); e != nil {
		list = append(list, &engine.LimitError{What: e.GetWhat(), Max: e.GetMax(), OfPrincipal: e.GetOfPrincipal()})
	}
	return list
}

// detailOf is the ErrorDetail of an error; nil: it has none.
func detailOf(err *connect.Error) *sandboxv2.ErrorDetail {
	for _, d := range err.Details() {
		if value, err := d.Value(); err == nil {
			if detail, ok := value.(*sandboxv2.ErrorDetail); ok {
				return detail
			}
		}
	}
	return nil
}

// contextError is the error of the server's context that the code tells of. One that the client found out by itself is in
// its tree already; a stream that was reset has the same code, and is none.
func contextError(err *connect.Error) error {
	switch {
	case !connect.IsWireError(err):
		return nil
	case err.Code() == connect.CodeCanceled:
		return context.Canceled
	case err.Code() == connect.CodeDeadlineExceeded:
		return context.DeadlineExceeded
	}
	return nil
}
