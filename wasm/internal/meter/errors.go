package meter

import (
	"errors"
	"fmt"
)

// The kinds of error. Test with errors.Is.
var (
	// ErrMalformed: not a module in the binary format, or one that uses a part of it that this package does not
	// read. Read are WebAssembly 2.0 with 128-bit SIMD; not tail calls, threads, exceptions, garbage collection, relaxed SIMD,
	// extended constants.
	ErrMalformed = errors.New("meter: malformed module")

	// ErrState: the module has mutable state other than its memory and one i32 global, or may have. These are a second
	// mutable global or one of another type; an imported memory, table or mutable global; an instruction that
	// writes a table or drops a segment; passive data; a start function; more than one memory, a shared one, one
	// with 64-bit addresses; exception tags.
	ErrState = errors.New("meter: state not accounted for")

	// ErrTick: the module does not import the metering function, or with another type than [] -> [].
	ErrTick = errors.New("meter: metering function not imported")
)

// Error says where in the source and why Rewrite refused it.
type Error struct {
	Kind    error  // ErrMalformed, ErrState or ErrTick.
	Section string // Name of the section, "module" outside of any.
	Offset  int    // In bytes from the start of the source.
	Cause   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s, offset %#x: %s", e.Kind, e.Section, e.Offset, e.Cause)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
