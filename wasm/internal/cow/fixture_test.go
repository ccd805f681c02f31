package cow

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// random gives n bytes that the seed decides.
func random(seed byte, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

// newTestImage makes an image of so many wasm pages, of which a third is zero.
func newTestImage(tb testing.TB, pages int) *Image {
	tb.Helper()
	size := pages * WasmPage
	third := size / 3
	im, err := NewImage(uint64(size), []Piece{
		{Offset: 5, Bytes: random(1, third)},
		{Offset: uint64(size - third), Bytes: random(2, third)},
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := im.Close(); err != nil {
			tb.Error(err)
		}
	})
	return im
}

func newTestMemory(tb testing.TB, im *Image, reserve, limit uint64) *Memory {
	tb.Helper()
	m, err := im.NewMemory(reserve, limit)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.Free)
	return m
}

// content is the memory as the guest sees it.
func content(m *Memory) []byte { return m.Reallocate(m.Size()) }

// touch writes one byte into each of n pages, every-th page apart.
func touch(m *Memory, n, every int) {
	b := content(m)
	for i := range n {
		b[i*every*PageSize+17] ^= 0xff
	}
}

// differs is the first offset at which a and b differ, or -1.
func differs(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

func mustBeImage(tb testing.TB, m *Memory) {
	tb.Helper()
	if at := differs(content(m), m.image.Bytes()); at >= 0 {
		tb.Fatalf("the memory differs from the image at %d", at)
	}
}
