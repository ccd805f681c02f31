package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// OverlayKind says how a session lies over a directory.
type OverlayKind string

// The kinds of overlays.
const (
	// OverlayCopy: Open copies the directory. Where both lie on one file system that can share content (Btrfs, XFS), the
	// files' content is shared until a script changes it.
	OverlayCopy OverlayKind = "copy"
	// OverlayFS: the work directory is an overlayfs over the directory, and has in memory what scripts change. Open reads
	// names and no contents. What someone changes in the directory on the host shows in the session.
	OverlayFS OverlayKind = "overlayfs"
)

// overlayDir checks Options.Overlay and returns it without links.
func (o *Options) overlayDir() (string, error) {
	if o.Overlay == "" {
		return "", nil
	}
	if o.WorkDir != "" {
		return "", &InvalidError{"Overlay", "cannot be set together with WorkDir"}
	}
	dir, err := givenDir("Overlay", o.Overlay)
	if err != nil {
		return "", err
	}
	// What it holds is copied to there.
	if temp, err := filepath.EvalSymlinks(os.TempDir()); err == nil && within(temp, dir) {
		return "", &InvalidError{"Overlay", fmt.Sprintf("%q holds the system's temporary directory %s, where work directories are made", shorten(o.Overlay), temp)}
	}
	return dir, nil
}

// copyOverlay copies a directory of the host into the work directory, which is empty and nobody else's yet.
func (w *workspace) copyOverlay(ctx context.Context, dir string) error {
	h := &w.history
	var err error
	if h.host, err = os.OpenRoot(dir); err != nil {
		return &InvalidError{"Overlay", "cannot be opened: " + reasonOf(err)}
	}
	h.hostDir, h.kind = dir, OverlayCopy
	if h.hostInfo, err = h.host.Stat("."); err != nil {
		return &InvalidError{"Overlay", "cannot be opened: " + reasonOf(err)}
	}
	if h.base, err = copyTree(ctx, h.host, w.root, "Overlay"); err != nil {
		return fmt.Errorf("copy %s: %w", dir, err)
	}
	h.mark = h.base
	return w.countCopy(ctx)
}

// copyTree copies what is in a directory into another one, which is empty and nobody else's yet, special files aside. It
// returns what it has copied, by names and hashes of the copy. Field names the source in errors.
func copyTree(ctx context.Context, from, to *os.Root, field string) (*tree, error) {
	info, err := from.Stat(".")
	if err != nil {
		return nil, err
	}
	c := &copier{
		from: descent{root: from}, to: descent{root: to}, digest: newDigester(),
		clone: true, linked: map[inode]*hardLink{}, field: field,
	}
	root := newNode(info)
	err = c.run(ctx, root)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return &tree{root: root, taken: time.Now(), sure: true}, nil
}

// countCopy charges the disk limit with what was copied.
func (w *workspace) countCopy(ctx context.Context) error {
	if w.quota == nil {
		return nil
	}
	q := w.quota
	if err := q.count(ctx, w.root, 0, map[inode]bool{}); err != nil {
		return fmt.Errorf("count the copy: %w", err)
	}
	if q.maxBytes > 0 && q.bytes > q.maxBytes || q.maxFiles > 0 && q.files > q.maxFiles {
		return fmt.Errorf("copy into the work directory: %w", ErrNoSpace)
	}
	return nil
}

// A copier copies a directory and notes what it has copied.
type copier struct {
	from, to descent
	digest   *digester
	field    string
	// clone is set while files may be made to share their content.
	clone   bool
	linked  map[inode]*hardLink
	entries int64
}

// A hardLink is a file that was copied and has more names.
type hardLink struct {
	path  string  // of the first copy
	nodes []*node // of all
}

func (c *copier) run(ctx context.Context, root *node) error {
	defer c.from.close()
	defer c.to.close()
	return c.dir(ctx, root)
}

// problem makes an error about an entry that cannot be copied.
func (c *copier) problem(name string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &InvalidError{c.field, fmt.Sprintf("%q in it cannot be read: %s", shorten(c.from.path(name)), reasonOf(err))}
	}
	if _, ok := errors.AsType[*InvalidError](err); ok {
		return err
	}
	return fmt.Errorf("%q: %w", shorten(c.from.path(name)), coded(err))
}

// dir copies what is in the directory where the copier stands.
func (c *copier) dir(ctx context.Context, n *node) error {
	from, err := c.from.here()
	if err != nil {
		return err
	}
	to, err := c.to.here()
	if err != nil {
		return err
	}
	subs := map[string]fs.FileInfo{}
	at := "."
	err = eachEntry(ctx, from, func(info fs.FileInfo) error {
		if c.entries++; c.entries > maxList {
			return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
		}
		if info.IsDir() {
			subs[info.Name()] = info
			return nil
		}
		child, err := c.entry(ctx, from, to, info)
		if errors.Is(err, fs.ErrNotExist) { // it went meanwhile
			return nil
		}
		if err != nil {
			at = info.Name()
			return err
		}
		if child != nil {
			n.put(info.Name(), child)
		}
		return nil
	})
	if at == "." && errors.Is(err, fs.ErrNotExist) { // the directory itself went meanwhile
		err = nil
	}
	if err != nil {
		return c.problem(at, err)
	}
	for _, name := range slices.Sorted(maps.Keys(subs)) {
		if err := c.sub(ctx, subs[name], n); err != nil {
			return err
		}
	}
	return nil
}

// entry copies what is not a directory. It returns nil for what is left out.
func (c *copier) entry(ctx context.Context, from, to *os.Root, info fs.FileInfo) (*node, error) {
	name := info.Name()
	n := &node{host: newStat(info)}
	count, id := links(info)
	switch {
	case info.Mode().IsRegular() && count > 1 && c.linked[id] != nil:
		return n, c.link(to, c.linked[id], n, name)
	case info.Mode().IsRegular():
		if err := c.file(ctx, from, to, info, n); err != nil {
			return nil, err
		}
	case info.Mode().Type() == fs.ModeSymlink:
		var err error
		if n.target, err = from.Readlink(name); err != nil {
			return nil, err
		}
		if err = to.Symlink(n.target, name); err != nil {
			return nil, err
		}
	default:
		return nil, nil //nolint:nilnil // see above
	}
	made, err := to.Lstat(name)
	if err != nil {
		return nil, err
	}
	n.stat = newStat(made)
	if count > 1 && info.Mode().IsRegular() {
		c.linked[id] = &hardLink{c.to.path(name), []*node{n}}
	}
	return n, nil
}

// link makes one more name of a copy. That changes the stat of all its names.
func (c *copier) link(to *os.Root, l *hardLink, n *node, name string) error {
	if err := c.to.root.Link(l.path, c.to.path(name)); err != nil {
		return err
	}
	made, err := to.Lstat(name)
	if err != nil {
		return err
	}
	l.nodes = append(l.nodes, n)
	for _, other := range l.nodes {
		other.stat = newStat(made)
		other.sum = l.nodes[0].sum
	}
	return nil
}

// file copies a regular file.
func (c *copier) file(ctx context.Context, from, to *os.Root, info fs.FileInfo, n *node) error {
	src, err := from.OpenFile(info.Name(), os.O_RDONLY|calmFlags, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	now, err := src.Stat()
	if err != nil {
		return err
	}
	if !now.Mode().IsRegular() {
		return fs.ErrNotExist // it was one
	}
	n.host = newStat(now)
	f := &fileCopy{dir: to, name: info.Name(), src: src, size: now.Size(), digest: c.digest, clone: &c.clone}
	if n.sum, err = f.run(ctx); err != nil {
		return err
	}
	return f.finish(now)
}

// sub copies a directory.
func (c *copier) sub(ctx context.Context, info fs.FileInfo, parent *node) error {
	name := info.Name()
	to, err := c.to.here()
	if err != nil {
		return err
	}
	if err := c.from.push(info); err != nil {
		if errors.Is(err, errMoved) {
			return nil
		}
		return c.problem(name, err)
	}
	defer c.from.pop()
	if err := to.Mkdir(name, 0o700); err != nil {
		return err
	}
	made, err := to.Lstat(name)
	if err != nil {
		return err
	}
	if err := c.to.push(made); err != nil {
		return err
	}
	n := &node{host: newStat(info)}
	err = c.dir(ctx, n)
	c.to.pop()
	if err != nil && !errors.Is(err, errMoved) {
		return err
	}
	if to, err = c.to.here(); err != nil {
		return err
	}
	err = to.Chtimes(name, time.Time{}, info.ModTime())
	if err == nil {
		err = to.Chmod(name, info.Mode().Perm())
	}
	if err == nil {
		made, err = to.Lstat(name)
	}
	if err != nil {
		return err
	}
	n.stat = newStat(made)
	parent.put(name, n)
	return nil
}

// lowerSum gives the hash of a file as it was copied, if it is still like that on the host.
func (h *history) lowerSum(ctx context.Context, d *digester, path string, n *node) *digest {
	sum, info, err := d.file(ctx, func() (*os.File, error) { return h.host.OpenFile(path, os.O_RDONLY|calmFlags, 0) })
	if err != nil || newStat(info) != n.host {
		return nil
	}
	return sum
}
