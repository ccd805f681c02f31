package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

const shellLong = `Open an interactive shell in a sandbox: bash where there is one, else sh, on a terminal of its own in
the sandbox. The work directory, and what is granted, are as for ` + "`sandbar run`" + `. The session ends with the shell;
without --workdir its files go with it. The exit code is the shell's.

Standard input has to be a terminal. A script is for ` + "`sandbar run`" + `.`

// interactive starts the shell that the host has.
const interactive = `if [ -n "${BASH:-}" ]; then exec "$BASH" -i; fi
exec sh -i
`

// shellFlags are the flags of `sandbar shell`.
type shellFlags struct {
	runFlags
}

func newShellCommand(std stdio, server *serverFlags) *cobra.Command {
	flags := shellFlags{runFlags: runFlags{env: map[string]string{}, server: server}}
	cmd := &cobra.Command{
		Use:   "shell [flags]",
		Short: "Open an interactive shell in a sandbox",
		Long:  shellLong,
		Example: `  sandbar shell
  sandbar shell --workdir . --network open`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts := flags.opts
			backend, err := flags.place.fill(cmd.Flags().Changed, &opts)
			if err == nil {
				err = flags.paths(cmd.Flags().Changed, &opts)
			}
			if err != nil {
				return err
			}
			opts.Env = flags.env
			if opts.Timeout == 0 {
				opts.Timeout = engine.NoTimeout
			}
			place, err := flags.serverPlace(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if place != nil && !cmd.Flags().Changed("backend") {
				backend = "" // the server's default
			}
			return runShell(std, &opts, backend, place, flags.cwd)
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	flags.place.add(fs)
	flags.addLimits(fs, "none")
	flags.addFiles(fs)
	flags.addServer(fs)
	return cmd
}

// runShell joins this terminal to the sandbox's.
func runShell(std stdio, opts *engine.Options, backend native.Backend, place *placeOnServer, cwd string) error {
	fd := int(std.in.Fd())
	if !term.IsTerminal(fd) {
		return usageErrorf("shell: standard input is not a terminal; for a script there is: sandbar run --type shell -")
	}
	if name := os.Getenv("TERM"); opts.Env["TERM"] == "" && name != "" {
		opts.Env["TERM"] = name
	}
	ctx := context.Background()
	box, err := openShell(ctx, opts, backend, place)
	if err != nil {
		return engineError(err)
	}
	for _, warning := range box.Warnings() {
		fmt.Fprintf(std.err, "sandbar: warning: %s\n", oneLine(warning))
	}
	err = talk(ctx, box.Session, std, fd, &engine.RunOptions{
		Type: engine.Shell, Name: "shell", Cwd: cwd, Stdin: std.in, Terminal: sizeOf(fd), Env: opts.Env, Timeout: opts.Timeout,
	})
	if place != nil {
		place.tellKept(box, std.err)
	}
	if closeErr := box.Close(); err == nil && closeErr != nil {
		err = &exitError{code: exitFailed, err: closeErr}
	}
	return err
}

func openShell(ctx context.Context, opts *engine.Options, backend native.Backend, place *placeOnServer) (*sandbox, error) {
	if place != nil {
		return place.open(ctx, opts, backend)
	}
	return openNative(ctx, opts, backend)
}

// talk runs the shell until it ends. Meanwhile our terminal passes every key on, Ctrl-C too.
func talk(ctx context.Context, session *engine.Session, std stdio, fd int, opts *engine.RunOptions) error {
	proc, err := session.Run(ctx, interactive, opts)
	if err != nil {
		return engineError(err)
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		proc.Kill()
		return &exitError{code: exitFailed, err: fmt.Errorf("set up the terminal: %w", err)}
	}
	defer func() { _ = term.Restore(fd, state) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, shellSignals...)
	defer signal.Stop(signals)
	go func() {
		for sig := range signals {
			if isResize(sig) {
				_ = proc.Resize(*sizeOf(fd))
				continue
			}
			proc.Kill()
		}
	}()
	_, _ = io.Copy(std.out, proc.Stdout())
	res, err := proc.Wait(ctx)
	switch {
	case err != nil:
		return engineError(err)
	case res.ExitCode != 0:
		return &exitError{code: res.ExitCode}
	}
	return nil
}

// sizeOf is the size of our terminal, or a usual one when it does not tell.
func sizeOf(fd int) *engine.TerminalSize {
	cols, rows, err := term.GetSize(fd)
	if err != nil || rows < 1 || cols < 1 {
		rows, cols = 24, 80
	}
	return &engine.TerminalSize{Rows: rows, Cols: cols}
}
