package engine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// ChangeKind says what happened to a path.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "added"
	Changed ChangeKind = "changed"
	Removed ChangeKind = "removed"
)

// A Change is one path of the work directory that is not as it was. What a script made has the script's own names,
// targets and sizes: treat them as hostile.
type Change struct {
	// Path begins below the work directory, with "/" between names. It is bytes, and not always UTF-8.
	Path string
	Kind ChangeKind
	// Mode has the type and the permission bits as they are, OldMode as they were. Zero: there is or was nothing.
	Mode, OldMode fs.FileMode
	// Size and OldSize are of regular files, in bytes. Else they are 0.
	Size, OldSize int64
	// SHA256 is of the content of a regular file, in lower-case hexadecimal. It is empty for everything else, and for a
	// file that may not be read, that was changed all the while it was read, or that has holes when those of all files
	// have come to more than a gibibyte.
	SHA256 string
	// Target is where a link leads, as the link says it.
	Target string
	// Unread is set for a directory that may not be read: what has changed in it is not known. It happens to a program
	// that is not root while a run is under way, and in a WorkDir that was given.
	Unread bool
}

// Diff lists what was added, changed and removed since Open, or since the last Mark or Commit, sorted by path.
// Directories and all that is in them have an entry each. Links are not followed, and FIFOs, sockets and devices not
// opened.
//
// Changed means another type, other permission bits, another content or another target; a file that was
// written again with the same content is not changed. Owners, times and extended attributes do not count. A file without
// a hash (see Change.SHA256) is changed when its size, times or inode number are.
//
// For a directory that Open made, Diff works from Open on. A WorkDir that was given has to be marked first: before that
// it is ErrNoMark.
//
// Scripts may go on meanwhile: then each entry is as it was at some moment, and not all at the same one. More than
// 1,048,576 entries, 4,096 nested directories or 256 MiB of paths are ErrTooLarge.
//
// Diff reads each file whose stat(2) has changed. Where that does not tell (file systems other than ext4, XFS and
// Btrfs; a Mark while runs were under way), it reads every file.
func (s *Session) Diff(ctx context.Context) ([]Change, error) {
	if s.peer != nil {
		return peerCall(ctx, s, func(ctx context.Context, p Peer) ([]Change, error) { return p.Diff(ctx) })
	}
	var list []Change
	err := s.historyCall(ctx, "diff", func(ctx context.Context, h *history) error {
		if h.mark == nil {
			return fmt.Errorf("%w: the work directory was given (Options.WorkDir), so call Mark first", ErrNoMark)
		}
		now, err := s.take(ctx, h.mark, false)
		if err != nil {
			return err
		}
		list, err = changes(compare(h.mark.root, now.root))
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Mark makes what the work directory has now what Diff compares with. It reads every file, except for those that
// are as at the last mark. Its bounds are those of Diff. After an error the last mark stays. Commit does not mind marks.
func (s *Session) Mark(ctx context.Context) error {
	if s.peer != nil {
		return peerDo(ctx, s, func(ctx context.Context, p Peer) error { return p.Mark(ctx) })
	}
	return s.historyCall(ctx, "mark", func(ctx context.Context, h *history) error {
		now, err := s.take(ctx, h.mark, true)
		if err == nil {
			h.mark = now
		}
		return err
	})
}

// history is what the work directory was, and what it lies over.
type history struct {
	turn chan struct{} // has room for one: who has put something in may use what follows
	mark *tree         // nil: none yet
	base *tree         // what host has, for Commit

	// These do not change. host is nil without Options.Overlay.
	host     *os.Root
	hostDir  string
	hostInfo fs.FileInfo
	kind     OverlayKind
	// Of an overlayfs: its upper layer, and what the lower one had at Open.
	upper *os.Root
	lower *node

	mu    sync.Mutex
	temps map[string]bool // names that are not to be seen
}

// begin lays the workspace over a directory, if there is one, and begins the history.
func (w *workspace) begin(ctx context.Context, overlay string, from *Snapshot, given bool) error {
	h := &w.history
	h.turn = make(chan struct{}, 1)
	switch {
	case from != nil:
		return from.fill(ctx, w)
	case h.lower != nil: // makeOverlay has done it
	case overlay != "":
		return w.copyOverlay(ctx, overlay)
	case !given:
		h.mark = &tree{root: &node{}, taken: time.Now(), sure: true}
	}
	return nil
}

func (h *history) close() {
	if h.host != nil {
		h.host.Close()
	}
	if h.upper != nil {
		h.upper.Close()
	}
}

// hide keeps a name out of trees until the function that it returns is called.
func (h *history) hide(name string) (show func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.temps == nil {
		h.temps = map[string]bool{}
	}
	h.temps[name] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.temps, name)
	}
}

func (h *history) hidden(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.temps[name]
}

// historyCall does what the calls on the history have in common: one goes on at a time.
func (s *Session) historyCall(ctx context.Context, op string, f func(context.Context, *history) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := s.untilClosing(ctx)
	defer cancel()
	h := &s.files.history
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	defer func() { <-h.turn }()
	err := s.files.present()
	if err == nil {
		err = f(ctx, h)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, coded(err))
	}
	return nil
}

// take makes the tree of what there is now. The old one saves reading, of files that have a hash in it if all are to have
// one.
func (s *Session) take(ctx context.Context, old *tree, all bool) (*tree, error) {
	begun, quiet := s.underWay()
	h := &s.files.history
	sc := &scanner{
		descent: descent{root: s.files.root},
		digest:  newDigester(),
		sure:    tellsChanges(s.files.dir.Fd()),
		force:   quiet && (s.files.ours || s.files.made != nil),
		hidden:  h.hidden,
		all:     all,
	}
	if h.upper != nil {
		// It is on a tmpfs, so that sure is not set and all that is in it is read.
		sc.root, sc.under, sc.sure = h.upper, &under{node: h.lower}, false
	}
	if h.host != nil && (old == h.base || h.upper != nil) {
		sc.lower = func(ctx context.Context, path string, n *node) *digest { return h.lowerSum(ctx, sc.digest, path, n) }
	}
	root, err := sc.scan(ctx, old)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, taken: time.Now(), sure: quiet}
	if after, _ := s.underWay(); after != begun {
		t.sure = false
	}
	return t, nil
}

// underWay returns how many runs have begun so far, and whether all have ended.
func (s *Session) underWay() (begun int, quiet bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, len(s.runs) == 0
}
