package engine

import (
	"bytes"
	"errors"
	"io"
	"math"
	"sync"
)

// window is how far a script may be ahead of the reader of a stream.
const window = 256 << 10

// A stream is the stdout or stderr of a run: the driver writes, at most one goroutine reads. It never
// loses order. What happens when nobody reads depends on who has claimed it:
//
//	nobody yet   keeps up to limit bytes, then the writer waits: nothing is lost by asking late
//	kept         keeps up to limit bytes, then drops: the script does not notice
//	streamed     keeps up to window bytes, then the writer waits for the reader: nothing is lost
//	closed       drops everything
//
// Once the run is being stopped the writer never waits: what does not fit is dropped.
type stream struct {
	limit  int64         // the most bytes to keep; negative for no limit
	budget *outputBudget // nil without Limits.Output

	mu       sync.Mutex
	readable sync.Cond // there are bytes, or none will come
	writable sync.Cond // the writer need not wait any more

	head, tail *chunk
	size       int64 // bytes in the chunks
	total      int64 // bytes that the script wrote
	readers    int   // claims for streaming
	kept       bool
	closed     bool
	stopped    bool
	ended      bool
	truncated  bool
	waiting    bool // the reader waits on readable
	blocked    bool // the writer waits on writable
}

func (s *stream) init(limit int64, budget *outputBudget) {
	s.limit, s.budget = limit, budget
	s.readable.L, s.writable.L = &s.mu, &s.mu
}

// Write implements io.Writer as RunSpec promises it: it returns len(p) and no error.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	admitted := s.budget.admit(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += int64(n)
	if len(admitted) < n {
		s.truncated = true
	}
	for p = admitted; len(p) > 0 && !s.closed && !s.ended; {
		room, wait := s.room()
		if room > 0 {
			k := int(min(room, int64(len(p))))
			s.store(p[:k])
			p = p[k:]
			continue
		}
		if !wait {
			s.truncated = true
			break
		}
		s.blocked = true
		s.writable.Wait()
	}
	return n, nil
}

// room tells how many bytes may be stored, and whether the writer waits when there is no room.
func (s *stream) room() (room int64, wait bool) {
	limit := s.limit
	switch {
	case s.readers > 0 && s.stopped:
		// The last words of a run that is being stopped are kept, but it cannot fill the memory with
		// them, whatever the limit of kept output is.
		if limit < 0 {
			limit = DefaultMaxOutput
		}
		limit = max(limit, window)
	case s.readers > 0:
		return window - s.size, true
	case !s.kept && !s.stopped:
		wait = true
	}
	if limit < 0 {
		limit = math.MaxInt64
	}
	return limit - s.size, wait
}

// store appends p to the chunks and wakes the reader.
func (s *stream) store(p []byte) {
	s.size += int64(len(p))
	for len(p) > 0 {
		if s.tail == nil || len(s.tail.data) == cap(s.tail.data) {
			s.grow(len(p))
		}
		p = p[s.tail.fill(p):]
	}
	if s.waiting {
		s.waiting = false
		s.readable.Broadcast()
	}
}

// grow adds a chunk: a small one if it is the first and n bytes fit.
func (s *stream) grow(n int) {
	c := newChunk(s.tail != nil || n > smallChunk)
	if s.tail == nil {
		s.head = c
	} else {
		s.tail.next = c
	}
	s.tail = c
}

// await waits until there are bytes to read. It returns io.EOF when none will come.
func (s *stream) await() error {
	for s.size == 0 {
		if s.closed {
			return io.ErrClosedPipe
		}
		if s.ended {
			return io.EOF
		}
		s.waiting = true
		s.readable.Wait()
	}
	return nil
}

// consume takes n bytes off the first chunk.
func (s *stream) consume(n int) {
	c := s.head
	c.r += n
	if c.r == len(c.data) {
		s.pop().free()
	}
	s.took(int64(n))
}

// pop takes the first chunk off.
func (s *stream) pop() *chunk {
	c := s.head
	s.head = c.next
	if s.head == nil {
		s.tail = nil
	}
	return c
}

// took notes that n bytes were read. A writer that waits is woken when half of the window is free and
// not at each byte, which would cost a switch of goroutines each time.
func (s *stream) took(n int64) {
	s.size -= n
	if s.blocked && s.size <= window/2 {
		s.wakeWriter()
	}
}

func (s *stream) wakeWriter() {
	s.blocked = false
	s.writable.Broadcast()
}

// read implements io.Reader.
func (s *stream) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.await(); err != nil {
		return 0, err
	}
	n := 0
	for n < len(p) && s.size > 0 {
		k := copy(p[n:], s.head.unread())
		s.consume(k)
		n += k
	}
	return n, nil
}

// writeTo implements io.WriterTo: it hands whole chunks to w, so that each byte is copied once.
func (s *stream) writeTo(w io.Writer) (int64, error) {
	var total int64
	for {
		c, err := s.next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		n, err := w.Write(c.unread())
		total += int64(n)
		if err == nil && n < len(c.unread()) {
			err = io.ErrShortWrite
		}
		c.free()
		if err != nil {
			return total, err
		}
	}
}

// next takes the first chunk.
func (s *stream) next() (*chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.await(); err != nil {
		return nil, err
	}
	c := s.pop()
	s.took(int64(len(c.unread())))
	return c, nil
}

// line returns the next line without its newline, and false when there is none. A line that is longer
// than most comes in pieces, so that a script that never ends its line cannot fill the memory.
func (s *stream) line(most int64) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var long []byte
	for {
		if err := s.await(); err != nil {
			return text(long), len(long) > 0
		}
		data := s.head.unread()
		room := int64(len(data))
		if most > 0 {
			room = min(room, most-int64(len(long)))
		}
		if i := bytes.IndexByte(data[:min(int64(len(data)), room+1)], '\n'); i >= 0 {
			str := text(append(long, data[:i]...))
			s.consume(i + 1)
			return str, true
		}
		if room == 0 {
			return text(long), true
		}
		long = append(long, data[:room]...)
		s.consume(int(room))
	}
}

// take returns everything that is kept, and forgets it. It returns nil for a stream that is streamed.
func (s *stream) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers > 0 || s.closed {
		return nil
	}
	out := make([]byte, 0, s.size)
	for s.head != nil {
		c := s.pop()
		out = append(out, c.unread()...)
		c.free()
	}
	s.took(s.size)
	return out
}

// claim counts a reader that streams.
func (s *stream) claim() {
	s.change(func() { s.readers++ })
}

// release ends a claim.
func (s *stream) release() {
	s.change(func() { s.readers-- })
}

// keep lets the script go on without a reader.
func (s *stream) keep() {
	s.change(func() { s.kept = true })
}

// stop lets the writer go on, because the run is being stopped.
func (s *stream) stop() {
	s.change(func() { s.stopped = true })
}

// end says that nothing more is written.
func (s *stream) end() {
	s.change(func() { s.ended = true })
}

// close drops what there is and what comes.
func (s *stream) close() {
	s.change(func() {
		s.closed = true
		for s.head != nil {
			s.pop().free()
		}
		s.size = 0
	})
}

// change alters the state and lets both sides look at it again.
func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.wakeWriter()
	s.waiting = false
	s.readable.Broadcast()
}

// written returns how much the script wrote, and whether some of it was dropped.
func (s *stream) written() (total int64, truncated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total, s.truncated
}
