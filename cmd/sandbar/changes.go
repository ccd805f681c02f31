package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandbar-dev/sandbar/engine"
)

// changeFlags say what is to be done with what a script changes in the work directory.
type changeFlags struct {
	overlay string
	diff    bool
	commit  bool
}

func (f *changeFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.overlay, "overlay", "", "let the work directory begin with what is in this folder, which stays as it is")
	fs.BoolVar(&f.diff, "diff", false, "list on standard error what has changed in the work directory: A added, M changed, D removed")
	fs.BoolVar(&f.commit, "commit", false, "when the script ends with exit code 0, apply what has changed to the folder of --overlay")
}

// fill checks the flags and puts them into the options.
func (f *changeFlags) fill(given func(flag string) bool, opts *engine.Options) error {
	if f.commit && !given("overlay") {
		return usageErrorf("--commit is for a run with --overlay")
	}
	if !given("overlay") {
		return nil
	}
	if given("workdir") {
		return usageErrorf("--overlay cannot be used together with --workdir")
	}
	var err error
	opts.Overlay, err = absolute("--overlay", f.overlay)
	return err
}

// begin is called before the run.
func (f *changeFlags) begin(ctx context.Context, session *engine.Session, opts *engine.Options) error {
	if !f.diff || opts.WorkDir == "" {
		return nil
	}
	return session.Mark(ctx)
}

// end is called after the run, which has ended with end.
func (f *changeFlags) end(ctx context.Context, session *engine.Session, end error, stderr io.Writer) error {
	var list []engine.Change
	var err error
	switch {
	case f.commit && end == nil:
		list, err = session.Commit(ctx)
	case f.diff:
		list, err = session.Diff(ctx)
	}
	if f.diff {
		for i := range list {
			fmt.Fprintf(stderr, "%s\n", changeLine(&list[i]))
		}
	}
	if f.commit && end != nil {
		fmt.Fprintf(stderr, "sandbar: not committed: the script did not end with exit code 0\n")
	}
	if conflict, ok := errors.AsType[*engine.ConflictError](err); ok {
		for _, path := range conflict.Paths {
			fmt.Fprintf(stderr, "C %s\n", quoted(path))
		}
	}
	if err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return nil
}

// changeLine describes a change for people.
func changeLine(c *engine.Change) string {
	letter := map[engine.ChangeKind]string{engine.Added: "A", engine.Changed: "M", engine.Removed: "D"}[c.Kind]
	mode, size := c.Mode, c.Size
	if c.Kind == engine.Removed {
		mode, size = c.OldMode, c.OldSize
	}
	line := letter + " " + quoted(c.Path)
	switch {
	case mode.IsDir():
		return line + "/"
	case mode.Type() == fs.ModeSymlink && c.Kind != engine.Removed:
		return line + " -> " + quoted(c.Target)
	case !mode.IsRegular():
		return line
	case c.Kind == engine.Changed && c.OldMode.IsRegular() && c.OldSize != c.Size:
		return fmt.Sprintf("%s (%s, was %s)", line, formatSize(size), formatSize(c.OldSize))
	}
	return fmt.Sprintf("%s (%s)", line, formatSize(size))
}

// quoted shows a name that a script has chosen. What could drive a terminal, or be taken for another name, is escaped.
func quoted(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` || strings.Contains(name, " ") {
		return q
	}
	return name
}
