package native

import (
	"fmt"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// StartError says why a backend could not make a cell. It is engine.ErrNotAvailable.
type StartError struct {
	Backend Backend
	// Step is what could not be done.
	Step string
	Err  error
	// Output is what bwrap wrote to stderr, its beginning at most.
	Output string
	// Cause names the setting of this host that stands in the way, Remedy what to do; empty when unknown.
	Cause, Remedy string
}

// Error implements error.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "backend %s: %s: %v", e.Backend, e.Step, e.Err)
	if out := strings.TrimSpace(e.Output); out != "" {
		fmt.Fprintf(&b, ": %q", out)
	}
	if e.Cause != "" {
		fmt.Fprintf(&b, "; %s", e.Cause)
	}
	if e.Remedy != "" {
		fmt.Fprintf(&b, "; %s", e.Remedy)
	}
	return b.String()
}

// Unwrap gives the error of the step.
func (e *StartError) Unwrap() error { return e.Err }

// Is reports that a StartError is engine.ErrNotAvailable.
func (e *StartError) Is(target error) bool { return target == engine.ErrNotAvailable }
