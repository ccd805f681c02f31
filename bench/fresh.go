package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

const trivial = "print(2+2)"

// execute runs the trivial script and looks at what came back.
func execute(ctx context.Context, s *engine.Session) error {
	out, err := s.Exec(ctx, trivial, nil)
	if err != nil {
		return err
	}
	if string(out.Stdout) != "4\n" {
		return fmt.Errorf("got %q, exit code %d: %s", out.Stdout, out.Result.ExitCode, out.Stderr)
	}
	return nil
}

// executeOnce does the same in a session of its own.
func executeOnce(ctx context.Context) (err error) {
	s, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer also(&err, s.Close)
	return execute(ctx, s)
}

// fresh is the time of one trivial script in an interpreter of its own, its output read.
func fresh(ctx context.Context, s *settings, r *report) (err error) {
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer also(&err, session.Close)
	cases := []*competitor{
		{name: "wasm tier, in an open session", turn: 10, run: func() error { return execute(ctx, session) }},
		{name: "wasm tier, session opened and closed", turn: 10, run: func() error { return executeOnce(ctx) }},
		{name: "python3 -I -c pass, not isolated", run: command(ctx, "", s.python, "-I", "-c", "pass")},
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		box, err := bubblewrap(ctx, s.python)
		if err != nil {
			return err
		}
		cases = append(cases,
			&competitor{name: "bwrap true", away: true, run: command(ctx, "", bwrap, with(box, "/bin/true")...)},
			&competitor{name: "bwrap python3 -I -c print(2+2)", away: true, run: command(ctx, "4\n", bwrap, with(box, s.python, "-I", "-c", trivial)...)},
		)
	}
	if err := compare(ctx, 2, s.rounds, cases); err != nil {
		return err
	}
	r.table(quantiles("A fresh Python: print(2+2), result back", cases))
	return nil
}
