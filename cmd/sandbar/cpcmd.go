package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandbar-dev/sandbar/engine"
)

const cpLong = `Copy a file to a session on a server, or from one. SESSION:PATH is a file of the session's work directory; the other
one is a file here, or - for standard input and output. A path that ends in / is a directory, in which the file keeps its
name. A file here with a colon in its name is written ./NAME.

A file that exists is replaced. What is executable stays so on its way to the session.`

func newCpCommand(std stdio, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "cp SESSION:PATH FILE|- | FILE|- SESSION:PATH",
		Short: "Copy a file to or from a session on a server",
		Long:  cpLong,
		Example: `  sandbar cp data.csv 3f0c...:in/
  sandbar cp 3f0c...:out.txt .
  tar c src | sandbar cp - 3f0c...:src.tar`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runCopy(std, server, args[0], args[1]) },
	}
}

// ofSession takes SESSION:PATH apart.
func ofSession(arg string) (session, path string, ok bool) {
	session, path, ok = strings.Cut(arg, ":")
	// One letter is a drive of Windows.
	return session, path, ok && len(session) > 1 && !strings.ContainsAny(session, `/\`)
}

func runCopy(std stdio, server *serverFlags, from, to string) error {
	session, file, down := ofSession(from)
	local := to
	if other, path, up := ofSession(to); up == down {
		return usageErrorf("cp: one of the two is SESSION:PATH, and the other one is not")
	} else if up {
		session, file, local = other, path, from
	}
	stop := newStopper(context.Background())
	defer stop.close()
	box, err := (&placeOnServer{serverFlags: *server, session: session}).open(stop.ctx, nil, "")
	if err != nil {
		return stop.explain(err)
	}
	if down {
		err = copyDown(stop.ctx, box.Session, file, local, std.out)
	} else {
		err = copyUp(stop.ctx, box.Session, local, file, std.in)
	}
	if err := errors.Join(err, box.Close()); err != nil {
		return stop.explain(err)
	}
	return nil
}

// copyUp puts a file of ours into the session.
func copyUp(ctx context.Context, s *engine.Session, local, file string, stdin io.Reader) error {
	if local == "-" {
		if isDir(file) {
			return usageErrorf("cp: what comes from standard input needs a name in the session")
		}
		return s.PutReader(ctx, file, stdin, nil)
	}
	f, err := os.Open(local)
	if err != nil {
		return usageErrorf("open %s: %w", local, cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return usageErrorf("cp: %s is a directory: pack it first, as with tar", local)
	}
	if isDir(file) {
		file += filepath.Base(local)
	}
	opts := &engine.PutOptions{}
	if info.Mode().Perm()&0o100 != 0 {
		opts.Mode = 0o755
	}
	return s.PutReader(ctx, file, f, opts)
}

// isDir reports whether a path of the session is that of a directory, by how it is written.
func isDir(file string) bool { return file == "" || strings.HasSuffix(file, "/") }

// copyDown gets a file of the session. A file of ours is replaced when all of it is there.
func copyDown(ctx context.Context, s *engine.Session, file, local string, stdout io.Writer) error {
	if local == "-" {
		return s.GetWriter(ctx, file, stdout, math.MaxInt64)
	}
	if info, err := os.Stat(local); strings.HasSuffix(local, "/") || err == nil && info.IsDir() {
		local = filepath.Join(local, path.Base(file))
	}
	if info, err := os.Stat(local); err == nil && !info.Mode().IsRegular() { // a device or a pipe: it is not replaced
		return copyInto(ctx, s, file, local, os.O_WRONLY)
	}
	fresh := filepath.Join(filepath.Dir(local), fmt.Sprintf(".sandbar-cp-%d", os.Getpid()))
	if err := copyInto(ctx, s, file, fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return os.Rename(fresh, local)
}

func copyInto(ctx context.Context, s *engine.Session, file, local string, flag int) error {
	f, err := os.OpenFile(local, flag, 0o666)
	if err != nil {
		return fmt.Errorf("write %s: %w", local, cause(err))
	}
	return errors.Join(s.GetWriter(ctx, file, f, math.MaxInt64), f.Close())
}
