package wire

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// The bounds of what is said of an error, in bytes: some protocols carry it in headers.
const (
	maxText          = 4 << 10
	maxConflictPaths = 1000
	maxConflictBytes = 64 << 10
)

// internalMessage is all that a client learns of a failure that is the server's own.
const internalMessage = "internal error"

// Error is what a server answers for err: a code, err's text, and one ErrorDetail with all that err is. Nil is nil: do not
// make an error of that.
//
// That a context ended is in the code alone, and so is told only where nothing counts more: the context of a session that
// was closed is not the client's.
//
// An error that is neither of the contract, nor of a context, nor made by package connect is a failure of the server's own.
// The client learns nothing but that: its text is for the server's log.
func Error(err error) *connect.Error {
	if err == nil {
		return nil
	}
	code, known := codeOf(err)
	text := withoutPaths(err)
	var made *connect.Error
	switch {
	case !errors.As(err, &made) || connect.IsWireError(made):
		// An error that another server sent is not for this server's clients.
	case detailOf(made) != nil:
		return made
	case len(kindsOf(err)) == 0:
		code, known, text = made.Code(), true, made.Message()
	}
	if !known {
		text = internalMessage
	}
	out := connect.NewError(code, errors.New(cut(text)))
	if detail, err := connect.NewErrorDetail(errorDetail(err)); err == nil {
		out.AddDetail(detail)
	}
	return out
}

// errorDetail has the kinds of err and what its typed errors say.
func errorDetail(err error) *sandboxv2.ErrorDetail {
	m := &sandboxv2.ErrorDetail{Kinds: kindsOf(err)}
	if invalid, ok := errors.AsType[*engine.InvalidError](err); ok {
		m.Invalid = &sandboxv2.InvalidError{Field: cut(invalid.Field), Problem: cut(invalid.Problem)}
	}
	if large, ok := errors.AsType[*engine.TooLargeError](err); ok {
		m.TooLarge = &sandboxv2.TooLargeError{Path: cut(large.Path), Size: large.Size, Max: large.Max}
	}
	if native, ok := errors.AsType[*engine.NeedsNativeError](err); ok {
		m.NeedsNative = &sandboxv2.NeedsNativeError{
			Module:   cut(native.Module),
			Imported: native.Imported,
			Line:     clampInt32(native.Line),
			Reason:   cut(native.Reason),
		}
	}
	if conflict, ok := errors.AsType[*engine.ConflictError](err); ok {
		m.Conflict = conflictError(conflict)
	}
	if limit, ok := errors.AsType[*engine.LimitError](err); ok {
		m.Limit = &sandboxv2.LimitError{What: cut(limit.What), Max: limit.Max, OfPrincipal: limit.OfPrincipal}
	}
	return m
}

// conflictError has the first paths, as many as fit.
func conflictError(e *engine.ConflictError) *sandboxv2.ConflictError {
	m := &sandboxv2.ConflictError{}
	room := maxConflictBytes
	for _, path := range e.Paths {
		if room -= len(path); room < 0 || len(m.Paths) == maxConflictPaths {
			break
		}
		m.Paths = append(m.Paths, []byte(path))
	}
	return m
}

// cut is s as UTF-8 of at most maxText bytes.
func cut(s string) string {
	most := maxText
	if s = valid(s[:min(len(s), most+utf8.UTFMax)]); len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// withoutPaths is the text of err without the host's directories: of a path that a call of the operating system failed on,
// the last element is left. Paths that scripts see stay.
func withoutPaths(err error) string {
	text := err.Error()
	for _, path := range hostPaths(err, nil) {
		if len(path) > 1 && filepath.IsAbs(path) && path != engine.WorkDir && !strings.HasPrefix(path, engine.WorkDir+"/") {
			text = strings.ReplaceAll(text, path, ".../"+filepath.Base(path))
		}
	}
	return text
}

// hostPaths adds the paths of all errors of the operating system in the tree of err to list.
func hostPaths(err error, list []string) []string {
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself: all such errors count, and not the first one
	case *fs.PathError:
		list = append(list, e.Path)
	case *os.LinkError:
		list = append(list, e.Old, e.New)
	case *exec.Error:
		list = append(list, e.Name)
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return hostPaths(inner, list)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			list = hostPaths(inner, list)
		}
	}
	return list
}
