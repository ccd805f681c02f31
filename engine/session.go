package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Session is a work directory, limits, and any number of runs, which may overlap. It is safe for
// concurrent use. Who opened it closes it.
type Session struct {
	id     string
	opts   Options // with the defaults filled in
	limits Limits  // with the defaults filled in
	tiers  map[Tier]*tier
	files  *workspace
	peer   Peer // nil unless another process holds the session; then there are no tiers and no files
	grants []Grant
	log    *slog.Logger
	usage  usage

	// closing ends when Close begins, with ErrClosed as its cause. It is the session's own lifetime and
	// nobody's argument.
	closing context.Context
	close   func() error

	mu     sync.Mutex
	closed bool
	runs   map[*Process]struct{}
	// begun counts runs. While committing is set, none begins.
	begun      int
	committing bool
	// calls counts runs and file calls under way. None begins once closed is set.
	calls sync.WaitGroup
}

// tier is a driver in one session.
type tier struct {
	name     Tier
	driver   Driver
	deferred bool  // see Deferred
	err      error // ErrNotAvailable: each run in this tier gives it
	grace    time.Duration

	mu      sync.Mutex
	session DriverSession // nil before a deferred tier's first run
}

// The time between the orderly stop of a run and the hard one. An interpreter in this process answers
// within microseconds; a process may have to clean up.
const (
	graceWasm   = 100 * time.Millisecond
	graceNative = 2 * time.Second
)

// Open makes a session that runs scripts in the tiers of drivers, at most one driver a tier. It does not
// close the drivers. A nil opts means the defaults. The ctx is for Open alone.
//
// Every option is checked before anything is created, and the work directory is gone again when Open
// fails. Errors: ErrInvalid, which names the option; ErrNotEnforceable for a limit that was asked for and
// that a tier cannot hold, unless Options.BestEffort. A tier that is not available here fails its runs,
// not Open; one of Deferred is looked at with its first run.
func Open(ctx context.Context, drivers []Driver, opts *Options) (*Session, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	tiers, err := tiersOf(drivers)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.checkWarm(tiers); err != nil {
		return nil, err
	}
	release, err := o.useFrom(tiers)
	if err != nil {
		return nil, err
	}
	defer release()
	overlay, err := o.overlayDir()
	if err != nil {
		return nil, err
	}
	grants, err := o.grants()
	if err != nil {
		return nil, err
	}
	maker := workspaceTier(tiers, &o)
	prepared, tidied := atOpen(tiers, maker)
	if err := enforceable(prepared, &o, maker != nil); err != nil {
		return nil, err
	}
	o.Env = maps.Clone(o.Env)
	s := newSession(&o, tiers, nil)
	s.grants = grants
	if err := tidyUp(tidied); err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if maker != nil {
		s.files = s.makeOverlay(ctx, maker, overlay)
	}
	if maker != nil && s.files == nil {
		s.files, err = s.makeWorkspace(ctx, maker)
	}
	if s.files == nil && err == nil {
		s.files, err = openWorkspace(ctx, o.WorkDir, &o.Limits)
	}
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if err := s.files.begin(ctx, overlay, o.From, o.WorkDir != ""); err != nil {
		return nil, errors.Join(fmt.Errorf("open session: %w", err), s.files.close())
	}
	if err := s.openTiers(ctx, prepared); err != nil {
		return nil, errors.Join(fmt.Errorf("open session: %w", err), s.Close())
	}
	s.opts.From = nil // it is needed no more
	s.debug(ctx, "session opened")
	return s, nil
}

// newSession is a session over tiers, or over a peer.
func newSession(o *Options, tiers map[Tier]*tier, peer Peer) *Session {
	s := &Session{
		id:     newID(),
		opts:   o.filled(),
		limits: o.Limits.filled(),
		tiers:  tiers,
		peer:   peer,
		log:    o.Logger,
		runs:   map[*Process]struct{}{},
	}
	if peer != nil {
		s.id = peer.ID()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	closing, begin := context.WithCancelCause(context.Background())
	s.closing = closing
	s.close = sync.OnceValue(func() error { return s.shut(begin) })
	return s
}

// tiersOf sorts drivers by tier.
func tiersOf(drivers []Driver) (map[Tier]*tier, error) {
	tiers := map[Tier]*tier{}
	for i, d := range drivers {
		field := fmt.Sprintf("drivers[%d]", i)
		d, deferred := undeferred(d)
		if d == nil {
			return nil, &InvalidError{field, "is nil"}
		}
		t := &tier{name: d.Tier(), driver: d, deferred: deferred}
		switch t.name {
		case TierWasm:
			t.grace = graceWasm
		case TierNative:
			t.grace = graceNative
		default:
			return nil, &InvalidError{field, fmt.Sprintf("is of the unknown tier %q", t.name)}
		}
		if tiers[t.name] != nil {
			return nil, &InvalidError{field, fmt.Sprintf("is a second driver of the %s tier", t.name)}
		}
		tiers[t.name] = t
	}
	return tiers, nil
}

// enforceable refuses limits that were asked for and that a tier cannot hold. The defaults were not
// asked for: each tier holds what it can of them. With made, a tier is going to make the work directory.
func enforceable(tiers map[Tier]*tier, o *Options, made bool) error {
	if o.BestEffort {
		return nil
	}
	for _, t := range tiers {
		for _, name := range unenforced(t.driver, &o.Limits, made) {
			return fmt.Errorf("%w: Limits.%s in the %s tier", ErrNotEnforceable, name, t.name)
		}
	}
	return nil
}

// openTiers opens the session in each of the tiers.
func (s *Session) openTiers(ctx context.Context, tiers map[Tier]*tier) error {
	for _, name := range slices.Sorted(maps.Keys(tiers)) {
		t := tiers[name]
		if t.err == nil { // else it could not make the work directory
			err := s.openTier(ctx, t)
			if errors.Is(err, ErrNotAvailable) {
				t.err, err = err, nil
			}
			if err != nil {
				return fmt.Errorf("%s tier: %w", t.name, err)
			}
		}
		s.warn(ctx, t)
	}
	return nil
}

func (s *Session) openTier(ctx context.Context, t *tier) error {
	ds, err := t.driver.OpenSession(ctx, &SessionSpec{
		ID:         s.id,
		Root:       s.files.root,
		HostDir:    s.files.hostDir,
		Workspace:  s.files.made,
		Network:    s.opts.Network,
		GPU:        s.opts.GPU,
		Venv:       s.opts.Venv,
		Grants:     s.grants,
		Limits:     s.limits,
		BestEffort: s.opts.BestEffort,
		Quota:      s.files.driverQuota(),
		Warm:       s.opts.Warm,
		From:       s.opts.From.interpreter(),
	})
	if err == nil {
		t.session = ds
	}
	return err
}

// warn logs what is loosened in a tier.
func (s *Session) warn(ctx context.Context, t *tier) {
	if !s.log.Enabled(ctx, slog.LevelWarn) {
		return
	}
	for _, w := range t.driver.Info().Warnings {
		s.log.WarnContext(ctx, "isolation is loosened", slog.String("session", s.id), slog.String("warning", w))
	}
}

// Close ends all runs, waits until nothing of the session is left, and removes the work directory if
// Open made it. Later calls wait for the first and return what it returned. Calls that are under way
// end with ErrClosed, or with a Result of ReasonCancelled.
func (s *Session) Close() error { return s.close() }

func (s *Session) shut(begin context.CancelCauseFunc) error {
	s.mu.Lock()
	s.closed = true
	begin(ErrClosed)
	for p := range s.runs {
		s.calls.Go(func() { p.stop(ReasonCancelled) }) // all at once: a driver's Stop may take a moment
	}
	s.mu.Unlock()
	s.calls.Wait()
	var errs []error
	for _, t := range s.tiers {
		if t.session == nil {
			continue
		}
		if err := t.session.Close(); err != nil {
			errs = append(errs, fmt.Errorf("%s tier: %w", t.name, err))
		}
	}
	if s.peer != nil {
		errs = append(errs, s.peer.Close())
	} else if err := s.files.close(); err != nil {
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	s.debug(context.Background(), "session closed", slog.Any("err", err))
	if err != nil {
		return fmt.Errorf("close session: %w", err)
	}
	return nil
}

// enter counts a call until leave, or returns ErrClosed.
func (s *Session) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Session) leave() { s.calls.Done() }

// track lets Close find the run. Close may have begun since enter.
func (s *Session) track(p *Process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("%w: %w", ErrClosed, ErrNotStarted)
	}
	if s.committing {
		return fmt.Errorf("%w: a Commit is under way: %w", ErrBusy, ErrNotStarted)
	}
	s.begun++
	s.runs[p] = struct{}{}
	return nil
}

func (s *Session) untrack(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, p)
}

// debug logs a step.
func (s *Session) debug(ctx context.Context, step string, attrs ...slog.Attr) {
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, step, append(attrs, slog.String("session", s.id))...)
}
