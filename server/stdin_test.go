package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// What several clients write arrives whole: the bytes of one write are together, and none is lost.
func TestStdin_Hammer(t *testing.T) {
	s := newStdin()
	const writers, each = 8, 50
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range each {
				if err := s.write(t.Context(), bytes.Repeat([]byte{byte(i)}, 3000)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		all.Wait()
		s.finish(io.EOF)
	}()
	got, err := io.ReadAll(s)
	if err != nil || len(got) != writers*each*3000 {
		t.Fatalf("%d bytes, %v; want %d", len(got), err, writers*each*3000)
	}
	for piece := range slices.Chunk(got, 3000) {
		if !bytes.Equal(piece, bytes.Repeat(piece[:1], 3000)) {
			t.Fatal("two writes are mixed")
		}
	}
}

// A write waits while 64 KiB are unread, for as long as its context, the stdin and the run last.
func TestStdin_WriteWaits(t *testing.T) {
	gone := errors.New("gone")
	for name, test := range map[string]struct {
		end  func(*stdin, context.CancelCauseFunc)
		want error
	}{
		"context": {func(_ *stdin, cancel context.CancelCauseFunc) { cancel(gone) }, gone},
		"end":     {func(s *stdin, _ context.CancelCauseFunc) { s.finish(io.EOF) }, errStdinEnded},
		"run":     {func(s *stdin, _ context.CancelCauseFunc) { s.drop() }, errStdinEnded},
		"read": {func(s *stdin, _ context.CancelCauseFunc) {
			if n, err := io.ReadFull(s, make([]byte, 1)); n != 1 || err != nil {
				t.Error(n, err)
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				s := newStdin()
				done := make(chan error, 2)
				go func() { done <- s.write(ctx, make([]byte, stdinRoom+1)) }()
				synctest.Wait()
				second := make(chan error, 1)
				go func() { second <- s.write(ctx, nil) }() // it waits for the first one
				synctest.Wait()
				if len(done)+len(second) != 0 || len(s.buf) != stdinRoom {
					t.Fatalf("a write has returned while %d bytes are unread", len(s.buf))
				}
				test.end(s, cancel)
				if err := <-done; !errors.Is(err, test.want) {
					t.Errorf("write = %v, want %v", err, test.want)
				}
				if err := <-second; err != nil && !errors.Is(err, test.want) {
					t.Errorf("the second write = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// The first end counts, comes after what was written, and comes again.
func TestStdin_End(t *testing.T) {
	s := newStdin()
	broken := errors.New("broken")
	if err := s.write(t.Context(), []byte("abc")); err != nil {
		t.Fatal(err)
	}
	s.finish(broken)
	s.finish(io.EOF)
	if err := s.write(t.Context(), []byte("d")); !errors.Is(err, errStdinEnded) {
		t.Errorf("write after the end = %v, want %v", err, errStdinEnded)
	}
	for range 2 {
		got, err := io.ReadAll(s)
		if !errors.Is(err, broken) {
			t.Errorf("read = %q, %v, want %v", got, err, broken)
		}
	}
	s.drop()
	if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, broken) {
		t.Errorf("read after the run = %d, %v, want %v", n, err, broken)
	}
}
