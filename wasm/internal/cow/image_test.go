package cow

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

func TestImage_Content(t *testing.T) {
	im, err := NewImage(2*WasmPage, []Piece{
		{Offset: 10, Bytes: []byte("first")},
		{Offset: 12, Bytes: []byte("later wins")},
		{Offset: WasmPage - 2, Bytes: []byte("across")},
		{Offset: 2*WasmPage - 3, Bytes: []byte("end")},
		{Offset: 2 * WasmPage, Bytes: nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	want := make([]byte, 2*WasmPage)
	copy(want[10:], "filater wins")
	copy(want[WasmPage-2:], "across")
	copy(want[2*WasmPage-3:], "end")
	if at := differs(im.Bytes(), want); at >= 0 {
		t.Errorf("the image differs at %d", at)
	}
	if im.Size() != 2*WasmPage {
		t.Errorf("Size() = %d", im.Size())
	}
}

func TestImage_PiecesAreCopied(t *testing.T) {
	piece := []byte("before")
	im, err := NewImage(WasmPage, []Piece{{Bytes: piece}})
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	copy(piece, "after!")
	if got := im.Bytes()[:6]; !bytes.Equal(got, []byte("before")) {
		t.Errorf("the image has %q", got)
	}
}

func TestNewImage_Refuses(t *testing.T) {
	tests := []struct {
		name   string
		size   uint64
		pieces []Piece
	}{
		{"no size", 0, nil},
		{"part of a page", WasmPage + PageSize, nil},
		{"one byte", 1, nil},
		{"more than a file can have", 1 << 63, nil},
		{"piece past the end", WasmPage, []Piece{{Offset: WasmPage - 1, Bytes: []byte("ab")}}},
		{"piece beyond the end", WasmPage, []Piece{{Offset: WasmPage + 1}}},
		{"piece whose end wraps", WasmPage, []Piece{{Offset: math.MaxUint64, Bytes: []byte("ab")}}},
		{"good piece, then a bad one", WasmPage, []Piece{{Bytes: []byte("a")}, {Offset: WasmPage, Bytes: []byte("a")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := fds(t)
			im, err := NewImage(tt.size, tt.pieces)
			if err == nil {
				im.Close()
				t.Fatal("no error")
			}
			if after := fds(t); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

func TestImage_SetHot(t *testing.T) {
	const page = PageSize
	if kernelPage() != page {
		t.Skip("the kernel's pages have another size")
	}
	const size = 4 * WasmPage
	tests := []struct {
		name     string
		in, want []Range
	}{
		{"none", nil, nil},
		{"one page", []Range{{page, 2 * page}}, []Range{{page, 2 * page}}},
		{"widened", []Range{{page + 1, page + 2}}, []Range{{page, 2 * page}}},
		{"out of order", []Range{{9 * page, 10 * page}, {0, page}}, []Range{{0, page}, {9 * page, 10 * page}}},
		{"touching", []Range{{0, page}, {page, 2 * page}}, []Range{{0, 2 * page}}},
		{"touching when widened", []Range{{0, page - 5}, {page + 5, page + 6}}, []Range{{0, 2 * page}}},
		{"overlapping", []Range{{0, 5 * page}, {2 * page, 9 * page}}, []Range{{0, 9 * page}}},
		{"inside another", []Range{{0, 9 * page}, {2 * page, 3 * page}}, []Range{{0, 9 * page}}},
		{"twice", []Range{{page, 2 * page}, {page, 2 * page}}, []Range{{page, 2 * page}}},
		{"cut", []Range{{size - page, size + 9*page}}, []Range{{size - page, size}}},
		{"cut, end near the largest number", []Range{{size - page, math.MaxUint64}}, []Range{{size - page, size}}},
		{"outside", []Range{{size, size + page}, {math.MaxUint64 - page, math.MaxUint64}}, nil},
		{"empty", []Range{{page, page}}, nil},
		{"backwards", []Range{{5 * page, page}}, nil},
		{"all", []Range{{0, size}}, []Range{{0, size}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			im := newTestImage(t, 4)
			given := slices.Clone(tt.in)
			im.SetHot(tt.in)
			if !slices.Equal(im.hot, tt.want) {
				t.Errorf("SetHot(%v) gives %v, want %v", tt.in, im.hot, tt.want)
			}
			if !slices.Equal(tt.in, given) {
				t.Errorf("SetHot changed what it was given to %v", tt.in)
			}
			if im.HotBytes() != bytesIn(tt.want) {
				t.Errorf("HotBytes() = %d", im.HotBytes())
			}
			m := newTestMemory(t, im, size, size)
			mustBeImage(t, m)
			touch(m, size/PageSize, 1)
			if err := m.Reset(); err != nil {
				t.Fatal(err)
			}
			mustBeImage(t, m)
		})
	}
}
