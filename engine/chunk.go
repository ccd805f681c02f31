package engine

import "sync"

// A stream starts with a small chunk, because most runs write a few lines, and goes on with large
// ones.
const (
	smallChunk = 2 << 10
	largeChunk = 64 << 10
)

// A chunk is a piece of a stream's buffer: data[r:] was written and not yet read.
type chunk struct {
	data []byte
	r    int
	next *chunk
}

var (
	smallChunks = sync.Pool{New: func() any { return &chunk{data: make([]byte, 0, smallChunk)} }}
	largeChunks = sync.Pool{New: func() any { return &chunk{data: make([]byte, 0, largeChunk)} }}
)

func newChunk(large bool) *chunk {
	if large {
		return largeChunks.Get().(*chunk)
	}
	return smallChunks.Get().(*chunk)
}

// free gives c back. Its bytes belong to one session's script; they stay in the array until the next
// owner writes over them, and no owner reads past what it wrote.
func (c *chunk) free() {
	c.data, c.r, c.next = c.data[:0], 0, nil
	if cap(c.data) == largeChunk {
		largeChunks.Put(c)
		return
	}
	smallChunks.Put(c)
}

// unread is what there is to read.
func (c *chunk) unread() []byte { return c.data[c.r:] }

// fill appends as much of p as there is room for and returns how much that is.
func (c *chunk) fill(p []byte) int {
	n := min(len(p), cap(c.data)-len(c.data))
	c.data = append(c.data, p[:n]...)
	return n
}
