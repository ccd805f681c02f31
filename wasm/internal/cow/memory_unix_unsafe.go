//go:build linux || darwin

package cow

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserve maps the image over the start of a reservation of size bytes. What is above the image is
// address space only (PROT_NONE), until unlock.
func (im *Image) reserve(size uint64) ([]byte, error) {
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	if err := im.mapAt(base, 0, im.size); err != nil {
		_ = unix.MunmapPtr(base, uintptr(size))
		return nil, err
	}
	return unsafe.Slice((*byte)(base), size), nil
}

// mapAt maps [start, end) of the image, to be copied on write, into a reservation that begins at base.
func (im *Image) mapAt(base unsafe.Pointer, start, end uint64) error {
	_, err := unix.MmapPtr(int(im.file.Fd()), int64(start), unsafe.Add(base, start), uintptr(end-start),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	return os.NewSyscallError("mmap", err)
}

// grow makes bytes[:size] usable.
func (m *Memory) grow(size uint64) bool {
	if size <= m.usable {
		return true
	}
	if size > uint64(len(m.bytes)) {
		return false
	}
	// Guests grow by a page or two at a time: ask the kernel less often.
	const step = 64 * WasmPage
	usable := min((size+step-1)/step*step, uint64(len(m.bytes)))
	if unix.Mprotect(m.bytes[m.usable:usable:usable], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	m.usable = usable
	return true
}

func (m *Memory) release() {
	if m.bytes != nil {
		// An error can only mean that this was no mapping: there is nothing to be done about it.
		_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(m.bytes)), uintptr(len(m.bytes)))
	}
}
