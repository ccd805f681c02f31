package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/wasm/python"
)

func newVersionCommand(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of sandbar and of what it is made of",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(std.out, "sandbar %s\npython %s\nwazero %s\n%s %s/%s\n",
				moduleVersion(""), python.Version, moduleVersion("github.com/tetratelabs/wazero"),
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
			if err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("write version: %w", cause(err))}
			}
			return nil
		},
	}
}

// moduleVersion returns the version of a module in this program, or of the program itself for "".
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if path == "" {
		return info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == path {
			return dep.Version
		}
	}
	return "unknown"
}
