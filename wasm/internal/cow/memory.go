package cow

import (
	"slices"

	"github.com/tetratelabs/wazero/experimental"
)

// Memory is the linear memory of one instance: wazero's experimental.LinearMemory. It is for one
// goroutine at a time.
type Memory struct {
	image   *Image
	bytes   []byte // the whole reservation; the instance sees bytes[:length]
	length  uint64
	usable  uint64 // how much of bytes may be touched
	limit   uint64
	refused bool
	scan
}

var _ experimental.LinearMemory = (*Memory)(nil)

// NewMemory makes a memory with the content of the image, which can grow to limit bytes. It reserves
// address space for reserve bytes, the most that SetLimit can ask for later. wazero calls Free when the
// instance is closed.
func (im *Image) NewMemory(reserve, limit uint64) (*Memory, error) {
	reserve = max(reserve, im.size)
	m := &Memory{image: im, length: im.size, usable: im.size, limit: limit}
	var err error
	if m.bytes, err = im.reserve(reserve); err != nil {
		return nil, err
	}
	m.copyFromImage(im.hot)
	return m, nil
}

// Reallocate implements experimental.LinearMemory. It never gives less than the image: the module's own
// minimum is what it had before the image was made. It gives nil when the limit would be passed; the
// guest's memory.grow then fails.
func (m *Memory) Reallocate(size uint64) []byte {
	if size <= m.length {
		return m.bytes[:m.length:m.length]
	}
	if size > m.limit || !m.grow(size) {
		m.refused = true
		return nil
	}
	m.length = size
	return m.bytes[:size:size]
}

// SetLimit sets how far the memory can grow, in bytes, and forgets that it was refused before.
func (m *Memory) SetLimit(limit uint64) { m.limit, m.refused = limit, false }

// Refused reports whether the memory could not grow since the limit was set.
func (m *Memory) Refused() bool { return m.refused }

// Size is the present size in bytes.
func (m *Memory) Size() uint64 { return m.length }

// Grown reports whether the memory is larger than the image. It cannot be reset then: wazero has no way
// to make an instance's memory smaller.
func (m *Memory) Grown() bool { return m.length > m.image.size }

// keepPages is how much memory of its own, beside the hot ranges, a memory may keep over Reset, in bytes.
const keepPages = 384 << 10

// Reset puts every byte back to what the image has. It must not be called after the memory has Grown.
//
// Where the kernel tells which pages the memory has of its own, and they are not too many, the image's
// bytes are copied over them; that costs neither page faults later nor flushes of the TLB. Else all but
// the hot ranges are given back to the kernel.
func (m *Memory) Reset() error {
	if dirty, ok := m.dirty(); ok && bytesIn(dirty) <= m.image.HotBytes()+keepPages {
		m.copyFromImage(dirty)
		return nil
	}
	var at uint64
	for _, hot := range m.image.hot {
		if err := m.restore(at, hot.Start); err != nil {
			return err
		}
		at = hot.End
	}
	if err := m.restore(at, m.image.size); err != nil {
		return err
	}
	m.copyFromImage(m.image.hot)
	return nil
}

// Dirty lists the ranges of the image that this memory has pages of its own for; nothing where that is
// not known.
func (m *Memory) Dirty() []Range {
	ranges, _ := m.dirty()
	return slices.Clone(ranges)
}

func (m *Memory) copyFromImage(ranges []Range) {
	for _, r := range ranges {
		copy(m.bytes[r.Start:r.End], m.image.view[r.Start:r.End])
	}
}

func bytesIn(ranges []Range) uint64 {
	var n uint64
	for _, r := range ranges {
		n += r.End - r.Start
	}
	return n
}

// Free implements experimental.LinearMemory. It may be called again.
func (m *Memory) Free() {
	m.release()
	m.bytes, m.length, m.usable = nil, 0, 0
}
