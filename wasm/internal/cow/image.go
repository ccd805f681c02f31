// Package cow gives WebAssembly instances linear memories that start as copies of one image without
// being copied: on Linux and macOS each is a private mapping of the image, and the kernel copies the
// pages that the instance writes to. Elsewhere the image is copied.
package cow

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// PageSize is the unit in which images are stored and memories copied, in bytes. It is the page size of
// most kernels; where theirs is larger, ranges are widened to it.
const PageSize = 4096

// WasmPage is the unit in which a linear memory grows, in bytes.
const WasmPage = 65536

// Piece is a run of bytes at an offset in a linear memory.
type Piece struct {
	Offset uint64
	Bytes  []byte
}

// Range is a part of a linear memory, [Start, End).
type Range struct{ Start, End uint64 }

// Image is a content that memories start from. It does not change, and is safe for concurrent use.
type Image struct {
	size    uint64
	hot     []Range
	pagemap *os.File // nil where the kernel does not tell which pages a memory has of its own
	backing
}

// NewImage makes an image of size bytes that is zero but for the pieces, which are copied. Size must be
// a multiple of WasmPage. The caller closes it, after the memories that were made from it.
func NewImage(size uint64, pieces []Piece) (*Image, error) {
	if size == 0 || size%WasmPage != 0 {
		return nil, fmt.Errorf("image of %d bytes: not a number of wasm pages", size)
	}
	for _, p := range pieces {
		if p.Offset > size || uint64(len(p.Bytes)) > size-p.Offset {
			return nil, fmt.Errorf("piece of %d bytes at %d: outside an image of %d bytes", len(p.Bytes), p.Offset, size)
		}
	}
	b, err := newBacking(size, pieces)
	if err != nil {
		return nil, fmt.Errorf("image of %d bytes: %w", size, err)
	}
	return &Image{size: size, pagemap: openPagemap(), backing: b}, nil
}

// Size is the size of the image in bytes.
func (im *Image) Size() uint64 { return im.size }

// Close releases the image. No memory made from it may be in use or be reset afterwards.
func (im *Image) Close() error {
	var err error
	if im.pagemap != nil {
		err = im.pagemap.Close()
		im.pagemap = nil
	}
	return errors.Join(err, im.close())
}

// SetHot tells which ranges nearly every instance writes to. A new memory gets its own pages there at
// once, and keeps them over Reset, so that its user has no page faults. It must be called before any
// memory is made. Ranges outside the image are cut.
func (im *Image) SetHot(ranges []Range) {
	unit := uint64(kernelPage())
	hot := make([]Range, 0, len(ranges))
	for _, r := range ranges {
		r.Start = r.Start / unit * unit
		r.End = (min(r.End, im.size) + unit - 1) / unit * unit // the size is a multiple of the unit
		if r.Start < r.End {
			hot = append(hot, r)
		}
	}
	slices.SortFunc(hot, func(a, b Range) int {
		if a.Start < b.Start {
			return -1
		}
		return 1
	})
	merged := hot[:0]
	for _, r := range hot {
		if n := len(merged); n > 0 && merged[n-1].End >= r.Start {
			merged[n-1].End = max(merged[n-1].End, r.End)
			continue
		}
		merged = append(merged, r)
	}
	im.hot = merged
}

// Hot gives the ranges that SetHot was told, widened to pages.
func (im *Image) Hot() []Range { return slices.Clone(im.hot) }

// HotBytes is how much memory the hot ranges take in each memory.
func (im *Image) HotBytes() uint64 { return bytesIn(im.hot) }
