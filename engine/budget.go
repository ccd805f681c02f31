package engine

import (
	"sync"
	"sync/atomic"
)

// An outputBudget is Limits.Output of one run: both streams draw on it. A nil one has no limit.
type outputBudget struct {
	limit int64
	used  atomic.Int64
	// spent is called once, on a goroutine of its own: the writer may hold a lock of the driver that
	// ending the run needs.
	spent func()
	once  sync.Once
}

// admit returns the part of p that is within the limit.
func (b *outputBudget) admit(p []byte) []byte {
	if b == nil {
		return p
	}
	over := b.used.Add(int64(len(p))) - b.limit
	if over <= 0 {
		return p
	}
	b.once.Do(func() { go b.spent() })
	return p[:max(0, int64(len(p))-over)]
}
