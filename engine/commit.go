package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Commit applies what has changed in the session, since Open or the last Commit, to the host's directory
// (Options.Overlay), and returns the changes that it has applied, sorted by path. To discard them, close the session.
//
// First everything is looked at. When a path that changed here is not as it was on the host either (by type, size,
// times, permission bits or inode number; for a directory by type and inode number), the error is a *ConflictError that
// lists all of these paths, and nothing is written. Then what is new is written, under temporary names (".sandbar-" and random letters)
// beside their places: when that fails, as for a lack of space, they are removed again and the directory is as it was.
// Then they are renamed to their places, each at once and complete, also a new directory with all that is in it, and at last what
// was removed here is removed. When something fails in between, or someone changes the directory at that moment, the returned changes are
// those that were applied, and another Commit goes on from there. A crash can leave some of the changes applied and
// temporary names in the directory. Commit does not wait for the disk (fsync(2)).
//
// A committed file has the permission bits and the time of the session's, no set-user-ID, set-group-ID or sticky bit, and belongs to
// this process's user; one that takes the place of a file gets the owner of that one, where this process may give files
// away. Extended attributes, access control lists and hard links are not kept. A link is committed as it is, wherever
// it leads: who looks at the host's directory must expect links, and content, that a script has chosen. FIFOs, sockets and
// devices are left out, in both directions; Diff goes on listing those that scripts made. Commit itself follows no link on
// either side and writes nowhere but in the directory that was there at Open.
//
// No run may be under way: that is ErrBusy, and a run that begins meanwhile is too. Without Options.Overlay Commit is
// ErrInvalid. Its bounds are those of Diff.
func (s *Session) Commit(ctx context.Context) ([]Change, error) {
	if s.peer != nil {
		return peerCall(ctx, s, func(ctx context.Context, p Peer) ([]Change, error) { return p.Commit(ctx) })
	}
	if s.opts.Overlay == "" {
		return nil, fmt.Errorf("commit: %w", &InvalidError{"Overlay", "is not set: there is nothing to commit to"})
	}
	var done []Change
	err := s.historyCall(ctx, "commit", func(ctx context.Context, h *history) error {
		if err := s.hold(); err != nil {
			return err
		}
		defer s.release()
		if err := h.present(); err != nil {
			return err
		}
		now, err := s.take(ctx, h.base, false)
		if err != nil {
			return err
		}
		done, err = s.commit(ctx, h, now)
		return err
	})
	return done, err
}

// hold keeps runs from beginning until release.
func (s *Session) hold() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.runs); n > 0 {
		return fmt.Errorf("%w: %d runs are under way", ErrBusy, n)
	}
	s.committing = true
	return nil
}

func (s *Session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.committing = false
}

// present reports whether the host's directory is still where it was.
func (h *history) present() error {
	info, err := os.Lstat(h.hostDir)
	if err == nil && !os.SameFile(info, h.hostInfo) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("overlay directory %s: %w: it was there when the session was opened", h.hostDir, coded(err))
	}
	return nil
}

// commit applies the differences between the base and what there is now.
func (s *Session) commit(ctx context.Context, h *history, now *tree) ([]Change, error) {
	deltas := committable(compare(h.base.root, now.root))
	if _, err := changes(deltas); err != nil { // too many
		return nil, err
	}
	if err := unreadable("", deltas); err != nil {
		return nil, err
	}
	c := &committer{
		host: descent{root: h.host}, work: descent{root: s.files.root}, digest: newDigester(),
		force: s.files.ours || s.files.made != nil, relinked: map[inode]bool{},
	}
	defer c.host.close()
	defer c.work.close()
	if err := c.check(ctx, deltas); err != nil {
		return nil, err
	}
	if err := c.stage(ctx, deltas, false); err != nil {
		c.host.close()
		return nil, errors.Join(err, c.unstage(deltas))
	}
	err := c.apply(deltas, h.base.root)
	slices.SortFunc(c.done, byPath)
	if err != nil {
		c.host.close()
		return c.done, errors.Join(err, c.unstage(deltas))
	}
	settle(h.base.root, now.root)
	h.base.taken, h.base.sure = now.taken, now.sure
	h.mark = h.base
	return c.done, nil
}

// committable leaves out what cannot be committed.
func committable(deltas []*delta) []*delta {
	var all []*delta
	for _, d := range deltas {
		if d.new.isSpecial() {
			continue
		}
		d.below = committable(d.below)
		if d.differs || len(d.below) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// unreadable returns an error for a directory about which nothing is known.
func unreadable(dir string, deltas []*delta) error {
	for _, d := range deltas {
		if d.new.isDir() && d.new.unread {
			return fmt.Errorf("%q: %w", shorten(dir+d.name), fs.ErrPermission)
		}
		if err := unreadable(dir+d.name+"/", d.below); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the entries of the base that are as in the tree the stat of that: to be read has changed some.
func settle(base, now *node) {
	for name, b := range base.children {
		n := now.children[name]
		if n == nil || b == n || !same(b, n) {
			continue
		}
		b.stat = n.stat
		if b.sum == nil {
			b.sum = n.sum
		}
		settle(b, n)
	}
}
