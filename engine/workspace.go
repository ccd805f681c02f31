package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A workspace is a session's work directory on the host. File calls and drivers reach it through root
// alone, a descriptor: what is moved or linked on the host does not lead elsewhere.
type workspace struct {
	root    *os.Root
	dir     *os.File // the same directory: for Chmod of it when a script has made it unreadable
	hostDir string   // without links; empty for what a tier has made
	info    fs.FileInfo
	ours    bool // made by us: removed by close
	quota   *quota
	// made is set when a tier has made the directory. Then its file system holds the disk limit, and quota is nil.
	made Workspace
	// history is what Diff and Commit compare with.
	history history
	// maxBytes is the disk limit of a directory that a tier has made; 0 is none.
	maxBytes int64
}

// tempPrefix begins the names of this process's work directories, and of no other's.
var tempPrefix = "sandbar-" + newID()[:12] + "-"

// tidyUp tells the tiers where work directories are made, for the case that this process is killed.
func tidyUp(tiers map[Tier]*tier) error {
	for _, t := range tiers {
		if j, ok := t.driver.(Janitor); ok {
			if err := j.TidyUp(os.TempDir(), tempPrefix); err != nil && !errors.Is(err, ErrNotAvailable) {
				return fmt.Errorf("%s tier: %w", t.name, err)
			}
		}
	}
	return nil
}

// openWorkspace opens path, or makes a directory if it is empty.
func openWorkspace(ctx context.Context, path string, limits *Limits) (*workspace, error) {
	w := &workspace{quota: newQuota(limits)}
	var err error
	if path == "" {
		w.ours = true
		if w.hostDir, err = os.MkdirTemp("", tempPrefix); err == nil { // 0700
			w.hostDir, err = filepath.EvalSymlinks(w.hostDir)
		}
	} else {
		w.hostDir, err = givenDir("WorkDir", path)
	}
	if err != nil {
		return nil, err
	}
	if err := w.open(w.hostDir); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if w.ours || w.quota == nil {
		return w, nil
	}
	if err := w.quota.count(ctx, w.root, 0, map[inode]bool{}); err != nil {
		return nil, errors.Join(&InvalidError{"WorkDir", "cannot be counted: " + reasonOf(err)}, w.close())
	}
	return w, nil
}

// givenDir checks a directory that an option names, and returns it without links.
func givenDir(field, path string) (string, error) {
	invalid := func(problem string) (string, error) {
		return "", &InvalidError{field, fmt.Sprintf("%q %s", shorten(path), problem)}
	}
	if !filepath.IsAbs(path) {
		return invalid("is not an absolute path")
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return invalid("cannot be reached: " + reasonOf(err))
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return invalid("cannot be reached: " + reasonOf(err))
	case !info.IsDir():
		return invalid("is not a directory")
	case target == filepath.Dir(target):
		return invalid("is the root of the file system")
	}
	for _, dir := range provided {
		if within(target, dir) {
			return invalid("is part of " + dir)
		}
	}
	return target, nil
}

func (w *workspace) open(path string) (err error) {
	if w.root, err = os.OpenRoot(path); err != nil {
		return err
	}
	if w.dir, err = w.root.Open("."); err != nil {
		return err
	}
	w.info, err = w.dir.Stat()
	return err
}

// present reports whether the directory is still where it was. What is deleted or moved away is not
// replaced: a run in another directory than the one meant could reach more than was meant. What a tier has
// made has no path, and so cannot go.
func (w *workspace) present() error {
	if w.made != nil {
		return nil
	}
	info, err := os.Lstat(w.hostDir)
	if err == nil && !os.SameFile(info, w.info) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("work directory %s: %w: it was there when the session was opened", w.hostDir, coded(err))
	}
	return nil
}

// driverQuota is the quota as an interface that is nil when there is none.
func (w *workspace) driverQuota() Quota {
	if w.quota == nil {
		return nil
	}
	return w.quota
}

// close gives the descriptors back and removes the directory if it is ours. No run and no file call
// may be under way.
func (w *workspace) close() error {
	var err error
	if w.ours && w.root != nil {
		err = w.empty()
	}
	w.history.close()
	if w.dir != nil {
		err = errors.Join(err, w.dir.Close())
	}
	if w.root != nil {
		err = errors.Join(err, w.root.Close())
	}
	if w.made != nil {
		err = errors.Join(err, w.made.Close())
	}
	if !w.ours {
		return err
	}
	// It is empty: what another process may have put at this path meanwhile does not go with it.
	if rmErr := os.Remove(w.hostDir); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return err
}

func (w *workspace) empty() error {
	if w.dir != nil {
		if err := w.dir.Chmod(0o700); err != nil {
			return err
		}
	}
	return removeContents(context.Background(), w.root, func(fs.FileInfo) {})
}
