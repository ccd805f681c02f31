package native

import (
	"fmt"
	"path/filepath"

	"github.com/sandbar-dev/sandbar/engine"
)

// sandboxExec is the program of the backend: sandbox-exec(1). PATH is not asked.
const sandboxExec = "/usr/bin/sandbox-exec"

const warnSandboxExec = "native: sandbox-exec bounds files, programs and the network, not memory, processes or processor time; " +
	"some versions of macOS let a script read the arguments and the environment of the user's other processes"

// sandboxExecInfo describes the backend.
func sandboxExecInfo(info *engine.DriverInfo) {
	info.Enforced["sandbox-exec"] = "what the profile does not allow is denied"
	info.Unenforced, info.Unmeasured = unenforcedPlain, unmeasuredPlain
	info.Warnings = append(info.Warnings, warnSandboxExec)
}

// openSandboxExec opens a session of the backend sandbox-exec.
func openSandboxExec(d *Driver, spec *engine.SessionSpec) (engine.DriverSession, error) {
	if err := findSandboxExec(); err != nil {
		return nil, err
	}
	if spec.GPU {
		return nil, fmt.Errorf("%w: Options.GPU with backend %s", engine.ErrNotAvailable, SandboxExec)
	}
	wrap, err := sandboxExecWrapper(sandboxExec, spec)
	if err != nil {
		return nil, err
	}
	return openPlain(d, spec, wrap)
}

// sandboxExecWrapper makes the command line of sandbox-exec. It replaces itself by the interpreter, so that the
// process that was started is the script.
func sandboxExecWrapper(command string, spec *engine.SessionSpec) (wrapper, error) {
	grants := make([]profileGrant, len(spec.Grants))
	for i, g := range spec.Grants {
		target, err := filepath.EvalSymlinks(g.Path)
		if err != nil {
			return nil, fmt.Errorf("granted path: %w", err)
		}
		grants[i] = profileGrant{path: g.Path, real: target, writable: g.Writable}
	}
	return func(p program, dirs *runDirs, rs *engine.RunSpec) program {
		profile := buildProfile(&profileConfig{
			work: spec.HostDir, script: dirs.script, tmp: dirs.tmp, tty: dirs.tty, grants: grants, network: rs.Network,
		})
		args := append([]string{"sandbox-exec", "-p", profile.text}, profile.params...)
		args = append(args, "--", p.path)
		return program{command, append(args, p.args[1:]...)}
	}, nil
}
