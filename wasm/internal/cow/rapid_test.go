package cow

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is done to a memory, it has what a plain slice would have, and nothing else has changed.
func TestMemory_Model(t *testing.T) {
	const pages, most = 4, 12
	im := newTestImage(t, pages)
	im.SetHot([]Range{{PageSize, 3 * PageSize}, {40 * PageSize, 42 * PageSize}})
	image := bytes.Clone(im.Bytes())
	bystander := newTestMemory(t, im, most*WasmPage, most*WasmPage)
	copy(content(bystander)[999:], "mine")
	kept := bytes.Clone(content(bystander))

	rapid.Check(t, func(t *rapid.T) {
		limit := uint64(rapid.IntRange(pages, most).Draw(t, "limit")) * WasmPage
		m, err := im.NewMemory(most*WasmPage, limit)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Free()
		model := bytes.Clone(image)
		refused := false
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				at := rapid.IntRange(0, len(model)-1).Draw(t, "at")
				data := rapid.SliceOfN(rapid.Byte(), 0, 3*PageSize).Draw(t, "data")
				copy(content(m)[at:], data)
				copy(model[at:], data)
			},
			"flood": func(*rapid.T) {
				clear(model)
				clear(content(m))
			},
			"grow": func(t *rapid.T) {
				size := uint64(rapid.IntRange(0, most+2).Draw(t, "pages")) * WasmPage
				got := m.Reallocate(size)
				switch {
				case size <= uint64(len(model)):
				case size > limit:
					if got != nil {
						t.Fatalf("Reallocate(%d) went past the limit of %d", size, limit)
					}
					refused = true
					return
				default:
					model = append(model, make([]byte, size-uint64(len(model)))...)
				}
				if len(got) != len(model) {
					t.Fatalf("Reallocate(%d) gave %d bytes, want %d", size, len(got), len(model))
				}
			},
			"limit": func(t *rapid.T) {
				limit = uint64(rapid.IntRange(0, most).Draw(t, "pages")) * WasmPage
				m.SetLimit(limit)
				refused = false
			},
			"reset": func(t *rapid.T) {
				if m.Grown() {
					t.Skip("a grown memory is not reset")
				}
				if err := m.Reset(); err != nil {
					t.Fatal(err)
				}
				copy(model, image)
			},
			"": func(t *rapid.T) {
				if at := differs(content(m), model); at >= 0 {
					t.Fatalf("the memory differs from the model at %d", at)
				}
				if m.Refused() != refused || m.Grown() != (len(model) > len(image)) || m.Size() != uint64(len(model)) {
					t.Fatalf("Refused() = %v, Grown() = %v, Size() = %d", m.Refused(), m.Grown(), m.Size())
				}
				if at := differs(im.Bytes(), image); at >= 0 {
					t.Fatalf("the image has changed at %d", at)
				}
			},
		})
		if at := differs(content(bystander), kept); at >= 0 {
			t.Fatalf("another memory has changed at %d", at)
		}
	})
}
