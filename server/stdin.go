package server

import (
	"context"
	"errors"
	"io"
	"sync"
)

// stdinRoom is how much of the stdin of a run the server takes before the script reads: as much as a kernel pipe.
const stdinRoom = 64 << 10

// errStdinEnded is for who writes to a stdin that takes no more.
var errStdinEnded = errors.New("stdin has ended")

// A stdin is what a client writes and a script reads. One side writes, the other one reads.
type stdin struct {
	writing chan struct{} // holds one token: who has it may write, so that two writes do not mix

	mu   sync.Mutex
	buf  []byte
	end  error // what the script gets after buf; nil while more can come
	gone bool  // the run has ended: what is written goes nowhere
	more chan struct{}
	room chan struct{}
}

func newStdin() *stdin {
	return &stdin{writing: make(chan struct{}, 1), more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// write waits until the server has taken data, or ctx ends.
func (s *stdin) write(ctx context.Context, data []byte) error {
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.writing }()
	for {
		n, err := s.add(data)
		if data = data[n:]; err != nil || len(data) == 0 {
			return err
		}
		select {
		case <-s.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *stdin) add(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil || s.gone {
		return 0, errStdinEnded
	}
	n := min(len(data), stdinRoom-len(s.buf))
	s.buf = append(s.buf, data[:n]...)
	wake(s.more)
	return n, nil
}

// finish ends the stdin, with io.EOF or an error for the script. The first end counts.
func (s *stdin) finish(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = err
	}
	wake(s.more)
	wake(s.room)
}

// drop says that the run has ended.
func (s *stdin) drop() {
	s.mu.Lock()
	s.gone, s.buf = true, nil
	s.mu.Unlock()
	s.finish(io.EOF)
}

// Read implements io.Reader for the run.
func (s *stdin) Read(p []byte) (int, error) {
	for {
		n, err := s.take(p)
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		<-s.more
	}
}

func (s *stdin) take(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.buf) == 0 {
		if s.end != nil {
			wake(s.more) // for a next Read
		}
		return 0, s.end
	}
	n := copy(p, s.buf)
	s.buf = s.buf[:copy(s.buf, s.buf[n:])]
	wake(s.room)
	return n, nil
}

// wake puts a token into a channel that has room for one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
