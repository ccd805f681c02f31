//go:build !linux && !darwin

package cow

func kernelPage() int { return PageSize }

// backing is the image as ordinary memory: each Memory is a copy.
type backing struct{ view []byte }

func newBacking(size uint64, pieces []Piece) (backing, error) {
	b := backing{view: make([]byte, size)}
	for _, p := range pieces {
		copy(b.view[p.Offset:], p.Bytes)
	}
	return b, nil
}

func (b *backing) close() error { b.view = nil; return nil }

// Bytes is the whole content, to be read only.
func (im *Image) Bytes() []byte { return im.view }

// reserve makes a copy; growing copies again.
func (im *Image) reserve(uint64) ([]byte, error) {
	bytes := make([]byte, im.size)
	copy(bytes, im.view)
	return bytes, nil
}

// grow makes bytes[:size] usable: where mappings cannot be reserved, by copying.
func (m *Memory) grow(size uint64) bool {
	if size > uint64(len(m.bytes)) {
		bytes := make([]byte, max(size, min(uint64(len(m.bytes))*5/4, m.limit)))
		copy(bytes, m.bytes[:m.length])
		m.bytes = bytes
	}
	return true
}

func (m *Memory) restore(start, end uint64) error {
	copy(m.bytes[start:end], m.image.view[start:end])
	return nil
}

func (m *Memory) release() {}
