//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package native

import (
	"fmt"
	"runtime"

	"github.com/sandbar-dev/sandbar/engine"
)

// openPlain is for systems with process groups alone.
func openPlain(d *Driver, _ *engine.SessionSpec, _ wrapper) (engine.DriverSession, error) {
	return nil, &StartError{
		Backend: d.opts.Backend, Step: "process group", Err: fmt.Errorf("it is not available on %s", runtime.GOOS),
		Remedy: "run Python scripts in the wasm tier",
	}
}
