package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

const psLong = `List the sessions on a server, the oldest first, and below each its runs: those under way, and detached ones that have
ended. --all lists the sessions of all principals, without their runs, and is for administrators.

--json prints one array of sessions: "id", "label", "principal", "backend", "created_at", "closed_if_idle_at" and "runs",
each with "id", "name", "type", "tier", "started_at", "detached", and "reason" and "exit_code" when it has ended.`

func newPsCommand(std stdio, server *serverFlags) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "ps [flags]",
		Short: "List the sessions and runs on a server",
		Long:  psLong,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := server.client()
			if err != nil {
				return err
			}
			defer func() { _ = client.Close() }()
			list, err := listSessions(context.Background(), client, all)
			if err != nil {
				return err
			}
			write := writeSessions
			if asJSON {
				write = writeSessionsJSON
			}
			if err := write(std.out, list, time.Now()); err != nil {
				return outputError("stdout", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the sessions of all principals")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of the table")
	return cmd
}

// A listedSession is what `sandbar ps` tells of a session.
type listedSession struct {
	ID        string      `json:"id"`
	Label     string      `json:"label"`
	Principal string      `json:"principal"`
	Backend   string      `json:"backend"`
	CreatedAt time.Time   `json:"created_at"`
	IdleAt    time.Time   `json:"closed_if_idle_at"`
	Runs      []listedRun `json:"runs"`
}

// A listedRun is what it tells of a run.
type listedRun struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Type      engine.ScriptType `json:"type"`
	Tier      engine.Tier       `json:"tier"`
	StartedAt time.Time         `json:"started_at"`
	Detached  bool              `json:"detached"`
	// Reason is empty while the run is under way, and then ExitCode means nothing.
	Reason   engine.Reason `json:"reason"`
	ExitCode *int          `json:"exit_code"`
}

func listSessions(ctx context.Context, c *remote.Client, all bool) ([]listedSession, error) {
	sessions, err := ask(ctx, c.RPC().ListSessions, &sandboxv2.ListSessionsRequest{All: all})
	if err != nil {
		return nil, err
	}
	list := make([]listedSession, 0, len(sessions.Sessions))
	for _, m := range sessions.Sessions {
		s := listedSession{
			ID: m.GetSessionId(), Label: m.GetLabel(), Principal: m.GetPrincipal(), Backend: m.GetBackend(),
			CreatedAt: timeOf(m.GetCreatedAt()), IdleAt: timeOf(m.GetIdleAt()), Runs: []listedRun{},
		}
		if !all {
			if err := s.addRuns(ctx, c); errors.Is(err, engine.ErrNoSession) {
				continue // it was closed meanwhile
			} else if err != nil {
				return nil, err
			}
		}
		list = append(list, s)
	}
	return list, nil
}

func (s *listedSession) addRuns(ctx context.Context, c *remote.Client) error {
	runs, err := ask(ctx, c.RPC().ListRuns, &sandboxv2.ListRunsRequest{SessionId: s.ID})
	if err != nil {
		return err
	}
	for _, m := range runs.Runs {
		r := listedRun{
			ID: m.GetRunId(), Name: m.GetName(), StartedAt: timeOf(m.GetStartedAt()), Detached: m.GetDetached(),
			Type: wire.ToScriptType(m.GetType()), Tier: wire.ToTier(m.GetTier()),
		}
		if m.GetResult() != nil {
			res := wire.ToResult(m.GetResult())
			r.Reason, r.ExitCode = res.Reason, known(res.ExitCode)
		}
		s.Runs = append(s.Runs, r)
	}
	return nil
}

// timeOf is the zero time for one that is not told.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func writeSessionsJSON(w io.Writer, list []listedSession, _ time.Time) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(list)
}

func writeSessions(w io.Writer, list []listedSession, now time.Time) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tAGE\tSTATE\tWHERE\tNAME")
	for _, s := range list {
		name := s.Principal
		if s.Label != "" {
			name += " " + quoted(s.Label)
		}
		fmt.Fprintf(t, "%s\t%s\tsession\t%s\t%s\n", s.ID, age(s.CreatedAt, now), s.Backend, oneLine(name))
		for _, r := range s.Runs {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", r.ID, age(r.StartedAt, now), r.state(), r.Tier, quoted(r.Name))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// state is one word or two on where a run is.
func (r *listedRun) state() string {
	switch {
	case r.Reason == "" && r.Detached:
		return "detached"
	case r.Reason == "":
		return "running"
	case r.ExitCode == nil:
		return string(r.Reason)
	}
	return fmt.Sprintf("%s %d", r.Reason, *r.ExitCode)
}

// age is the time since then, in one unit.
func age(then, now time.Time) string {
	d := max(now.Sub(then), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
