package engine

import (
	"context"
	"fmt"
)

var errNoInterpreter = fmt.Errorf("%w: the wasm tier of this session keeps no interpreter", ErrNotAvailable)

// liveSession returns the session in the wasm tier as one that can keep an interpreter.
func (s *Session) liveSession(ctx context.Context) (LiveSession, error) {
	r, err := s.routeLive()
	if err != nil {
		return nil, err
	}
	ds, err := s.driverSession(ctx, r.tier)
	if err != nil {
		return nil, err
	}
	live, ok := ds.(LiveSession)
	if !ok {
		return nil, errNoInterpreter
	}
	return live, nil
}

// ResetInterpreter ends the live interpreter of the session, in an orderly way: functions of atexit are called and files
// are flushed, within 0.1 s. The next run with InterpreterSession starts as the first one did. It waits for the run that
// has the interpreter, as long as ctx lasts. It does nothing when there is none. Errors: ErrNotAvailable in a session
// that cannot have one, ErrClosed, and that of ctx.
func (s *Session) ResetInterpreter(ctx context.Context) error {
	if s.peer != nil {
		return peerDo(ctx, s, func(ctx context.Context, p Peer) error { return p.ResetInterpreter(ctx) })
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	live, err := s.liveSession(ctx)
	if err == nil {
		ctx, cancel := s.untilClosing(ctx)
		defer cancel()
		err = live.ResetInterpreter(ctx)
	}
	if err != nil {
		return fmt.Errorf("reset interpreter: %w", err)
	}
	return nil
}

// keepsInterpreter reports whether the tier has live interpreters. One that was deferred says so with its first run.
func (t *tier) keepsInterpreter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.session.(LiveSession)
	return ok || t.session == nil && t.deferred
}
