package engine

import (
	"context"
	"errors"
	"io"
)

// A source gives what is put, in pieces that are ready in memory. The last one is marked; it may be empty.
type source interface {
	next(ctx context.Context) (data []byte, last bool, err error)
}

// memorySource is content that is there.
type memorySource struct{ data []byte }

func (s *memorySource) next(ctx context.Context) ([]byte, bool, error) {
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	n := min(len(s.data), piece)
	data := s.data[:n]
	s.data = s.data[n:]
	return data, len(s.data) == 0, nil
}

// readerSource is content that a reader gives, which may block.
type readerSource struct {
	in  *readerStdin
	buf []byte
}

func (s *readerSource) next(ctx context.Context) ([]byte, bool, error) {
	s.buf = s.buf[:0]
	for len(s.buf) < piece {
		if ctx.Err() != nil { // a reader that never blocks would not look at it
			return nil, false, context.Cause(ctx)
		}
		if cap(s.buf)-len(s.buf) < stdinBuffer {
			s.buf = append(s.buf, make([]byte, stdinBuffer)...)[:len(s.buf)]
		}
		n, err := s.in.Read(s.buf[len(s.buf):min(cap(s.buf), piece)], ctx.Done())
		s.buf = s.buf[:len(s.buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return s.buf, true, nil
		case errors.Is(err, ErrInterrupted):
			return nil, false, context.Cause(ctx)
		case err != nil:
			return nil, false, &callersError{err}
		}
	}
	return s.buf, false, nil
}
