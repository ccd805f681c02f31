package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
)

// snapshot is what an image is made from and what the cache stores: the linear memory of an interpreter
// that is ready to run a script, without the pages that are zero.
type snapshot struct {
	size   uint64 // of the linear memory, in bytes
	stack  uint64 // the stack pointer
	hot    []cow.Range
	pieces []cow.Piece
}

// capture takes a snapshot of an instance between two calls. What lies below the stack pointer is left
// over from earlier calls: it is left out.
func capture(in *instance) (*snapshot, error) {
	size := in.module.Memory().Size()
	content, ok := in.module.Memory().Read(0, size)
	if !ok {
		return nil, fmt.Errorf("capture image: memory of %d bytes not readable", size)
	}
	return snapshotOf(content, in.stack.Get()), nil
}

// snapshotOf makes a snapshot of a memory, whose bytes it keeps.
func snapshotOf(content []byte, stack uint64) *snapshot {
	s := &snapshot{size: uint64(len(content)), stack: stack}
	first := stack / cow.PageSize * cow.PageSize
	var zero [cow.PageSize]byte
	for at := first; at < s.size; at += cow.PageSize {
		page := content[at : at+cow.PageSize]
		if bytes.Equal(page, zero[:]) {
			continue
		}
		if n := len(s.pieces); n > 0 && s.pieces[n-1].Offset+uint64(len(s.pieces[n-1].Bytes)) == at {
			last := &s.pieces[n-1]
			last.Bytes = content[last.Offset : at+cow.PageSize]
			continue
		}
		s.pieces = append(s.pieces, cow.Piece{Offset: at, Bytes: page})
	}
	return s
}

// image makes what instances start from.
func (s *snapshot) image() (*cow.Image, error) {
	im, err := cow.NewImage(s.size, s.pieces)
	if err != nil {
		return nil, err
	}
	im.SetHot(s.hot)
	return im, nil
}

// encode gives the form that decodeSnapshot reads: all numbers are little-endian uint64.
func (s *snapshot) encode() []byte {
	n := 0
	for _, p := range s.pieces {
		n += len(p.Bytes) + 16
	}
	b := make([]byte, 0, n+16*len(s.hot)+64)
	for _, v := range []uint64{s.size, s.stack, uint64(len(s.hot))} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, r := range s.hot {
		b = binary.LittleEndian.AppendUint64(b, r.Start)
		b = binary.LittleEndian.AppendUint64(b, r.End)
	}
	for _, p := range s.pieces {
		b = binary.LittleEndian.AppendUint64(b, p.Offset)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p.Bytes)))
		b = append(b, p.Bytes...)
	}
	return b
}

var errBadSnapshot = errors.New("image file: not in the form that this version writes")

// decodeSnapshot reads what encode wrote. The pieces are parts of b.
func decodeSnapshot(b []byte) (*snapshot, error) {
	short := false
	next := func() (v uint64) {
		if len(b) < 8 {
			b, short = nil, true
			return 0
		}
		v, b = binary.LittleEndian.Uint64(b), b[8:]
		return v
	}
	s := &snapshot{size: next(), stack: next()}
	hot := next()
	if s.size > maxMemory || s.stack > s.size || hot > uint64(len(b))/16 {
		return nil, errBadSnapshot
	}
	for range hot {
		r := cow.Range{Start: next(), End: next()}
		if r.Start > r.End || r.End > s.size {
			return nil, errBadSnapshot
		}
		s.hot = append(s.hot, r)
	}
	for len(b) > 0 {
		offset, length := next(), next()
		if length > uint64(len(b)) || offset > s.size || length > s.size-offset {
			return nil, errBadSnapshot
		}
		s.pieces = append(s.pieces, cow.Piece{Offset: offset, Bytes: b[:length:length]})
		b = b[length:]
	}
	if short || len(s.pieces) == 0 {
		return nil, errBadSnapshot
	}
	return s, nil
}

// makeSnapshot starts the interpreter from nothing: its constructors, Python itself, and what scripts
// import most. in has a memory with the module's data and nothing else.
func makeSnapshot(ctx context.Context, in *instance) (*snapshot, error) {
	for _, step := range []string{"_initialize", "sandbar_init"} {
		result := [1]uint64{}
		if err := in.module.ExportedFunction(step).CallWithStack(ctx, result[:]); err != nil {
			return nil, fmt.Errorf("start interpreter: %s: %w", step, err)
		}
		if result[0] != 0 {
			return nil, fmt.Errorf("start interpreter: %s gave %d", step, result[0])
		}
	}
	return warm(ctx, in, warmRequest(warmUp, "", nil, nil))
}

// warm runs a source in an interpreter that has run nothing since its image was made, and takes a snapshot for a new image.
// With a cwd, the source finds the modules of a session.
func warm(ctx context.Context, in *instance, request []byte) (*snapshot, error) {
	code, err := in.call(ctx, in.warm, request)
	if err != nil || code != 0 {
		return nil, fmt.Errorf("warm interpreter: code %d: %w", code, err)
	}
	result := [1]uint64{}
	if err := in.module.ExportedFunction("sandbar_freeze").CallWithStack(ctx, result[:]); err != nil || result[0] != 0 {
		return nil, fmt.Errorf("freeze interpreter: code %d: %w", result[0], err)
	}
	return capture(in)
}
