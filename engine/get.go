package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// piece is how much of a file is copied between two looks at the context.
const piece = 1 << 20

// trusted is how much memory is set aside because a file says that it is so large. A sparse file says
// any size.
const trusted = 64 << 20

// GetBytes returns the content of a regular file. A file of more than most bytes is ErrTooLarge, and
// nothing of it is returned. Links are followed inside the work directory.
func (s *Session) GetBytes(ctx context.Context, path string, most int64) ([]byte, error) {
	var buf bytes.Buffer
	err := s.get(ctx, path, &buf, most, func(size int64) {
		buf.Grow(int(min(max(size, 0), trusted)) + bytes.MinRead) // ReadFrom asks for MinRead to see the end
	})
	if err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// GetWriter writes the content of a regular file to w. A file of more than most bytes is ErrTooLarge, and
// nothing is written, unless the file grows past it meanwhile. When ctx ends, GetWriter returns after the
// Write that is under way.
func (s *Session) GetWriter(ctx context.Context, path string, w io.Writer, most int64) error {
	return s.get(ctx, path, w, most, func(int64) {})
}

// get copies a file to w, after it has told sized how large it is.
func (s *Session) get(ctx context.Context, path string, w io.Writer, most int64, sized func(int64)) error {
	if most < 0 {
		return &InvalidError{"most", "is negative"}
	}
	if s.peer != nil {
		return peerDo(ctx, s, func(ctx context.Context, p Peer) error { return p.Get(ctx, path, w, most, sized) })
	}
	return s.fileCall(ctx, "get", path, true, func(p *place) error {
		f, size, err := p.openRegular()
		if err != nil {
			return err
		}
		defer f.Close()
		if size > most {
			return &TooLargeError{Path: path, Size: size, Max: most}
		}
		sized(size)
		return s.copyOut(ctx, w, f, path, most)
	})
}

// openRegular opens a regular file for reading. What is not one is not opened: to open a FIFO blocks, and
// to open a device can do something.
func (p *place) openRegular() (*os.File, int64, error) {
	if err := regular(p.info); err != nil {
		return nil, 0, err
	}
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|calmFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat() // it may be another file than the one that was looked at
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// regular tells why something is not a regular file.
func regular(info os.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrIsDirectory
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	return nil
}

// copyOut copies f to w, whatever size it has said to have, up to most bytes.
func (s *Session) copyOut(ctx context.Context, w io.Writer, f *os.File, path string, most int64) error {
	for left := most; ; {
		if err := s.under(ctx); err != nil {
			return err
		}
		n, err := io.CopyN(w, f, min(piece, left))
		left -= n
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil: // of w: a regular file on a local disk can be read
			return &callersError{err}
		case left == 0:
			return atEnd(f, path, most)
		}
	}
}

// atEnd returns TooLargeError if there is more to read after most bytes.
func atEnd(f *os.File, path string, most int64) error {
	n, err := f.Read(make([]byte, 1))
	if n > 0 {
		return &TooLargeError{Path: path, Size: most + 1, Max: most}
	}
	return ignoreEOF(err)
}

// under returns an error when a call must not go on.
func (s *Session) under(ctx context.Context) error {
	if s.closing.Err() != nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
