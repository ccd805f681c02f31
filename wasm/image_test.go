package wasm

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
)

func numbers(v ...uint64) []byte {
	var b []byte
	for _, n := range v {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func TestSnapshot_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &snapshot{size: uint64(rapid.IntRange(1, 8).Draw(t, "pages")) * cow.WasmPage}
		s.stack = rapid.Uint64Range(0, s.size).Draw(t, "stack")
		for range rapid.IntRange(0, 4).Draw(t, "ranges") {
			start := rapid.Uint64Range(0, s.size).Draw(t, "start")
			s.hot = append(s.hot, cow.Range{Start: start, End: rapid.Uint64Range(start, s.size).Draw(t, "end")})
		}
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			content := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes")
			s.pieces = append(s.pieces, cow.Piece{Offset: rapid.Uint64Range(0, s.size-100).Draw(t, "offset"), Bytes: content})
		}
		encoded := s.encode()
		if !bytes.Equal(encoded, s.encode()) {
			t.Fatal("encoded in two ways")
		}
		got, err := decodeSnapshot(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got, cmp.AllowUnexported(snapshot{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDecodeSnapshot_Refuses(t *testing.T) {
	const size = 2 * cow.WasmPage
	good := (&snapshot{size: size, stack: 100, hot: []cow.Range{{Start: 0, End: 4096}}, pieces: []cow.Piece{{Offset: 4096, Bytes: []byte("x")}}}).encode()
	if _, err := decodeSnapshot(good); err != nil {
		t.Fatalf("the row that the others differ from: %v", err)
	}
	tests := []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"part of a number", []byte{1, 2, 3}},
		{"no pieces", numbers(size, 0, 0)},
		{"cut in the ranges", good[:30]},
		{"cut in a piece's head", good[:len(good)-9]},
		{"cut in a piece", good[:len(good)-1]},
		{"more after the last piece", append(bytes.Clone(good), 0)},
		{"larger than a memory can be", append(numbers(maxMemory+cow.WasmPage, 0, 0, 0, 1), 'x')},
		{"stack outside", append(numbers(size, size+1, 0, 0, 1), 'x')},
		{"more ranges than there is room for", append(numbers(size, 0, 1<<60, 0, 1), 'x')},
		{"range backwards", append(numbers(size, 0, 1, 8192, 4096, 0, 1), 'x')},
		{"range outside", append(numbers(size, 0, 1, 0, size+1, 0, 1), 'x')},
		{"piece longer than the rest", append(numbers(size, 0, 0, 0, 2), 'x')},
		{"piece outside", append(numbers(size, 0, 0, size, 1), 'x')},
		{"piece whose end wraps", append(numbers(size, 0, 0, math.MaxUint64, 1), 'x')},
		{"piece of all lengths", append(numbers(size, 0, 0, 0, math.MaxUint64), 'x')},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if s, err := decodeSnapshot(tt.b); err == nil {
				t.Errorf("gives %d bytes with %d pieces", s.size, len(s.pieces))
			}
		})
	}
}

// Whatever is in the file, decoding ends in an error or in something an image can be made of, and takes
// no more memory than the file has.
func FuzzDecodeSnapshot(f *testing.F) {
	const size = cow.WasmPage
	f.Add((&snapshot{size: size, stack: 100, hot: []cow.Range{{Start: 0, End: 4096}}, pieces: []cow.Piece{{Offset: 4096, Bytes: []byte("x")}}}).encode())
	f.Add(append(numbers(size, 0, 1, 0, size, 0, 1), 'x'))
	f.Add(append(numbers(size, 0, 1<<60, 0, 1), 'x'))
	f.Add(append(numbers(size, 0, 0, math.MaxUint64, 1), 'x'))
	f.Add(numbers(maxMemory, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeSnapshot(b)
		if err != nil {
			return
		}
		if n := len(s.hot)*16 + len(s.pieces)*16 + 24; n > len(b) {
			t.Fatalf("%d ranges and %d pieces from %d bytes", len(s.hot), len(s.pieces), len(b))
		}
		if !bytes.Equal(s.encode(), b) {
			t.Fatal("encoded again it is something else")
		}
		if s.size > 1<<20 {
			return
		}
		im, err := s.image()
		if err != nil {
			return
		}
		defer im.Close()
		m, err := im.NewMemory(s.size, s.size)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Free()
		if err := m.Reset(); err != nil {
			t.Fatal(err)
		}
	})
}

// The image that is in use has what instances need.
func TestImage_Facts(t *testing.T) {
	p := shared(t).interpreter
	if p.pool.base.image.Size()%cow.WasmPage != 0 || p.pool.base.image.Size() >= MinMemory {
		t.Errorf("the image has %d bytes, the least memory is %d", p.pool.base.image.Size(), MinMemory)
	}
	if p.pool.base.stack == 0 || p.pool.base.stack%16 != 0 || p.pool.base.stack > p.pool.base.image.Size() {
		t.Errorf("stack pointer %d", p.pool.base.stack)
	}
	if hot := p.pool.base.image.HotBytes(); runtime.GOOS == "linux" && (hot == 0 || hot > 4<<20) {
		t.Errorf("%d bytes are hot", hot)
	}
	// What earlier calls left on the stack is not in the image.
	below := p.pool.base.image.Bytes()[:p.pool.base.stack/cow.PageSize*cow.PageSize]
	if n := bytes.Count(below, []byte{0}); n != len(below) {
		t.Errorf("%d bytes below the stack pointer are not zero", len(below)-n)
	}
}

// A snapshot of an instance, made into an image, has every byte at and above the stack pointer.
func TestCapture_Complete(t *testing.T) {
	p := shared(t).interpreter
	in, err := p.pool.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.close(t.Context())
	content, _ := in.module.Memory().Read(0, in.module.Memory().Size())
	for _, at := range []uint64{in.stack.Get(), in.stack.Get() + 1, uint64(len(content)) - 1, uint64(len(content))/2 + 1} {
		content[at] = 0xa5
	}
	for _, stack := range []uint64{in.stack.Get(), in.stack.Get() - 16, in.stack.Get() - cow.PageSize - 16} {
		content[stack] = 0x5a
		in.stack.Set(stack)
		s, err := capture(in)
		if err != nil {
			t.Fatal(err)
		}
		im, err := s.image()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(im.Bytes()[stack:], content[stack:]) {
			t.Errorf("with the stack pointer at %#x the image differs", stack)
		}
		if err := im.Close(); err != nil {
			t.Error(err)
		}
	}
}

// reset puts back all that an instance can change, whatever was done to it; one that has grown it refuses.
func TestInstance_Reset(t *testing.T) {
	p := shared(t).interpreter
	in, err := p.pool.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.close(t.Context())
	in.stack.Set(4096)
	in.counter.Set(1)
	content, _ := in.module.Memory().Read(0, in.module.Memory().Size())
	for at := 0; at < len(content); at += 100_003 {
		content[at] ^= 0xff
	}
	if err := in.reset(); err != nil {
		t.Fatal(err)
	}
	if in.stack.Get() != p.pool.base.stack || in.counter.Get() != tickBudget || !bytes.Equal(content, p.pool.base.image.Bytes()) {
		t.Errorf("stack pointer %d, counter %d; or the memory is not the image's", in.stack.Get(), in.counter.Get())
	}
	if _, ok := in.module.Memory().Grow(1); !ok {
		t.Fatal("memory does not grow")
	}
	if err := in.reset(); err == nil {
		t.Error("an instance whose memory has grown was reset")
	}
}
