package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/internal/daemon"
)

// newServeCommand is the command sandbox-server under another name.
func newServeCommand(std stdio) *cobra.Command {
	cmd := daemon.NewCommand("serve", &daemon.Program{
		Version: moduleVersion(""), Getenv: os.Getenv, Stdout: std.out, Stderr: std.err,
	})
	for _, c := range append(cmd.Commands(), cmd) {
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if err := run(cmd, args); err != nil {
				return &exitError{code: daemon.ExitCode(err), err: err}
			}
			return nil
		}
	}
	return cmd
}
