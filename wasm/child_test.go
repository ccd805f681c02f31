package wasm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// children are what a copy of the test binary can do in the place of the tests. The result is the exit
// code.
var children = map[string]func(args []string) int{
	"prepare": childPrepare,
}

// child is a command that does one of children.
func child(tb testing.TB, part string, args ...string) *exec.Cmd {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return command(tb, self, append([]string{"--", part}, args...)...)
}

// command is a command that is killed if it does not end.
func command(tb testing.TB, name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(tb.Context(), 2*patience)
	tb.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

// childPrepare makes a driver with the cache folder that it is given, runs a script, and prints the
// result and the driver's warnings, a line each.
func childPrepare(args []string) int {
	report, err := prepareAndRun(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Stdout.WriteString(report)
	return 0
}

// mustRun runs cmd and returns what it printed.
func mustRun(tb testing.TB, cmd *exec.Cmd) string {
	tb.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%v: %v: %s", cmd.Args[1:], err, stderr.Bytes())
	}
	return string(out)
}
