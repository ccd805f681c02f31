package native

import "os"

// findSandboxExec tells why the program is not there.
func findSandboxExec() error {
	if _, err := os.Stat(sandboxExec); err != nil {
		return &StartError{
			Backend: SandboxExec, Step: "find sandbox-exec", Err: err, Cause: "Apple calls it deprecated, and this system has none",
			Remedy: "run Python scripts in the wasm tier",
		}
	}
	return nil
}
