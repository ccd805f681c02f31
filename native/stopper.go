package native

import (
	"sync"
	"syscall"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// stopper is the way from the first Stop of a run to its end by force. Its funcs are called with the lock held, and
// never once the run is over: what they signal may then be somebody else's.
type stopper struct {
	ask   func() // for an orderly end, once
	force func() // ends the run; may be called again

	mu      sync.Mutex
	asked   bool
	forced  bool
	over    bool
	timer   *time.Timer
	expires time.Time // when the timer fires
}

// stop is engine.DriverRun's Stop: the shortest grace counts. It reports whether the run goes on.
func (s *stopper) stop(grace time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	if !s.asked && grace > 0 {
		s.ask()
	}
	s.asked = true
	if grace <= 0 {
		s.forceLocked()
		return true
	}
	if expires := time.Now().Add(grace); s.timer == nil || expires.Before(s.expires) {
		if s.timer != nil {
			s.timer.Stop()
		}
		s.expires = expires
		s.timer = time.AfterFunc(grace, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.forceLocked()
		})
	}
	return true
}

func (s *stopper) forceLocked() {
	if s.over {
		return
	}
	s.forced = true
	s.force()
}

// unlessStopping calls f with the lock held, if the run goes on and nobody has asked for its end.
func (s *stopper) unlessStopping(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked && !s.over {
		f()
	}
}

// end says that the run is over, and tells how it was stopped.
func (s *stopper) end() (asked, forced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	return s.asked, s.forced
}

// orderly is the signal that a script is first asked with to end: in Python what it can catch as
// KeyboardInterrupt.
func orderly(t engine.ScriptType) syscall.Signal {
	if t == engine.Python {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}
