package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Leftovers are the temporary directories and files that killed programs have left in a directory.
type Leftovers struct {
	dir   string
	names []string
}

// FindLeftovers looks in dir, which killed programs had as their os.TempDir, for what they left there: work directories, spools
// and directories of runs. It goes by their names alone. So dir must be one that no other program uses, as by a lock, and this
// one must not have opened a session with it yet.
func FindLeftovers(dir string) (*Leftovers, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("find leftovers: %w", err)
	}
	l := &Leftovers{dir: dir}
	for _, e := range entries {
		// Not what this process has just made: a probe may be under way.
		if strings.HasPrefix(e.Name(), leftPrefix) && !strings.HasPrefix(e.Name(), tempPrefix) && (e.IsDir() || e.Type().IsRegular()) {
			l.names = append(l.names, e.Name())
		}
	}
	return l, nil
}

// leftPrefix begins the names of all that this program makes in a directory for temporary files.
const leftPrefix = "sandbar-"

// Len is how many there are.
func (l *Leftovers) Len() int { return len(l.names) }

// What belongs to a run that has only just lost its program may still be written to.
const (
	leftTries = 20
	leftPause = 100 * time.Millisecond
)

// Remove removes them, without following links, and also what scripts have made unreadable or nested deeper than a path can
// reach. It returns how many are gone; somebody else may have removed some. It may be called while sessions are opened in the
// same directory.
func (l *Leftovers) Remove(ctx context.Context) (int, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return 0, fmt.Errorf("remove leftovers: %w", err)
	}
	defer root.Close()
	todo := l.names
	for try := 1; ; try++ {
		var rest []string
		var errs []error
		for _, name := range todo {
			if err := removeLeft(ctx, root, name); err != nil {
				rest, errs = append(rest, name), append(errs, err)
			}
		}
		if len(rest) == 0 || try == leftTries || ctx.Err() != nil {
			return len(l.names) - len(rest), errors.Join(errs...)
		}
		todo = rest
		select {
		case <-time.After(leftPause):
		case <-ctx.Done():
		}
	}
}

func removeLeft(ctx context.Context, root *os.Root, name string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() {
		err = emptyLeft(ctx, root, name, info)
	}
	if err == nil {
		err = root.Remove(name)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("remove %s: %w", name, err)
}

func emptyLeft(ctx context.Context, root *os.Root, name string, info fs.FileInfo) error {
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	dir, err := enter(root, name, info)
	if err != nil {
		return err
	}
	defer dir.Close()
	return removeContents(ctx, dir, func(fs.FileInfo) {})
}
