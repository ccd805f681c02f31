package cow

import "unsafe"

// restore maps the image anew over [start, end): on macOS MADV_DONTNEED keeps the contents.
func (m *Memory) restore(start, end uint64) error {
	if start >= end {
		return nil
	}
	return m.image.mapAt(unsafe.Pointer(unsafe.SliceData(m.bytes)), start, end)
}
