package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// session is one session in this tier: engine.LiveSession.
type session struct {
	driver *Driver
	files  *guestfs.Session
	spec   *engine.SessionSpec
	from   *base // what the live interpreter starts from; nil: what fresh ones start from
	live   live

	// warming holds one token, and what is below belongs to who has it.
	warming chan struct{}
	warm    *pool // of Options.Warm; nil while there is none
	warmErr error // of a source that cannot be run
}

// Start implements engine.DriverSession.
func (s *session) Start(ctx context.Context, spec *engine.RunSpec) (engine.DriverRun, error) {
	if spec.Type != engine.Python {
		return nil, fmt.Errorf("wasm tier runs python, not %s: %w", spec.Type, engine.ErrNotAvailable)
	}
	p, err := s.driver.ready(ctx)
	if err != nil {
		return nil, errors.Join(engine.ErrNotStarted, err)
	}
	find, err := s.look(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	pool, err := s.pool(ctx, p, spec)
	if err != nil {
		return nil, errors.Join(engine.ErrNotStarted, err)
	}
	if spec.Live {
		return launch(s, &s.live, spec, false), nil
	}
	in, err := pool.take(context.WithoutCancel(ctx))
	if err != nil {
		return nil, errors.Join(engine.ErrNotStarted, err)
	}
	return launch(s, freshPlace{pool, in}, spec, find).settled(ctx)
}

// settled waits for the verdict on the script.
func (e *execution) settled(ctx context.Context) (engine.DriverRun, error) {
	var late <-chan time.Time
	select {
	case <-e.verdict.settled:
	default:
		if e.spec.Timeout > 0 && e.spec.Timeout != engine.NoTimeout {
			timer := time.NewTimer(e.spec.Timeout)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-e.verdict.settled:
		case <-late:
			if e.verdict.drop(true) {
				e.Stop(0)
				return e, nil
			}
		case <-ctx.Done():
			if e.verdict.drop(false) {
				e.Stop(0)
				<-e.done
				return nil, fmt.Errorf("wasm tier: look at the script: %w", context.Cause(ctx))
			}
		}
	}
	if e.verdict.needs != nil {
		<-e.done
		return nil, e.verdict.needs
	}
	return e, nil
}

// pool is what fresh interpreters of the session come from.
func (s *session) pool(ctx context.Context, p *interpreter, spec *engine.RunSpec) (*pool, error) {
	if s.spec.Warm == "" {
		return p.pool, nil
	}
	select {
	case <-s.warming:
	case <-ctx.Done():
		return nil, fmt.Errorf("Options.Warm: %w", context.Cause(ctx))
	}
	defer func() { s.warming <- struct{}{} }()
	if s.warm == nil && s.warmErr == nil {
		made, err := s.warmUp(ctx, p, spec)
		if err != nil && ctx.Err() != nil { // it says nothing about the source
			return nil, err
		}
		s.warm, s.warmErr = made, err
	}
	return s.warm, s.warmErr
}

// Close implements engine.DriverSession.
func (s *session) Close() error {
	ctx := context.Background()
	s.live.close(ctx)
	var err error
	if s.warm != nil {
		err = s.warm.close(ctx)
	}
	if s.from != nil {
		err = errors.Join(err, s.from.release())
	}
	return errors.Join(err, s.files.Close())
}
