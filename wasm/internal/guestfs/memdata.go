package guestfs

import (
	"maps"

	"github.com/tetratelabs/wazero/experimental/sys"
)

const (
	chunkSize = 4096
	// maxMemFile is the size that no file in memory passes, in bytes. Holes cost nothing, so it is not the limit
	// of what a file may hold.
	maxMemFile = 1 << 40
)

// memData is the content of a file in memory: the chunks that were written, by their number. What lies between
// them reads as zeros and holds no memory. Each chunk is an allocation of its own, so that what is counted is what
// is held.
type memData struct {
	size   int64
	chunks map[int64]*[chunkSize]byte
	peak   int // the most chunks since the map was made; a map does not shrink
}

// read copies from off. It gives 0 at the end.
func (d *memData) read(buf []byte, off int64) int {
	if off >= d.size {
		return 0
	}
	buf = buf[:min(int64(len(buf)), d.size-off)]
	for n := 0; n < len(buf); {
		at := off + int64(n)
		piece := buf[n:min(len(buf), n+int(chunkSize-at%chunkSize))]
		if c := d.chunks[at/chunkSize]; c != nil {
			copy(piece, c[at%chunkSize:])
		} else {
			clear(piece)
		}
		n += len(piece)
	}
	return len(buf)
}

// write copies to off, as far as m has room and the file may grow. Like write(2) it writes a part, and gives an
// error only if there is none.
func (d *memData) write(m *memFS, buf []byte, off int64) (int, sys.Errno) {
	if off >= maxMemFile {
		return 0, eFBIG
	}
	buf = buf[:min(int64(len(buf)), maxMemFile-off)]
	n := 0
	for n < len(buf) {
		at := off + int64(n)
		c := d.chunks[at/chunkSize]
		if c == nil {
			if m.charge(chunkSize, 0) != 0 {
				break
			}
			c = d.grow(at / chunkSize)
		}
		n += copy(c[at%chunkSize:], buf[n:])
	}
	if n == 0 {
		return 0, eNOSPC
	}
	d.size = max(d.size, off+int64(n))
	return n, 0
}

func (d *memData) grow(number int64) *[chunkSize]byte {
	if d.chunks == nil {
		d.chunks = make(map[int64]*[chunkSize]byte)
	}
	c := new([chunkSize]byte)
	d.chunks[number] = c
	d.peak = max(d.peak, len(d.chunks))
	return c
}

// truncate sets the size and returns how many bytes of memory that has freed.
func (d *memData) truncate(size int64) (freed int64) {
	if size < d.size {
		first := (size + chunkSize - 1) / chunkSize
		for number := range d.chunks {
			if number >= first {
				delete(d.chunks, number)
				freed += chunkSize
			}
		}
		// What the last chunk holds past the end must not come back when the file grows.
		if c := d.chunks[size/chunkSize]; c != nil {
			clear(c[size%chunkSize:])
		}
		d.shrink()
	}
	d.size = size
	return freed
}

// shrink gives back the map's own memory, which would else stay as large as the file has ever been.
func (d *memData) shrink() {
	if len(d.chunks) > d.peak/2 {
		return
	}
	var chunks map[int64]*[chunkSize]byte
	if len(d.chunks) > 0 {
		chunks = make(map[int64]*[chunkSize]byte, len(d.chunks))
		maps.Copy(chunks, d.chunks)
	}
	d.chunks, d.peak = chunks, len(chunks)
}
