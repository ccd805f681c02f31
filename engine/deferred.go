package engine

import (
	"context"
	"errors"
	"fmt"
)

// Deferred makes of a driver one whose tier a session does not look at before the first run in it: Open asks the
// host nothing for it and starts nothing. So a program can offer a tier that most of its sessions never use, or that is
// not available everywhere. What Open would have refused for this tier, a limit that it cannot hold among
// that, the first run refuses: nothing of the script is executed then.
//
// One thing is not put off: where a disk limit (Limits.Disk, DiskFiles) is for the tier to hold, it makes the
// work directory in Open. Where it cannot, the other tiers count, and its own runs are refused.
//
// Session.Info and Session.Warnings do ask the host.
func Deferred(d Driver) Driver { return &deferredDriver{d} }

// deferredDriver is between Deferred and Open alone: a session has the driver in it.
type deferredDriver struct{ Driver }

// undeferred takes the driver out of what Deferred made.
func undeferred(d Driver) (inner Driver, deferred bool) {
	for {
		w, ok := d.(*deferredDriver)
		if !ok {
			return d, deferred
		}
		d, deferred = w.Driver, true
	}
}

// driverSession returns the session in a tier. One that was deferred is opened for the first run; an error is not
// kept, and the next run tries again.
func (s *Session) driverSession(ctx context.Context, t *tier) (DriverSession, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != nil {
		return t.session, nil
	}
	one := map[Tier]*tier{t.name: t}
	if err := tidyUp(one); err != nil {
		return nil, err
	}
	if err := enforceable(one, &s.opts, s.files.made != nil); err != nil {
		return nil, err
	}
	if err := s.openTier(ctx, t); err != nil {
		return nil, fmt.Errorf("%s tier: %w", t.name, err)
	}
	s.warn(ctx, t)
	return t.session, nil
}

// atOpen are the tiers that Open prepares: those that are not deferred. The one that makes the work directory
// has to be tidied up after, too.
func atOpen(tiers map[Tier]*tier, maker *tier) (prepared, tidied map[Tier]*tier) {
	prepared, tidied = map[Tier]*tier{}, map[Tier]*tier{}
	for name, t := range tiers {
		if !t.deferred {
			prepared[name] = t
		}
		if !t.deferred || t == maker {
			tidied[name] = t
		}
	}
	return prepared, tidied
}

// cannotKeep reports whether a tier that was asked to make the work directory says so in a way that leaves the
// session to the others.
func (t *tier) cannotKeep(err error) bool {
	return errors.Is(err, ErrNotAvailable) || t.deferred && errors.Is(err, ErrNotEnforceable)
}
