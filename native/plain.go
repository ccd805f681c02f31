package native

import (
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// wrapper makes of an interpreter, the directories of a run and its options what is executed: the first of argv
// goes before the script's name. Nil: the interpreter itself.
type wrapper func(p program, dirs *runDirs, rs *engine.RunSpec) program

// runDirs are directories of one run, absolute and without links, outside the work directory.
type runDirs struct {
	root   string // holds the others
	script string // the directory of the script
	tmp    string // TMPDIR
	tty    string // the device of the run's terminal; empty for none
}

// guestTmp is TMPDIR unless the caller says otherwise.
const guestTmp = "/tmp"

// hostPath is a path of the work directory as it is on the host, where it has not been moved to
// engine.WorkDir. Other paths stay.
func hostPath(path, hostDir string) string {
	rest, ok := strings.CutPrefix(path, engine.WorkDir)
	if !ok || (rest != "" && rest[0] != '/') {
		return path
	}
	return hostDir + rest
}

// hostEnv is the environment of a script that sees the host's own paths. Variables that the engine sets, HOME,
// PATH, PWD, TMPDIR and VIRTUAL_ENV, lead to the work directory's real place when they name engine.WorkDir or
// something below it, and TMPDIR to the run's own directory when it is /tmp. No other variable is touched.
func hostEnv(env []string, hostDir, tmp string) []string {
	out := make([]string, len(env))
	for i, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "HOME", "PWD", "VIRTUAL_ENV":
			kv = name + "=" + hostPath(value, hostDir)
		case "TMPDIR":
			if value == guestTmp {
				value = tmp
			}
			kv = name + "=" + hostPath(value, hostDir)
		case "PATH":
			dirs := strings.Split(value, ":")
			for i, dir := range dirs {
				dirs[i] = hostPath(dir, hostDir)
			}
			kv = name + "=" + strings.Join(dirs, ":")
		}
		out[i] = kv
	}
	return out
}
