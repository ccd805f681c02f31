//go:build !darwin

package native

import (
	"fmt"
	"runtime"
)

// findSandboxExec tells why the program is not there.
func findSandboxExec() error {
	e := &StartError{
		Backend: SandboxExec, Step: "find sandbox-exec", Err: fmt.Errorf("it is a program of macOS, and this is %s", runtime.GOOS),
		Remedy: "run Python scripts in the wasm tier",
	}
	if runtime.GOOS == "linux" {
		e.Remedy = fmt.Sprintf("choose the backend %s or %s", Bubblewrap, Userns)
	}
	return e
}
