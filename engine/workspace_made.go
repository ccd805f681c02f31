package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// workspaceTier returns the tier that is to make the work directory, so that its file system holds the disk
// limit. It is nil when there is no such limit, or the directory is given, or no tier makes one.
func workspaceTier(tiers map[Tier]*tier, o *Options) *tier {
	if o.WorkDir != "" || o.Limits.Disk == 0 && o.Limits.DiskFiles == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(tiers)) {
		if _, ok := tiers[name].driver.(WorkspaceMaker); ok {
			return tiers[name]
		}
	}
	return nil
}

// makeWorkspace has the tier make the work directory. It returns nil and no error when there is to be an
// ordinary one: the tier is not available, which then is the error of its runs, or the limit need not hold in it.
func (s *Session) makeWorkspace(ctx context.Context, t *tier) (*workspace, error) {
	limits := &s.opts.Limits
	made, err := t.driver.(WorkspaceMaker).MakeWorkspace(ctx, *limits)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s tier: work directory: %w", t.name, context.Cause(ctx))
	case s.opts.BestEffort && (errors.Is(err, ErrNotAvailable) || errors.Is(err, ErrNotEnforceable)):
		return nil, nil //nolint:nilnil // see above
	case t.cannotKeep(err):
		// The others count. This one does not, so nothing may run in it.
		t.err = err
		return nil, nil //nolint:nilnil // see above
	default:
		return nil, fmt.Errorf("%s tier: work directory: %w", t.name, err)
	}
	w := &workspace{made: made, maxBytes: limits.Disk}
	if err := w.open(fmt.Sprintf("/proc/self/fd/%d", made.Dir().Fd())); err != nil {
		return nil, errors.Join(fmt.Errorf("open the work directory: %w", err), w.close())
	}
	return w, nil
}

// full reports whether err says that the file system is full: of what is written, not of what a caller's reader
// had to say.
func full(err error) bool {
	var theirs *callersError
	return errors.Is(err, syscall.ENOSPC) && !errors.As(err, &theirs)
}

// limitError makes the disk limit of an error that says that the file system is full, where that is the same.
func (w *workspace) limitError(err error) error {
	if w.made != nil && full(err) && !errors.Is(err, ErrNoSpace) {
		return ErrNoSpace
	}
	return err
}
