//go:build !linux

package native

import (
	"fmt"
	"runtime"

	"github.com/sandbar-dev/sandbar/engine"
)

// host is what a driver finds on its host: nothing that is to be kept.
type host struct{}

func (*host) init(*Options) {}

// Close ends what the driver keeps. No session of it may be open.
func (*Driver) Close() error { return nil }

// cellInfo describes the backends that make cells.
func (d *Driver) cellInfo(info *engine.DriverInfo) {
	info.Enforced["namespaces"] = "not available on " + runtime.GOOS
}

// openCells is for Linux alone.
func openCells(d *Driver, _ *engine.SessionSpec) (engine.DriverSession, error) {
	e := &StartError{
		Backend: d.opts.Backend, Step: "namespaces", Err: fmt.Errorf("they are a feature of Linux, and this is %s", runtime.GOOS),
		Remedy: "run Python scripts in the wasm tier",
	}
	if runtime.GOOS == "darwin" {
		e.Remedy += fmt.Sprintf(", or choose the backend %s", SandboxExec)
	}
	return nil, e
}
