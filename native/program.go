package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// program is an interpreter as a cell has it.
type program struct {
	path string
	args []string // argv[0] and the options before the script
}

// findShell returns bash, or sh where there is no bash.
func findShell() program {
	for _, name := range []string{"bash", "sh"} {
		if path := find(name); path != "" {
			return program{path, []string{name}}
		}
	}
	return program{}
}

// findPython returns the system's Python. Its output is not buffered: what a script wrote before it was
// stopped is not lost.
func findPython() program {
	if path := find("python3"); path != "" {
		return program{path, []string{"python3", "-u"}}
	}
	return program{}
}

// programDirs are where a cell has programs: the PATH of scripts.
var programDirs = []string{"/usr/local/bin", "/usr/bin", "/bin"}

func find(name string) string {
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// notThere is the error of a script whose interpreter the host does not have.
func notThere(t engine.ScriptType) error {
	if t == engine.Python {
		return fmt.Errorf("%w: this host has no python3 in %v; install it (Debian: python3), or run the script in the wasm tier", engine.ErrNotAvailable, programDirs)
	}
	return fmt.Errorf("%w: this host has no bash or sh in %v", engine.ErrNotAvailable, programDirs)
}

// withPythonPath lets a script import what is in its working directory, as it could if it lay there.
func withPythonPath(env []string, cwd string) []string {
	const name = "PYTHONPATH="
	out := make([]string, 0, len(env)+1)
	dirs := []string{cwd}
	for _, kv := range env {
		rest, ok := strings.CutPrefix(kv, name)
		switch {
		case !ok:
			out = append(out, kv)
		case rest != "":
			dirs = append(dirs, rest)
		}
	}
	return append(out, name+strings.Join(dirs, string(os.PathListSeparator)))
}
