package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// makeOverlay has the tier lay a work directory over a directory of the host. It returns nil where that cannot be
// had: then the directory is copied, which is as safe.
func (s *Session) makeOverlay(ctx context.Context, t *tier, dir string) *workspace {
	maker, ok := t.driver.(OverlayMaker)
	if !ok || dir == "" {
		return nil
	}
	w, err := layOver(ctx, maker, &s.opts.Limits, dir)
	if err != nil {
		s.log.DebugContext(ctx, "overlay directory is copied", "session", s.id, "reason", err)
		return nil
	}
	return w
}

// layOver makes the work directory, and notes what the host's directory has.
func layOver(ctx context.Context, maker OverlayMaker, limits *Limits, dir string) (w *workspace, err error) {
	host, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	w = &workspace{maxBytes: limits.Disk, history: history{host: host, hostDir: dir, kind: OverlayFS}}
	defer func() {
		if err != nil {
			err, w = errors.Join(err, w.close()), nil
		}
	}()
	h := &w.history
	if h.hostInfo, err = host.Stat("."); err != nil {
		return w, err
	}
	made, err := maker.MakeOverlay(ctx, *limits, dir, h.hostInfo)
	if err != nil {
		return w, err
	}
	w.made = made
	if err = w.open(fmt.Sprintf("/proc/self/fd/%d", made.Dir().Fd())); err != nil {
		return w, err
	}
	if h.upper, err = os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", made.Upper().Fd())); err != nil {
		return w, err
	}
	if h.base, err = walkHost(ctx, host, h.hostInfo); err != nil {
		return w, err
	}
	h.mark, h.lower = h.base, twin(h.base.root)
	return w, nil
}

// twin copies the directories of a tree, which Commit changes. All else is shared.
func twin(n *node) *node {
	c := *n
	c.children = nil
	for name, child := range n.children {
		if child.isDir() {
			child = twin(child)
		}
		c.put(name, child)
	}
	return &c
}

// errNotAlike: what scripts would see through an overlayfs is not what they see in a copy.
var errNotAlike = errors.New("an overlayfs over it would not be like a copy")

// walkHost notes what is in a directory of the host, and reads no contents. It returns an error for what only a copy has as
// it should be.
func walkHost(ctx context.Context, root *os.Root, info fs.FileInfo) (*tree, error) {
	w := &hostWalker{descent: descent{root: root}, dev: deviceOf(info)}
	defer w.close()
	n := newNode(info)
	if err := w.alike(root, info); err != nil {
		return nil, err
	}
	if err := w.dir(ctx, n); err != nil {
		return nil, err
	}
	return &tree{root: n, taken: time.Now(), sure: true}, nil
}

type hostWalker struct {
	descent
	dev            uint64
	entries, names int64
}

// alike returns an error for an entry that an overlayfs does not show as a copy would: another's, which a script could
// not change and whose owner the session's user namespace does not know; what is mounted there; special files; files with more
// names, which would part when they are changed; and what this process may not read.
func (w *hostWalker) alike(dir *os.Root, info fs.FileInfo) error {
	refuse := func(problem string) error {
		return fmt.Errorf("%w: %q %s", errNotAlike, shorten(w.path(info.Name())), problem)
	}
	if !isOurs(info) {
		return refuse("belongs to another user or group")
	}
	if deviceOf(info) != w.dev {
		return refuse("lies on another file system")
	}
	switch info.Mode().Type() {
	case fs.ModeDir, fs.ModeSymlink:
		return nil
	case 0:
	default:
		return refuse("is a special file")
	}
	if count, _ := links(info); count > 1 {
		return refuse("has more names")
	}
	if info.Mode().Perm()&0o400 != 0 {
		return nil // it is ours
	}
	f, err := dir.OpenFile(info.Name(), os.O_RDONLY|calmFlags, 0)
	if err != nil {
		return refuse("cannot be read: " + reasonOf(err))
	}
	return f.Close()
}

// dir fills in the children of the directory where the walker stands.
func (w *hostWalker) dir(ctx context.Context, n *node) error {
	dir, err := w.here()
	if err != nil {
		return err
	}
	subs := map[*node]fs.FileInfo{}
	err = eachEntry(ctx, dir, func(info fs.FileInfo) error {
		w.entries++
		w.names += int64(len(info.Name()))
		if w.entries > maxList || w.names > maxPaths {
			return &TooLargeError{Path: ".", Size: maxList + 1, Max: maxList}
		}
		if err := w.alike(dir, info); err != nil {
			return err
		}
		child := newNode(info)
		child.host = child.stat
		if child.isDir() {
			subs[child] = info
		}
		if child.isLink() {
			if child.target, err = dir.Readlink(info.Name()); err != nil {
				return err
			}
		}
		n.put(info.Name(), child)
		return nil
	})
	if err != nil {
		return err
	}
	for child, info := range subs {
		if err := w.push(info); err != nil {
			return err
		}
		err := w.dir(ctx, child)
		w.pop()
		if err != nil {
			return err
		}
	}
	return nil
}

// under is what scan needs for the upper layer of an overlayfs.
type under struct {
	// node is the directory of the lower layer that shows through where the scanner stands, as it was at Open. Nil:
	// none does.
	node *node
	// removed are the names that are removed there.
	removed map[string]bool
}

// enterUnder goes down into a directory of the upper layer, where the scanner stands by now. Leave goes up again.
func (s *scanner) enterUnder(name string) (leave func(), err error) {
	if s.under == nil {
		return func() {}, nil
	}
	before := s.under
	next := &under{}
	if n := before.node.child(name); n.isDir() {
		dir, err := s.here()
		if err != nil {
			return nil, err
		}
		opaque, err := isOpaque(dir)
		if err != nil {
			return nil, err
		}
		if !opaque {
			next.node = n
		}
	}
	s.under = next
	return func() { s.under = before }, nil
}

// dirUnder is dir for a directory that the scanner has just entered.
func (s *scanner) dirUnder(ctx context.Context, old, n *node, name string) error {
	leave, err := s.enterUnder(name)
	if err != nil {
		return err
	}
	defer leave()
	return s.dir(ctx, old, n)
}

// whiteout notes an entry that says that a name is removed.
func (s *scanner) whiteout(info fs.FileInfo) bool {
	if s.under == nil || !isWhiteout(info) {
		return false
	}
	if s.under.removed == nil {
		s.under.removed = map[string]bool{}
	}
	s.under.removed[info.Name()] = true
	return true
}

// showThrough adds what the lower layer has and the upper one does not hide.
func (s *scanner) showThrough(n *node, subs map[string]fs.FileInfo) {
	if s.under == nil || s.under.node == nil {
		return
	}
	for name, child := range s.under.node.children {
		if _, sub := subs[name]; sub || n.children[name] != nil || s.under.removed[name] {
			continue
		}
		n.put(name, child)
	}
}
