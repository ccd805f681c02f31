package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// A Server has sessions for its clients. It is safe for concurrent use. Close ends it.
type Server struct {
	opts Options
	host Host
	log  *slog.Logger
	runs *queue

	// life ends when Close begins.
	life context.Context
	end  context.CancelFunc

	sessions  table[*session]
	snapshots table[*snapshot]

	mu       sync.Mutex
	draining bool
	closed   bool
	closing  sync.WaitGroup // the sweeper, and sessions and snapshots that are being made or ended: Close waits for them
}

// New makes a server that opens sessions by host. The caller closes it, and then the host.
func New(host Host, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	o := opts.filled()
	s := &Server{opts: o, host: host, log: o.Logger, runs: newQueue(o.Limits.Runs, o.Limits.QueuedRuns)}
	s.life, s.end = context.WithCancel(context.Background())
	s.sessions.init("sessions", o.Limits.Sessions)
	s.snapshots.init("snapshots", o.Limits.Snapshots)
	s.closing.Go(s.sweep)
	return s, nil
}

// Drain has the server take no more sessions and runs (engine.ErrDraining), and waits until the runs under way have
// ended, or ctx does. Everything else goes on working. Close is still to be called.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.runs.shut(engine.ErrDraining) // a run that was admitted before either waits by now, or is refused
	s.log.Info("draining")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if taken, queued := s.runs.lengths(); taken+queued == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("drain: %w", context.Cause(ctx))
		}
	}
}

// Draining reports whether Drain or Close was called.
func (s *Server) Draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// admit refuses what a draining server does not begin.
func (s *Server) admit() error {
	if s.Draining() {
		return engine.ErrDraining
	}
	return nil
}

// work counts what makes or ends a session or snapshot, until done. ErrDraining: Close has begun, and does that itself.
func (s *Server) work() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, engine.ErrDraining
	}
	s.closing.Add(1)
	return s.closing.Done, nil
}

// untilClose gives a context that ends with Close too, with ErrDraining as its cause.
func (s *Server) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(s.life, func() { cancel(engine.ErrDraining) })
	return ctx, func() {
		unhook()
		cancel(nil)
	}
}

// Close closes all sessions, which ends their runs, and waits until nothing of them is left. It may be called again.
func (s *Server) Close() error {
	s.mu.Lock()
	s.draining, s.closed = true, true
	s.mu.Unlock()
	s.runs.shut(engine.ErrDraining)
	s.end()
	var errs []error
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, se := range s.sessions.takeAll() {
		all.Go(func() {
			if err := s.closeSession(se, ClosedServer); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	all.Wait()
	for _, sn := range s.snapshots.takeAll() {
		errs = append(errs, s.closeSnapshot(sn))
	}
	s.closing.Wait()
	return errors.Join(errs...)
}

// sweepEvery is how often the server looks for what is not used any more.
const sweepEvery = time.Second

// sweep closes sessions and snapshots whose time has come.
func (s *Server) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.sweepAt(now)
		case <-s.life.Done():
			return
		}
	}
}

func (s *Server) sweepAt(now time.Time) {
	for _, se := range s.sessions.takeDue(now) {
		s.closing.Go(func() { _ = s.closeSession(se, se.use.whyDue(now)) }) // it is logged
	}
	for _, sn := range s.snapshots.takeDue(now) {
		s.closing.Go(func() {
			if err := s.closeSnapshot(sn); err != nil {
				s.log.Warn("snapshot not removed", slog.String("snapshot", sn.id), slog.Any("err", err))
			}
		})
	}
}
