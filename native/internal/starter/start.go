package starter

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Command is a program to start.
type Command struct {
	// Path is executed, with Argv, its own name first, and Env, the whole environment.
	Path string
	Argv []string
	Env  []string
	// Dir is the working directory.
	Dir string
	// Stdin, Stdout and Stderr are the program's; the caller closes them after Start.
	Stdin, Stdout, Stderr *os.File
	// Terminal makes Stdin, a terminal, the controlling one.
	Terminal bool
	Limits   []Limit
	// Timeout bounds the start. It has to be set.
	Timeout time.Duration
}

// Error is a step that the child could not do.
type Error struct {
	Step string
	// Errno is zero when the error is none of the system's.
	Errno syscall.Errno
	Text  string
}

// Error implements error.
func (e *Error) Error() string { return e.Step + ": " + e.Text }

// Unwrap gives the system's error.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

func failure(step string, err error) *Error {
	e := &Error{Step: step, Text: err.Error()}
	errors.As(err, &e.Errno)
	return e
}

// errGone: the child has not come as far as to execute anything.
var errGone = errors.New("the process that was to become the script ended")
