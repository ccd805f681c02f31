package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/engine"
)

const logsLong = `Print what a detached run has written and writes, to its end, and exit with its code, as ` + "`sandbar run`" + ` does.
The server keeps the last part of the output; what it no longer has is told. Ctrl-C ends this command, and not the run.

RUN is what ` + "`sandbar run --detach`" + ` has printed, or the run's own ID as ` + "`sandbar ps`" + ` shows it.`

func newLogsCommand(std stdio, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "logs RUN",
		Short:   "Print the output of a detached run on a server",
		Long:    logsLong,
		Example: `  sandbar --server unix:///run/sandbar.sock logs 3f0c.../91ab...`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runLogs(std, server, args[0]) },
	}
}

func runLogs(std stdio, server *serverFlags, name string) error {
	client, err := server.client()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	stop := newStopper(context.Background())
	defer stop.close()
	run, err := findRun(stop.ctx, client, name)
	if err != nil {
		return stop.explain(err)
	}
	res, err := watch(stop.ctx, client, run, &sink{w: std.out, name: "stdout", stop: stop}, &sink{w: std.err, name: "stderr", stop: stop})
	if err != nil || stop.reason() != nil {
		return stop.explain(err)
	}
	if text := explain(&res, &engine.Options{}); text != "" {
		fmt.Fprintf(std.err, "sandbar: %s\n", text)
	}
	if code := exitCode(&res, stop); code != 0 {
		return &exitError{code: code}
	}
	return nil
}
