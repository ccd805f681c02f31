package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

// files puts a file into the work directory, lets a script read it and write another one, and gets that.
// Files stay until the session is closed; everything else of a run is gone when it ends.
func files(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	if err := s.PutBytes(ctx, "in/words.txt", []byte("one two three two\n"), nil); err != nil {
		return err
	}
	_, err := s.RunCode(ctx, `
import collections, json
words = open("in/words.txt").read().split()
with open("counts.json", "w") as f:
    json.dump(collections.Counter(words), f)
`, nil)
	if err != nil {
		return err
	}
	counts, err := s.GetBytes(ctx, "counts.json", 1<<20) // what a script wrote can be of any size: say how much is fine
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "counts.json: %s\n", counts)
	return nil
}

// inputs gives a script all that a program can be given.
func inputs(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	out, err := s.RunCode(ctx, `
import os, sys
print(sys.argv[1:], os.environ["GREETING"], sys.stdin.read().split())
`, &sandbar.RunOptions{
		Name:  "inputs.py", // as tracebacks show it
		Args:  []string{"-v", "file name"},
		Env:   map[string]string{"GREETING": "hello"},
		Stdin: strings.NewReader("from the host\n"),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s", out)
	return nil
}

// lines talks to a script while it runs.
func lines(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	process, err := s.Run(ctx, `
while line := input():
    print(int(line) ** 2, flush=True)
`, &sandbar.RunOptions{StdinPipe: true})
	if err != nil {
		return err
	}
	in := process.Stdin()
	fmt.Fprintln(in, 3)
	for line := range process.StdoutLines() {
		fmt.Fprintf(w, "the script says %s\n", line)
		if line == "9" {
			fmt.Fprintln(in, 4)
			continue
		}
		fmt.Fprintln(in) // an empty line: it ends
	}
	result, err := process.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, exit code %d\n", result.Reason, result.ExitCode)
	return nil
}

// timeout stops a script. When ctx ends, runs are stopped in the same way, with ReasonCancelled.
func timeout(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	out, err := s.Exec(ctx, `
import re
print("searching")
re.match(r"(a+)+$", "a" * 40 + "b")
`, &sandbar.RunOptions{Timeout: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%q, then stopped: %s, exit code %d\n", out.Stdout, out.Result.Reason, out.Result.ExitCode)
	return nil
}

// failure tells what a script did wrong from what Sandbar could not do.
func failure(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	_, err := s.RunCode(ctx, "print('before')\nopen('/etc/passwd')", nil)
	exit, ok := errors.AsType[*sandbar.ExitError](err)
	if !ok {
		return fmt.Errorf("run: %w", err)
	}
	fmt.Fprintf(w, "%v\n", exit)
	fmt.Fprintf(w, "it had written %q, and a traceback of %d lines\n", exit.Stdout, strings.Count(string(exit.Stderr), "\n"))
	return nil
}

// invalid shows two of the errors that callers test for.
func invalid(ctx context.Context, w io.Writer, s *sandbar.Session) error {
	_, err := s.Exec(ctx, "pass", &sandbar.RunOptions{Cwd: "../etc"})
	fmt.Fprintf(w, "ErrInvalid: %v: %v\n", errors.Is(err, engine.ErrInvalid), err)
	_, err = s.GetBytes(ctx, "in/absent.txt", 1<<20)
	fmt.Fprintf(w, "ErrNotExist: %v: %v\n", errors.Is(err, engine.ErrNotExist), err)
	return nil
}
