// Command embed shows how a Go program runs scripts with Sandbar: one function for each thing that one
// wants to do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// run calls all that follows with one session: it is cheap to open, and its work directory is what its runs
// share.
func run(ctx context.Context, w io.Writer) error {
	session, err := sandbar.Open(ctx, &sandbar.Options{
		Limits: sandbar.Limits{Memory: 256 << 20, Disk: 64 << 20},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, part := range []struct {
		title string
		show  func(context.Context, io.Writer, *sandbar.Session) error
	}{
		{"files", files},
		{"standard input, arguments, environment", inputs},
		{"lines as they come", lines},
		{"a script that does not end", timeout},
		{"a script that fails", failure},
		{"what cannot be run", invalid},
	} {
		fmt.Fprintf(w, "== %s\n", part.title)
		if err := part.show(ctx, w, session); err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
	}
	fmt.Fprintln(w, "== the least that is needed")
	if err := least(ctx, w); err != nil {
		return err
	}
	fmt.Fprintln(w, "== a shell script and a Python script")
	err = both(ctx, w)
	if errors.Is(err, engine.ErrNotAvailable) { // Python needs nothing of the host, a shell script does
		fmt.Fprintf(w, "%v\n", err)
		return nil
	}
	return err
}
