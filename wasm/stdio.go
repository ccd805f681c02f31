package wasm

import (
	"io"

	"github.com/sandbar-dev/sandbar/engine"
)

// stdio are the streams of a world. They are changed between runs, or on the guest's goroutine.
type stdio struct {
	stdin          engine.Stdin
	stdout, stderr io.Writer
}

// Read implements wasi.Stdin. No stdin is at its end.
func (s *stdio) Read(p []byte, cancel <-chan struct{}) (int, error) {
	if s.stdin == nil {
		return 0, io.EOF
	}
	return s.stdin.Read(p, cancel)
}

// Wait implements wasi.Stdin.
func (s *stdio) Wait(cancel <-chan struct{}) error {
	if s.stdin == nil {
		return nil
	}
	return s.stdin.Wait(cancel)
}

// writer is one of the output streams, as it is at the moment.
type writer struct{ to *io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if *w.to == nil {
		return len(p), nil
	}
	return (*w.to).Write(p)
}

// maxHeld is how much a heldOutput keeps, in bytes: what the parser warns of, as long as it is not known where the script
// runs. More is dropped.
const maxHeld = 1 << 20

// heldOutput keeps what is written to it.
type heldOutput struct{ b []byte }

func (h *heldOutput) Write(p []byte) (int, error) {
	h.b = append(h.b, p[:min(len(p), maxHeld-len(h.b))]...)
	return len(p), nil
}

// flush writes what was kept.
func (h *heldOutput) flush(to io.Writer) {
	if len(h.b) > 0 {
		_, _ = to.Write(h.b)
	}
}
