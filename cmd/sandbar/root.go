package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes that are sandbar's own. The shell's and coreutils' habits are followed.
const (
	exitUsage       = 2   // the command line cannot be used as given
	exitTimeout     = 124 // the timeout passed
	exitFailed      = 125 // sandbar itself could not do it
	exitInterrupted = 130 // Ctrl-C
	exitMemory      = 137 // the memory limit was reached
	exitClosed      = 141 // whoever read the output went away
	exitTerminated  = 143 // SIGTERM
)

// An exitError ends the command with a code. err may be nil: then there is nothing more to say.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErrorf is an error in the command line.
func usageErrorf(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// execute runs the command line and returns the exit code of the process.
func execute(args []string, std stdio) int {
	// Explorer's "run this from a terminal" pause of cobra would hang a double click in a script.
	cobra.MousetrapHelpText = ""
	root := newRootCommand(std)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	code, cause := exitUsage, err // what cobra itself finds is the command line
	if exit, ok := errors.AsType[*exitError](err); ok {
		code, cause = exit.code, exit.err
	}
	if cause != nil {
		fmt.Fprintf(std.err, "sandbar: %s\n", oneLine(cause.Error()))
	}
	return code
}

func newRootCommand(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:           "sandbar",
		Short:         "Run scripts in a sandbox",
		SilenceErrors: true, // execute prints them, one line each
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	server := &serverFlags{}
	server.add(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("server") && onlyHere[cmd.Name()] {
			return usageErrorf("--server: %s is about this machine", cmd.Name())
		}
		return nil
	}
	root.AddCommand(newRunCommand(std, server), newShellCommand(std, server), newServeCommand(std), newPsCommand(std, server),
		newStopCommand(server), newCpCommand(std, server), newLogsCommand(std, server), newDoctorCommand(std), newVersionCommand(std))
	return root
}

// onlyHere are commands that have nothing to ask of a server.
var onlyHere = map[string]bool{"serve": true, "token": true, "check-config": true, "doctor": true, "version": true}

// oneLine keeps an error on one line of the terminal, whatever is in the names that it holds.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0): // control characters drive terminals
			return '?'
		}
		return r
	}, s)
}
