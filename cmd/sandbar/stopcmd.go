package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

const stopLong = `End runs, and close sessions with all their runs and files. A run gets SIGTERM, or KeyboardInterrupt in Python, and a
moment later it is ended by force; with --kill at once.

SESSION and RUN are the IDs that ` + "`sandbar ps`" + ` shows; RUN may also be what ` + "`sandbar run --detach`" + ` has printed.`

func newStopCommand(server *serverFlags) *cobra.Command {
	var kill bool
	cmd := &cobra.Command{
		Use:   "stop SESSION|RUN...",
		Short: "End runs and close sessions on a server",
		Long:  stopLong,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			client, err := server.client()
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			sig := sandboxv2.Signal_SIGNAL_TERMINATE
			if kill {
				sig = sandboxv2.Signal_SIGNAL_KILL
			}
			var errs []error
			for _, name := range args {
				errs = append(errs, stopOne(context.Background(), client, name, sig))
			}
			if err := errors.Join(errs...); err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&kill, "kill", false, "end runs by force")
	return cmd
}

// stopOne closes the session of this name, or else ends the run.
func stopOne(ctx context.Context, c *remote.Client, name string, sig sandboxv2.Signal) error {
	_, err := ask(ctx, c.RPC().CloseSession, &sandboxv2.CloseSessionRequest{SessionId: name})
	if !errors.Is(err, engine.ErrNoSession) {
		return err
	}
	run, err := findRun(ctx, c, name)
	if err != nil {
		return errors.New("there is no session and no run " + quoted(name))
	}
	_, err = ask(ctx, c.RPC().SignalRun, &sandboxv2.SignalRunRequest{SessionId: run.session, RunId: run.run, Signal: sig})
	return err
}
