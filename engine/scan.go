package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// A scanner makes the tree of what is in a work directory, while scripts change it. Each entry is as it was at
// some moment.
type scanner struct {
	descent
	digest *digester
	// sure is set when an entry whose stat is that of the tree before need not be read.
	sure bool
	// since is when entries of that tree are too young for that: what changes them next may get the same time.
	since int64
	// force is set when what may not be read is made readable for a moment.
	force bool
	// hidden tells which names are not to be seen.
	hidden func(name string) bool
	// all is set when each file is to have a hash.
	all bool
	// lower gives the hash of an entry as it was, where the tree before has none. It may not know.
	lower func(ctx context.Context, path string, old *node) *digest

	// under is set when what is scanned is the upper layer of an overlayfs.
	under *under

	entries, names int64
}

// granule is more than the step of a file system's clock, nanoseconds: the kernel's tick is 10 ms at most.
const granule = int64(50 * time.Millisecond)

// scan makes the tree. The old one tells what need not be read again, and gets hashes that are missing in it.
func (s *scanner) scan(ctx context.Context, old *tree) (*node, error) {
	defer s.close()
	info, err := s.root.Lstat(".")
	if err != nil {
		return nil, err
	}
	var before *node
	if old != nil {
		before = old.root
		s.sure = s.sure && old.sure
		s.since = old.taken.UnixNano() - granule
	}
	root := newNode(info)
	return root, s.dir(ctx, before, root)
}

// dir fills in the children of the directory where the scanner stands.
func (s *scanner) dir(ctx context.Context, old, n *node) error {
	dir, err := s.here()
	if err != nil {
		return err
	}
	subs := map[string]fs.FileInfo{}
	add := func(info fs.FileInfo) error { return s.entry(ctx, dir, info, old, n, subs) }
	if err := eachEntry(ctx, dir, add); err != nil {
		return err
	}
	if err := s.missed(dir, old, n, subs, add); err != nil {
		return err
	}
	s.showThrough(n, subs)
	for _, name := range slices.Sorted(maps.Keys(subs)) {
		if err := s.sub(ctx, subs[name], old.child(name), n); err != nil {
			return err
		}
	}
	return nil
}

// missed looks for what was there before and not seen now: a directory that is changed while it is read may not
// give all names.
func (s *scanner) missed(dir *os.Root, old, n *node, subs map[string]fs.FileInfo, add func(fs.FileInfo) error) error {
	if old == nil {
		return nil
	}
	for name := range old.children {
		if n.children[name] != nil || subs[name] != nil {
			continue
		}
		info, err := dir.Lstat(name)
		if err == nil {
			err = add(info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// entry adds one entry. Directories are left for later.
func (s *scanner) entry(ctx context.Context, dir *os.Root, info fs.FileInfo, old, n *node, subs map[string]fs.FileInfo) error {
	name := info.Name()
	if s.hidden != nil && s.hidden(name) {
		return nil
	}
	s.entries++
	s.names += int64(len(name))
	if s.entries > maxList || s.names > maxPaths {
		return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
	}
	for range attempts {
		var child *node
		var err error
		switch {
		case s.whiteout(info):
			return nil
		case info.IsDir():
			subs[name] = info
			return nil
		case info.Mode().IsRegular():
			child, err = s.regular(ctx, dir, info, old.child(name))
		default:
			child = newNode(info)
			if child.isLink() {
				child.target, err = dir.Readlink(name)
			}
		}
		if err == nil {
			n.put(name, child)
			return nil
		}
		if !swapped(err) {
			return err
		}
		// A script has put something else there: look again.
		if info, err = dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	n.put(name, newNode(info)) // it was there, and no more is known
	return nil
}

// swapped reports whether an error says that an entry is not any more what it was.
func swapped(err error) bool {
	code := coded(err)
	for _, e := range []error{ErrNotExist, ErrNotDirectory, ErrEscapes, ErrNotRegular, ErrIsDirectory, syscall.EINVAL, syscall.ELOOP} {
		if errors.Is(code, e) {
			return true
		}
	}
	return false
}

// regular makes the node of a file, with its hash if it may have changed.
func (s *scanner) regular(ctx context.Context, dir *os.Root, info fs.FileInfo, old *node) (*node, error) {
	n := newNode(info)
	alike := old != nil && old.stat == n.stat
	if alike && s.sure && (old.sum != nil || !s.all) && old.stat.ctime != 0 && old.stat.ctime < s.since {
		n.sum = old.sum
		return n, nil
	}
	sum, now, err := s.digest.file(ctx, func() (*os.File, error) { return s.open(dir, info) })
	if errors.Is(err, fs.ErrPermission) {
		return n, nil
	}
	if err != nil {
		return nil, err
	}
	n.stat, n.sum = newStat(now), sum
	n.stat.mode = info.Mode() & (fs.ModeType | fs.ModePerm) // force may have changed it
	if old.isRegular() && old.sum == nil && sum != nil && s.lower != nil {
		old.sum = s.lower(ctx, s.path(info.Name()), old)
	}
	return n, nil
}

// open opens a file for reading. One that may not be read is made readable for that moment, if that is allowed.
func (s *scanner) open(dir *os.Root, info fs.FileInfo) (*os.File, error) {
	f, err := dir.OpenFile(info.Name(), os.O_RDONLY|calmFlags, 0)
	if !s.force || !errors.Is(err, fs.ErrPermission) {
		return f, err
	}
	if err := dir.Chmod(info.Name(), 0o600); err != nil {
		return nil, err
	}
	f, err = dir.OpenFile(info.Name(), os.O_RDONLY|calmFlags, 0)
	return f, errors.Join(err, dir.Chmod(info.Name(), info.Mode().Perm()))
}

// sub adds a directory below the one where the scanner stands, with all that is in it.
func (s *scanner) sub(ctx context.Context, info fs.FileInfo, old, n *node) (err error) {
	child := newNode(info)
	dir, err := s.here()
	if err != nil {
		return gone(err)
	}
	if s.force && info.Mode().Perm()&0o500 != 0o500 {
		if err := dir.Chmod(info.Name(), 0o700); err != nil {
			return gone(err)
		}
		defer func() {
			if dir, hereErr := s.here(); hereErr == nil {
				err = errors.Join(err, dir.Chmod(info.Name(), info.Mode().Perm()))
			}
		}()
	}
	err = s.push(info)
	if err == nil {
		err = s.dirUnder(ctx, old, child, info.Name())
		s.pop()
	}
	if errors.Is(err, fs.ErrPermission) {
		child.unread, err = true, nil
	}
	if err != nil {
		return gone(err)
	}
	n.put(info.Name(), child)
	return nil
}

// gone takes a directory that is not there any more for one that was removed.
func gone(err error) error {
	if errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) { // the latter is what a removed directory that is open says
		return nil
	}
	return err
}
