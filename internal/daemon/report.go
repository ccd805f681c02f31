package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandbar-dev/sandbar/native"
)

// tryBackends uses each backend once, and prints what it found. An error names the first that cannot work here.
func tryBackends(ctx context.Context, backends []string, out, warn io.Writer) error {
	opts := &native.ProbeOptions{}
	for _, b := range backends {
		opts.Backends = append(opts.Backends, native.Backend(b))
	}
	report := native.Probe(ctx, opts)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Fprintln(out, report.Host)
	for i := range report.Findings {
		if err := tell(&report.Findings[i], out, warn); err != nil {
			return err
		}
	}
	return nil
}

func tell(f *native.Finding, out, warn io.Writer) error {
	if !f.OK {
		return unfit(f)
	}
	line := "backend " + f.Name + " works"
	if f.Detail != "" {
		line += ": " + f.Detail
	}
	fmt.Fprintln(out, line)
	if native.Backend(f.Name) == native.None {
		fmt.Fprintf(warn, "WARNING: the backend none isolates nothing. Who may use it runs programs as the user of this server (uid %d), with all of this user's rights.\n", os.Geteuid())
	}
	return nil
}

// unfit says why a backend does not work, in words of several lines.
func unfit(f *native.Finding) error {
	text := fmt.Sprintf("the backend %s does not work here: %s", f.Name, f.Detail)
	if f.Cause != "" {
		text += "\n  cause:  " + f.Cause
	}
	if f.Remedy != "" {
		text += "\n  remedy: " + f.Remedy
	}
	return errors.New(text)
}
