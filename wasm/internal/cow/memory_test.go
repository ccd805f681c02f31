package cow

import (
	"bytes"
	"sync"
	"testing"
)

func TestMemory_StartsAsImage(t *testing.T) {
	im := newTestImage(t, 8)
	mustBeImage(t, newTestMemory(t, im, 0, 0))
	mustBeImage(t, newTestMemory(t, im, 1<<32, 1<<32))
}

func TestMemory_WritesStayInside(t *testing.T) {
	im := newTestImage(t, 8)
	before := bytes.Clone(im.Bytes())
	a, b := newTestMemory(t, im, 1<<30, 1<<30), newTestMemory(t, im, 1<<30, 1<<30)
	for i, p := 0, content(a); i < len(p); i++ {
		p[i] = ^p[i]
	}
	mustBeImage(t, b)
	mustBeImage(t, newTestMemory(t, im, 1<<30, 1<<30))
	if at := differs(im.Bytes(), before); at >= 0 {
		t.Errorf("the image has changed at %d", at)
	}
	if err := b.Reset(); err != nil {
		t.Fatal(err)
	}
	if p := content(a); p[100] == before[100] {
		t.Error("the reset of one memory changed another")
	}
}

func TestMemory_Reset(t *testing.T) {
	const pages = 64 // of 64 KiB: 1,024 of 4 KiB
	hot := []Range{{0, 3 * PageSize}, {100 * PageSize, 120 * PageSize}, {1023 * PageSize, 1024 * PageSize}}
	tests := []struct {
		name        string
		count, step int // of the pages that are written to
		kept        bool
	}{
		{"nothing written", 0, 1, true},
		{"one page", 1, 1, true},
		{"few pages", 20, 3, true},
		{"as many as are kept", keepPages / PageSize, 1, true},
		{"one more than is kept beside the hot ones", keepPages/PageSize + 25, 6, false},
		{"every other page", 512, 2, false},
		{"all", 1024, 1, false},
	}
	for _, tt := range tests {
		for _, ranges := range [][]Range{nil, hot} {
			for _, known := range []bool{true, false} {
				name := tt.name
				if ranges != nil {
					name += ", hot ranges"
				}
				if !known {
					name += ", no page map"
				}
				t.Run(name, func(t *testing.T) {
					im := newTestImage(t, pages)
					im.SetHot(ranges)
					if !known {
						withoutPagemap(t, im)
					}
					m := newTestMemory(t, im, 1<<30, 1<<30)
					for range 3 {
						touch(m, tt.count, tt.step)
						if err := m.Reset(); err != nil {
							t.Fatal(err)
						}
						mustBeImage(t, m)
						checkOwn(t, m, tt.kept && known)
					}
				})
			}
		}
	}
}

// checkOwn looks at how much memory of its own m has after Reset.
func checkOwn(t *testing.T, m *Memory, kept bool) {
	t.Helper()
	ranges, ok := m.dirty()
	if !ok {
		return
	}
	own, most := bytesIn(ranges), m.image.HotBytes()
	if kept {
		most += keepPages
	}
	if own > most {
		t.Errorf("after Reset the memory holds %d bytes of its own, want at most %d", own, most)
	}
}

// More separate ranges than are looked at: the memory is reset as a whole.
func TestMemory_ResetManyRanges(t *testing.T) {
	im := newTestImage(t, 160)
	m := newTestMemory(t, im, 1<<30, 1<<30)
	touch(m, 1200, 2)
	if err := m.Reset(); err != nil {
		t.Fatal(err)
	}
	mustBeImage(t, m)
}

func TestMemory_Grow(t *testing.T) {
	const size, limit = 2 * WasmPage, 200 * WasmPage
	im := newTestImage(t, 2)
	m := newTestMemory(t, im, limit, limit)
	if m.Grown() || m.Size() != size {
		t.Fatalf("new: Grown() = %v, Size() = %d", m.Grown(), m.Size())
	}
	had := size
	for _, pages := range []uint64{3, 4, 64, 65, 66, 200} {
		b := m.Reallocate(pages * WasmPage)
		if uint64(len(b)) != pages*WasmPage || cap(b) != len(b) {
			t.Fatalf("Reallocate(%d pages): %d bytes, capacity %d", pages, len(b), cap(b))
		}
		if at := differs(b[:size], im.Bytes()); at >= 0 {
			t.Fatalf("growing changed byte %d", at)
		}
		if at := differs(b[had:], make([]byte, len(b)-had)); at >= 0 {
			t.Fatalf("byte %d of what grew is not zero", at)
		}
		had = len(b)
		if !m.Grown() || m.Refused() || m.Size() != pages*WasmPage {
			t.Errorf("%d pages: Grown() = %v, Refused() = %v, Size() = %d", pages, m.Grown(), m.Refused(), m.Size())
		}
	}
}

func TestMemory_Limit(t *testing.T) {
	const size = 2 * WasmPage
	tests := []struct {
		name           string
		reserve, limit uint64
		ask            uint64
		refused        bool
	}{
		{"at the limit", 10 * WasmPage, 10 * WasmPage, 10 * WasmPage, false},
		{"past the limit", 10 * WasmPage, 5 * WasmPage, 6 * WasmPage, true},
		{"past the limit by less than a page", 10 * WasmPage, 6*WasmPage - 1, 6 * WasmPage, true},
		{"past the reservation", 10 * WasmPage, 1 << 40, 1 << 39, true},
		{"limit below the image", 10 * WasmPage, 1, size + WasmPage, true},
		{"what it has already, limit below the image", 10 * WasmPage, 1, size, false},
		{"less than it has", 10 * WasmPage, 1, WasmPage, false},
		{"nothing", 10 * WasmPage, 1, 0, false},
		{"the largest number", 10 * WasmPage, 1<<64 - 1, 1<<64 - 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reserve < tt.ask && !reserves {
				t.Skip("address space is not reserved here")
			}
			im := newTestImage(t, 2)
			m := newTestMemory(t, im, tt.reserve, tt.limit)
			b := m.Reallocate(tt.ask)
			if (b == nil) != tt.refused || m.Refused() != tt.refused {
				t.Errorf("Reallocate(%d) = %d bytes, Refused() = %v, want refused %v", tt.ask, len(b), m.Refused(), tt.refused)
			}
			if b != nil && uint64(len(b)) != max(tt.ask, size) {
				t.Errorf("Reallocate(%d) = %d bytes", tt.ask, len(b))
			}
			if tt.refused && (m.Size() != size || m.Grown()) {
				t.Errorf("refused, but Size() = %d", m.Size())
			}
			mustBeImage(t, newTestMemory(t, im, 0, 0))
		})
	}
}

func TestMemory_SetLimit(t *testing.T) {
	im := newTestImage(t, 2)
	m := newTestMemory(t, im, 10*WasmPage, 3*WasmPage)
	if m.Reallocate(4*WasmPage) != nil || !m.Refused() {
		t.Fatal("the first limit does not hold")
	}
	m.SetLimit(4 * WasmPage)
	if m.Refused() {
		t.Error("Refused() after SetLimit")
	}
	if m.Reallocate(4*WasmPage) == nil || m.Refused() {
		t.Error("the second limit was not taken")
	}
	m.SetLimit(3 * WasmPage)
	if got := m.Reallocate(4 * WasmPage); uint64(len(got)) != 4*WasmPage {
		t.Errorf("a lower limit took memory away: %d bytes are left", len(got))
	}
	if m.Reallocate(5*WasmPage) != nil || !m.Refused() {
		t.Error("the lower limit does not hold")
	}
}

func TestMemory_FreeTwice(t *testing.T) {
	m, err := newTestImage(t, 2).NewMemory(10*WasmPage, 10*WasmPage)
	if err != nil {
		t.Fatal(err)
	}
	m.Free()
	m.Free()
	if got := m.Reallocate(WasmPage); len(got) != 0 && reserves {
		t.Errorf("a freed memory gave %d bytes", len(got))
	}
}

// Memories of one image, each on a goroutine of its own, do not see each other.
func TestMemory_Hammer(t *testing.T) {
	im := newTestImage(t, 16)
	im.SetHot([]Range{{0, 8 * PageSize}})
	before := bytes.Clone(im.Bytes())
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				m, err := im.NewMemory(1<<30, 1<<30)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range 4 {
					touch(m, 1+(g*37+i*11+j*101)%256, 1)
					if err := m.Reset(); err != nil {
						t.Error(err)
					}
					if at := differs(content(m), before); at >= 0 {
						t.Errorf("goroutine %d: byte %d is not the image's", g, at)
					}
				}
				m.Reallocate(im.Size() + WasmPage)
				m.Free()
			}
		})
	}
	wg.Wait()
	if at := differs(im.Bytes(), before); at >= 0 {
		t.Errorf("the image has changed at %d", at)
	}
}
