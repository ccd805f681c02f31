package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// How long a stopped run may take before sandbar ends without it. The engine's own grace is shorter; these
// are for when it does not keep to it.
const (
	lastResort      = 3 * time.Second
	lastResortAgain = 500 * time.Millisecond
)

// A stopper ends the run for signals and for output that nobody reads. The first signal stops it in an
// orderly way, so that Python sees KeyboardInterrupt and can clean up; the second one kills it.
type stopper struct {
	ctx     context.Context // ended by the first reason to stop; context.Cause tells it, an *exitError
	cancel  context.CancelCauseFunc
	signals chan os.Signal
	done    chan struct{}

	mu   sync.Mutex
	kill func() // ends the run at once; nil before it has begun
}

// stopSignals are the signals that stop a run, with the exit code of each.
var stopSignals = map[os.Signal]int{
	os.Interrupt:    exitInterrupted,
	syscall.SIGTERM: exitTerminated,
	syscall.SIGHUP:  128 + 1,
}

// newStopper watches until close.
func newStopper(parent context.Context) *stopper {
	s := &stopper{signals: make(chan os.Signal, 2), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(parent)
	for sig := range stopSignals {
		// nohup, and a shell's background job, have set some to be ignored: leave it so.
		if !signal.Ignored(sig) {
			signal.Notify(s.signals, sig)
		}
	}
	// With SIGPIPE caught, a write to a closed pipe returns EPIPE instead of ending the process, and the
	// session can be closed. Ignoring it would do that too, but children would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go s.watch()
	return s
}

func (s *stopper) watch() {
	select {
	case <-s.done:
		return
	case sig := <-s.signals:
		s.stop(&exitError{code: stopSignals[sig]})
	case <-s.ctx.Done(): // the reader of the output went away
	}
	exit := time.NewTimer(lastResort)
	defer exit.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-s.signals:
			s.killNow()
			exit.Reset(lastResortAgain)
		case <-exit.C:
			os.Exit(s.code())
		}
	}
}

// stop ends the run in an orderly way. The first reason counts.
func (s *stopper) stop(reason *exitError) { s.cancel(reason) }

// reason returns why the run was stopped, or nil.
func (s *stopper) reason() *exitError {
	if exit, ok := context.Cause(s.ctx).(*exitError); ok { //nolint:errorlint // it is put there by stop, never wrapped
		return exit
	}
	return nil
}

func (s *stopper) code() int {
	if exit := s.reason(); exit != nil {
		return exit.code
	}
	return exitFailed
}

// onKill sets what the second signal does.
func (s *stopper) onKill(kill func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill = kill
}

func (s *stopper) killNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kill != nil {
		s.kill()
	}
}

// close ends the watch. Signals have their usual effect again.
func (s *stopper) close() {
	signal.Stop(s.signals)
	close(s.done)
	s.cancel(nil)
}
