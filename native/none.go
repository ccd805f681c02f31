package native

import (
	"fmt"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

const warnNone = "native: backend none isolates nothing: a script has all the rights of this program"

// unenforcedPlain are the limits that nothing holds without a cell. What is left is a matter of single processes,
// setrlimit(2): OpenFiles and FileSize. RLIMIT_CPU and RLIMIT_AS are of a process too, and RLIMIT_NPROC is of a
// user, so that none of them means what Limits says.
var unenforcedPlain = []string{"Memory", "CPU", "Tmp", "TmpFiles", "Disk", "DiskFiles", "Processes"}

// unmeasuredPlain are the figures that nothing tells of a run without a cell.
var unmeasuredPlain = []string{"PeakMemory"}

// openNone opens a session of the backend none. A session that asks for what it cannot keep is refused: who wants no
// isolation has to say so.
func openNone(d *Driver, spec *engine.SessionSpec) (engine.DriverSession, error) {
	if err := refuseNone(spec); err != nil {
		return nil, err
	}
	return openPlain(d, spec, nil)
}

// refuseNone says what of the options needs isolation. A writable grant needs none: the path is there.
func refuseNone(spec *engine.SessionSpec) error {
	if spec.BestEffort {
		return nil
	}
	if spec.Network != netpolicy.Open {
		return networkNone("Options", spec.Network)
	}
	for _, g := range spec.Grants {
		if !g.Writable {
			return fmt.Errorf("%w: Options.ReadOnly %q: with backend none a script may write wherever this program may", engine.ErrNotEnforceable, g.Path)
		}
	}
	return nil
}

// networkNone is the error of a network mode in the options of a session or of a run.
func networkNone(field string, mode netpolicy.Mode) error {
	return fmt.Errorf("%w: %s.Network %q: with backend none a script has the host's network; set Options.Network to %q, or Options.BestEffort",
		engine.ErrNotEnforceable, field, mode, netpolicy.Open)
}
