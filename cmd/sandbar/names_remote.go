package main

import (
	"context"
	"errors"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A runName is a run as the command line has it: SESSION/RUN, or its own ID, which is looked for.
type runName struct{ session, run string }

// String is the form that needs no search.
func (n runName) String() string { return n.session + "/" + n.run }

// findRun finds a run of the caller's sessions.
func findRun(ctx context.Context, c *remote.Client, name string) (runName, error) {
	if session, run, ok := strings.Cut(name, "/"); ok {
		return runName{session, run}, nil
	}
	sessions, err := ask(ctx, c.RPC().ListSessions, &sandboxv2.ListSessionsRequest{})
	if err != nil {
		return runName{}, err
	}
	for _, s := range sessions.Sessions {
		runs, err := ask(ctx, c.RPC().ListRuns, &sandboxv2.ListRunsRequest{SessionId: s.SessionId})
		if errors.Is(err, engine.ErrNoSession) {
			continue // it was closed meanwhile
		}
		if err != nil {
			return runName{}, err
		}
		for _, r := range runs.Runs {
			if r.RunId == name {
				return runName{s.SessionId, r.RunId}, nil
			}
		}
	}
	return runName{}, &exitError{code: exitFailed, err: errors.New("there is no run " + quoted(name))}
}
