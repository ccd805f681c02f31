package cow

import "testing"

// benchImage is about as large as the interpreter's, with as much that is hot.
func benchImage(b *testing.B) *Image {
	im := newTestImage(b, 640)
	im.SetHot([]Range{{1 << 20, 1<<20 + 640<<10}})
	return im
}

func BenchmarkNewMemory(b *testing.B) {
	im := benchImage(b)
	for b.Loop() {
		m, err := im.NewMemory(1<<32, 1<<32)
		if err != nil {
			b.Fatal(err)
		}
		m.Free()
	}
}

func BenchmarkReset(b *testing.B) {
	for _, tt := range []struct {
		name        string
		pages, step int
	}{
		{"nothing", 0, 1},
		{"100_pages", 100, 1},
		{"100_ranges", 100, 2},
		{"5000_pages", 5000, 1},
	} {
		b.Run(tt.name, func(b *testing.B) {
			m := newTestMemory(b, benchImage(b), 1<<32, 1<<32)
			for b.Loop() {
				touch(m, tt.pages, tt.step)
				if err := m.Reset(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
