package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// batch is how many names of a directory are read at once: a script can make millions.
const batch = 1024

// openDir opens a directory in dir. The name is given as "name/.": os.Root opens the last element of a
// path without O_DIRECTORY, and would block for ever on a FIFO that a script has put in the place of
// the directory after it was looked at.
func openDir(dir *os.Root, name string) (*os.Root, error) { return dir.OpenRoot(name + "/.") }

// openNames opens dir itself, to read its names.
func openNames(dir *os.Root) (*os.File, error) {
	return dir.OpenFile(".", os.O_RDONLY|calmFlags, 0)
}

// eachEntry calls f for each entry of dir, in no order. Entries that vanish meanwhile are left out.
func eachEntry(ctx context.Context, dir *os.Root, f func(fs.FileInfo) error) error {
	names, err := openNames(dir)
	if err != nil {
		return err
	}
	defer names.Close()
	for {
		list, err := names.Readdirnames(batch)
		for _, name := range list {
			info, err := dir.Lstat(name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if err := f(info); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			return ignoreEOF(err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// removeContents empties dir, also of directories that a script has made unreadable, or has nested
// deeper than a path or the descriptors of a process can reach: what is inside a directory of dir is
// moved up into dir before the directory is removed, so that two levels are all there is to walk. Links
// are removed, never followed. gone is called for each entry that was removed.
func removeContents(ctx context.Context, dir *os.Root, gone func(fs.FileInfo)) error {
	r := remover{dir: dir, prefix: ".sandbar-" + newID(), gone: gone}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		found, removed, err := r.pass(ctx)
		if found == 0 && err == nil {
			return nil
		}
		if removed == 0 {
			return err
		}
	}
}

type remover struct {
	dir    *os.Root
	prefix string // of the names that moved directories get
	moved  int
	gone   func(fs.FileInfo)
}

// pass removes the first entries of the directory. The error is the first of what it could not remove.
func (r *remover) pass(ctx context.Context) (found, removed int, err error) {
	names, err := openNames(r.dir)
	if err != nil {
		return 0, 0, err
	}
	list, err := names.Readdirnames(batch)
	names.Close()
	err = ignoreEOF(err)
	for _, name := range list {
		if rmErr := r.entry(ctx, name); rmErr == nil {
			removed++
		} else if err == nil {
			err = rmErr
		}
	}
	return len(list), removed, err
}

// entry removes one entry of the directory.
func (r *remover) entry(ctx context.Context, name string) error {
	info, err := r.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.unlink(r.dir, info)
	}
	if r.unlink(r.dir, info) == nil { // it was empty
		return nil
	}
	if err := r.hoist(ctx, name); err != nil {
		return err
	}
	return r.unlink(r.dir, info)
}

func (r *remover) unlink(dir *os.Root, info fs.FileInfo) error {
	err := dir.Remove(info.Name())
	if err == nil {
		r.gone(info)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// hoist removes what is in the directory name, and moves up what is a directory and not empty.
func (r *remover) hoist(ctx context.Context, name string) error {
	if err := r.dir.Chmod(name, 0o700); err != nil {
		return err
	}
	sub, err := openDir(r.dir, name)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		done := 0
		err := eachEntry(ctx, sub, func(info fs.FileInfo) error {
			if err := r.hoistEntry(name, sub, info); err != nil {
				return err
			}
			done++
			return nil
		})
		// A directory that is changed while it is read may not give all names at once.
		if err != nil || done == 0 {
			return err
		}
	}
}

func (r *remover) hoistEntry(name string, sub *os.Root, info fs.FileInfo) error {
	err := r.unlink(sub, info)
	if err == nil || !info.IsDir() {
		return err
	}
	// rename(2) wants the right to write in a directory that gets another parent.
	if err := sub.Chmod(info.Name(), 0o700); err != nil {
		return err
	}
	r.moved++
	return r.dir.Rename(name+"/"+info.Name(), fmt.Sprintf("%s-%d", r.prefix, r.moved))
}
