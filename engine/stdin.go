package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// noStdin is at its end from the start.
type noStdin struct{}

func (noStdin) Read([]byte, <-chan struct{}) (int, error) { return 0, io.EOF }
func (noStdin) Wait(<-chan struct{}) error                { return nil }

// AtEnd tells a driver that there is nothing to wait for.
func (noStdin) AtEnd() bool { return true }

// stdinBuffer is how much is read at once from RunOptions.Stdin.
const stdinBuffer = 32 << 10

// contentBuffer is how much is read at once from the reader of PutReader, when it has that much to give.
const contentBuffer = 256 << 10

// readerStdin is RunOptions.Stdin. The reader is asked when the script asks, on another goroutine, so
// that a run can end while the reader blocks. What a read brought after its waiter had gone is kept for
// the next one.
type readerStdin struct {
	r      io.Reader
	memory bool // Read cannot block: no goroutine is needed
	most   int  // buf grows up to this while reads fill it
	buf    []byte
	unread []byte
	filled bool // the last read has filled buf
	err    error
	flight chan fetched // the read under way, or nil
}

// newReaderContent is for content that is put: it may be large.
func newReaderContent(r io.Reader) *readerStdin {
	s := newReaderStdin(r)
	s.most = contentBuffer
	return s
}

type fetched struct {
	n   int
	err error
}

func newReaderStdin(r io.Reader) *readerStdin {
	s := &readerStdin{r: r, most: stdinBuffer}
	switch r.(type) {
	case *bytes.Reader, *bytes.Buffer, *strings.Reader:
		s.memory = true
	}
	return s
}

func (s *readerStdin) Read(p []byte, cancel <-chan struct{}) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.Wait(cancel); err != nil {
		return 0, err
	}
	if len(s.unread) == 0 {
		return 0, s.err
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

func (s *readerStdin) Wait(cancel <-chan struct{}) error {
	if len(s.unread) > 0 || s.err != nil {
		return nil
	}
	switch {
	case s.buf == nil:
		s.buf = make([]byte, stdinBuffer)
	case s.filled && len(s.buf) < s.most:
		s.buf = make([]byte, 2*len(s.buf))
	}
	if s.memory {
		s.arrived(fetch(s.r, s.buf))
		return nil
	}
	if s.flight == nil {
		s.flight = make(chan fetched, 1)
		go func(r io.Reader, buf []byte, done chan<- fetched) {
			done <- fetch(r, buf)
		}(s.r, s.buf, s.flight)
	}
	select {
	case f := <-s.flight:
		s.flight = nil
		s.arrived(f)
		return nil
	case <-cancel:
		return ErrInterrupted
	}
}

func (s *readerStdin) arrived(f fetched) {
	s.unread, s.err, s.filled = s.buf[:f.n], f.err, f.n == len(s.buf)
}

// fetch reads once. A reader may give nothing and no error a few times; bufio has the same bound.
func fetch(r io.Reader, buf []byte) fetched {
	for range 100 {
		n, err := r.Read(buf)
		if n > 0 || err != nil {
			return fetched{n, err}
		}
	}
	return fetched{0, io.ErrNoProgress}
}

// patientReader reads from a caller's reader until cancel is closed. Errors of the reader are *callersErrors.
type patientReader struct {
	in     *readerStdin
	cancel <-chan struct{}
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p, r.cancel)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrInterrupted) {
		err = &callersError{err}
	}
	return n, err
}
