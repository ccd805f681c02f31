package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// detach starts the run in a session of a server, prints its name and leaves it there.
func (j *job) detach(ctx context.Context, box *sandbox, out io.Writer) error {
	// What a detached run reads cannot come from here.
	opts := j.runOpts
	opts.Stdin = nil
	req, err := wire.RunRequest(string(j.script), &opts)
	if err != nil {
		return engineError(err)
	}
	req.SessionId, req.Detach = box.ID(), true
	events, err := box.client.RPC().Run(ctx, connect.NewRequest(req))
	if err != nil {
		return engineError(wire.FromError(err))
	}
	defer func() { _ = events.Close() }()
	for events.Receive() {
		if s := events.Msg().GetEvent().GetStarted(); s != nil {
			if _, err := fmt.Fprintln(out, runName{box.ID(), s.GetRunId()}); err != nil {
				return outputError("stdout", err)
			}
			return nil
		}
	}
	if err := events.Err(); err != nil {
		return engineError(wire.FromError(err))
	}
	return engineError(fmt.Errorf("%w: the server did not say that the run has begun", engine.ErrLost))
}

// watch passes the output of a detached run on, to its end.
func watch(ctx context.Context, c *remote.Client, name runName, stdout, stderr io.Writer) (engine.Result, error) {
	req := &sandboxv2.AttachRunRequest{SessionId: name.session, RunId: name.run}
	events, err := c.RPC().AttachRun(ctx, connect.NewRequest(req))
	if err != nil {
		return engine.Result{}, wire.FromError(err)
	}
	defer func() { _ = events.Close() }()
	for events.Receive() {
		e := events.Msg().GetEvent()
		if n := e.GetStdoutSkipped() + e.GetStderrSkipped(); n > 0 {
			fmt.Fprintf(stderr, "sandbar: %s of output are missing here: the server no longer has them\n", formatSize(n))
		}
		_, outErr := stdout.Write(e.GetStdout())
		_, errErr := stderr.Write(e.GetStderr())
		if err := errors.Join(outErr, errErr); err != nil {
			return engine.Result{}, err
		}
		if e.GetExited() != nil {
			return wire.ToResult(e.GetExited()), nil
		}
	}
	if err := wire.FromError(events.Err()); err != nil {
		return engine.Result{}, err
	}
	return engine.Result{}, fmt.Errorf("%w: the stream ended before the run", engine.ErrLost)
}
