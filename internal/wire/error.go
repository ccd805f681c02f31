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
	maxMessage       = 4 << 10
	maxConflictPaths = 1000
	maxConflictBytes = 64 << 10
)

// internalMessage is all that a client learns of a failure that is the server's own.
const internalMessage = "internal error"

// Error is what a server answers for err: a code, err's text, and one ErrorDetail with all that err is. Nil is nil: do not
// make an error of that.
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
	out := connect.NewError(code, errors.New(cut(text, maxMessage)))
	if detail, err := connect.NewErrorDetail(errorDetail(err)); err == nil {
		out.AddDetail(detail)
	}
	return out
}

// errorDetail has the kinds of err and what its typed errors say.
func errorDetail(err error) *sandboxv2.ErrorDetail {
	m := &sandboxv2.ErrorDetail{Kinds: kindsOf(err)}
	var invalid *engine.InvalidError
	if errors.As(err, &invalid) {
		m.Invalid = &sandboxv2.InvalidError{Field: cut(invalid.Field, maxMessage), Problem: cut(invalid.Problem, maxMessage)}
	}
	var large *engine.TooLargeError
	if errors.As(err, &large) {
		m.TooLarge = &sandboxv2.TooLargeError{Path: cut(large.Path, maxMessage), Size: large.Size, Max: large.Max}
	}
	var native *engine.NeedsNativeError
	if errors.As(err, &native) {
		m.NeedsNative = &sandboxv2.NeedsNativeError{
			Module:   cut(native.Module, maxMessage),
			Imported: native.Imported,
			Line:     clampInt32(native.Line),
			Reason:   cut(native.Reason, maxMessage),
		}
	}
	var conflict *engine.ConflictError
	if errors.As(err, &conflict) {
		m.Conflict = conflictError(conflict)
	}
	var limit *engine.LimitError
	if errors.As(err, &limit) {
		m.Limit = &sandboxv2.LimitError{What: cut(limit.What, maxMessage), Max: limit.Max, OfPrincipal: limit.OfPrincipal}
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

// cut is s as UTF-8 of at most so many bytes.
func cut(s string, most int) string {
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
