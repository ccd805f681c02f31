package wasm

import (
	"sync/atomic"

	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
)

// base is what instances start from: an image, and the stack pointer that belongs to it. Who holds it releases it;
// the last one closes the image. It is safe for concurrent use.
type base struct {
	image   *cow.Image
	stack   uint64
	holders atomic.Int32
}

// newBase makes a base, which the caller holds.
func newBase(s *snapshot) (*base, error) {
	image, err := s.image()
	if err != nil {
		return nil, err
	}
	b := &base{image: image, stack: s.stack}
	return b.hold(), nil
}

// hold is for who has a holder's word that the base is still there.
func (b *base) hold() *base {
	b.holders.Add(1)
	return b
}

func (b *base) release() error {
	if b.holders.Add(-1) > 0 {
		return nil
	}
	return b.image.Close()
}
