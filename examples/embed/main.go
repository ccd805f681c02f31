// Command embed shows how a Go program runs Python scripts with Sandbar: one function for each thing
// that one wants to do.
package main

import (
	"context"
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
	session, err := sandbar.Open(ctx, &engine.Options{
		Limits: engine.Limits{Memory: 256 << 20, Disk: 64 << 20},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	for _, part := range []struct {
		title string
		show  func(context.Context, io.Writer, *engine.Session) error
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
	return least(ctx, w)
}
