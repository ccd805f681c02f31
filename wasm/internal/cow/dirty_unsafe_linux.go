package cow

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ioctl PAGEMAP_SCAN of /proc/self/pagemap and its categories, linux/fs.h, since Linux 6.7
// (Documentation/admin-guide/mm/pagemap.rst).
const (
	pagemapScan   = 0xc0606610
	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// pmScanArg is struct pm_scan_arg.
type pmScanArg struct {
	size, flags               uint64
	start, end, walkEnd       uint64
	vec, vecLen, maxPages     uint64
	inverted, mask, anyOf, of uint64
}

// pageRegion is struct page_region.
type pageRegion struct{ start, end, categories uint64 }

// maxRegions bounds how many separate ranges are looked at; a memory with more is reset as a whole. The
// kernel gives no more than 512 in one go: with room for more it goes on, but leaves walkEnd where the
// first part ended.
const maxRegions = 512

// openPagemap opens this process's page map, or gives nil.
func openPagemap() *os.File {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	return f
}

// dirty lists the ranges of the image that this memory has pages of its own for: those that are there, or
// swapped out, and are not the image's. It reports false when that cannot be learned, or is too much.
func (m *Memory) dirty() ([]Range, bool) {
	pagemap := m.image.pagemap
	if pagemap == nil {
		return nil, false
	}
	if m.regions == nil {
		m.regions = make([]pageRegion, maxRegions)
	}
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes))))
	arg := pmScanArg{
		start: base, end: base + m.image.size,
		vec: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.regions)))), vecLen: maxRegions,
		inverted: pageIsFile, mask: pageIsFile, anyOf: pageIsPresent | pageIsSwapped, of: pageIsFile,
	}
	arg.size = uint64(unsafe.Sizeof(arg))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 || arg.walkEnd != arg.end {
		return nil, false
	}
	m.ranges = m.ranges[:0]
	for _, r := range m.regions[:n] {
		m.ranges = append(m.ranges, Range{Start: r.start - base, End: r.end - base})
	}
	return m.ranges, true
}

// scan is what a Memory keeps for dirty.
type scan struct {
	regions []pageRegion
	ranges  []Range
}
