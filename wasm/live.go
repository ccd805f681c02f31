package wasm

import (
	"context"
	"fmt"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// live is the interpreter of a session that stays from run to run: place. Runs take turns in it.
type live struct {
	session *session
	// turn holds one token, and all below belongs to who has it.
	turn chan struct{}
	seat *seat // nil: the next run makes one
	runs int
	// renew says that the interpreter is a copy whose randomness another one has too.
	renew bool
	world *liveWorld // what it was last made ready for; nil: that is not known
}

func (l *live) init(s *session) {
	l.session = s
	l.turn = make(chan struct{}, 1)
	l.turn <- struct{}{}
}

// enter waits for its turn.
func (l *live) enter(ctx context.Context, e *execution) (*seat, error) {
	select {
	case <-l.turn:
	case <-e.control.wake:
		return nil, e.control.unbegun()
	}
	if err := e.control.unbegun(); err != nil {
		l.turn <- struct{}{}
		return nil, err
	}
	if l.seat == nil {
		seat, err := l.start(ctx, e.spec)
		if err != nil {
			l.turn <- struct{}{}
			return nil, fmt.Errorf("%w: %w", engine.ErrNotStarted, err)
		}
		l.seat = seat
	}
	s := l.seat
	s.stdio.stdin, s.stdio.stdout, s.stdio.stderr = e.spec.Stdin, e.spec.Stdout, e.spec.Stderr
	s.world.use(e.control, s.instance)
	s.instance.memory.SetLimit(uint64(e.spec.Limits.Memory))
	return s, nil
}

// start makes the interpreter.
func (l *live) start(ctx context.Context, spec *engine.RunSpec) (*seat, error) {
	p, err := l.session.driver.loaded()
	if err != nil {
		return nil, err
	}
	from := l.session.from
	if from == nil {
		pool, err := l.session.pool(ctx, p, spec)
		if err != nil {
			return nil, err
		}
		from = pool.base
	}
	in, err := p.fresh(ctx, from)
	if err != nil {
		return nil, err
	}
	l.renew, l.world = l.session.from != nil, nil
	io := &stdio{}
	files := guestfs.RunConfig{TmpBytes: spec.Limits.Tmp, TmpFiles: spec.Limits.TmpFiles}
	seat := &seat{instance: in, stdio: io}
	seat.world = newWorld(in, l.session.files, files, wasi.Config{
		MaxFiles: spec.Limits.OpenFiles, CPUClock: seat.cpuClock(),
	}, io)
	return seat, nil
}

// cpuClock is the processor time of the run that is under way.
func (s *seat) cpuClock() func() time.Duration {
	if threadCPU() < 0 {
		return nil
	}
	return func() time.Duration { return s.world.run.control.cpu() }
}

func (l *live) leave(ctx context.Context, e *execution, s *seat, clean bool) {
	defer func() { l.turn <- struct{}{} }()
	if clean {
		s.stdio.stdin, s.stdio.stdout, s.stdio.stderr = nil, nil, nil
		return
	}
	e.exit.InterpreterLost = true
	l.drop(ctx)
}

// drop gives up the interpreter as it is.
func (l *live) drop(ctx context.Context) {
	s := l.seat
	l.seat = nil
	defer s.instance.close(ctx)
	s.world.close()
}

// finishGrace is how long an interpreter has for its own end: functions of atexit, files that are not flushed.
const finishGrace = 100 * time.Millisecond

// finish ends the interpreter in an orderly way.
func (l *live) finish(ctx context.Context) {
	if l.seat == nil {
		return
	}
	c := newControl()
	c.cpu = func() time.Duration { return 0 }
	l.seat.world.use(c, l.seat.instance)
	defer c.stopAfter(finishGrace)()
	guests.Add(1)
	defer guests.Add(-1)
	// What goes wrong in it has nowhere to go to.
	_, _ = l.seat.instance.finish.Call(l.seat.world.context(ctx))
	l.drop(ctx)
}

// close ends the interpreter. No run may be under way.
func (l *live) close(ctx context.Context) {
	<-l.turn
	l.finish(ctx)
	l.turn <- struct{}{}
}

// await takes the turn, or gives ctx's error.
func (l *live) await(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the live interpreter: %w", context.Cause(ctx))
	}
}

// ResetInterpreter implements engine.LiveSession.
func (s *session) ResetInterpreter(ctx context.Context) error {
	if err := s.live.await(ctx); err != nil {
		return err
	}
	s.live.finish(context.WithoutCancel(ctx))
	s.live.turn <- struct{}{}
	return nil
}

// Snapshot implements engine.LiveSession.
func (s *session) Snapshot(ctx context.Context) (engine.State, error) {
	if err := s.live.await(ctx); err != nil {
		return nil, err
	}
	defer func() { s.live.turn <- struct{}{} }()
	seat := s.live.seat
	if seat == nil {
		if s.from == nil {
			return nil, nil
		}
		return &state{base: s.from.hold()}, nil
	}
	if n := seat.world.env.Open(); n > 0 {
		return nil, fmt.Errorf("%w: it has %d open file(s), which a copy cannot have", engine.ErrBusy, n)
	}
	snap, err := capture(seat.instance)
	if err != nil {
		return nil, err
	}
	b, err := newBase(snap)
	if err != nil {
		return nil, err
	}
	return &state{base: b}, nil
}
