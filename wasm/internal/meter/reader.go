package meter

import (
	"fmt"
	"unicode/utf8"
)

// reader reads the binary format from b[pos:end]. It keeps the first error and then stands at its end, so callers
// check err once per loop, not after each read.
type reader struct {
	b        []byte
	pos, end int
	section  string // For errors.
	err      error  // An *Error.
}

// fail notes an error at an offset unless there is one already.
func (r *reader) fail(kind error, offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Kind: kind, Section: r.section, Offset: offset, Cause: fmt.Sprintf(format, args...)}
	}
	r.pos = r.end
}

func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.fail(ErrMalformed, r.pos, "unexpected end")
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

// zero reads a byte that the format reserves.
func (r *reader) zero() {
	at := r.pos
	if c := r.byte(); c != 0 {
		r.fail(ErrMalformed, at, "reserved byte is %#x", c)
	}
}

// take returns the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.end-r.pos) {
		r.fail(ErrMalformed, r.pos, "length %d exceeds the %d bytes left", n, r.end-r.pos)
		return nil
	}
	s := r.b[r.pos : r.pos+int(n) : r.pos+int(n)]
	r.pos += int(n)
	return s
}

// u32 reads an unsigned LEB128. The short form is apart so that it can be inlined.
func (r *reader) u32() uint32 {
	if r.pos < r.end && r.b[r.pos] < 0x80 {
		r.pos++
		return uint32(r.b[r.pos-1])
	}
	return uint32(r.unsigned(32))
}

// unsigned reads an unsigned LEB128 of at most ceil(bits/7) bytes, whose unused bits are zero.
func (r *reader) unsigned(bits uint) uint64 {
	at := r.pos
	var v uint64
	for shift := uint(0); shift < bits; shift += 7 {
		c := r.byte()
		if left := bits - shift; left < 7 && c>>left != 0 {
			break
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail(ErrMalformed, at, "integer does not fit %d bits", bits)
	return 0
}

// signed reads a signed LEB128 of at most ceil(bits/7) bytes, whose unused bits repeat the sign.
func (r *reader) signed(bits uint) int64 {
	at := r.pos
	var v int64
	for shift := uint(0); shift < bits; shift += 7 {
		c := r.byte()
		left := bits - shift
		if left < 7 {
			// As an int8 without the continuation bit, all bits from the sign bit up must be equal.
			if high := int8(c<<1) >> left; c >= 0x80 || high != 0 && high != -1 {
				break
			}
		}
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if shift += 7; shift < 64 && c&0x40 != 0 {
			v |= -1 << shift
		}
		return v
	}
	r.fail(ErrMalformed, at, "integer does not fit %d bits", bits)
	return 0
}

// count reads the length of a vector. Each element takes a byte at least, so a count beyond the bytes left is
// refused before anything is allocated by it.
func (r *reader) count() int {
	at := r.pos
	n := r.u32()
	if uint64(n) > uint64(r.end-r.pos) {
		r.fail(ErrMalformed, at, "count %d exceeds the %d bytes left", n, r.end-r.pos)
		return 0
	}
	return int(n)
}

func (r *reader) name() []byte {
	at := r.pos
	s := r.take(r.u32())
	if !utf8.Valid(s) {
		r.fail(ErrMalformed, at, "name is not UTF-8")
	}
	return s
}

// Value types.
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncref   = 0x70
	typeExternref = 0x6f
)

func (r *reader) valType() byte {
	at := r.pos
	t := r.byte()
	if !isValType(t) {
		r.fail(ErrMalformed, at, "unknown value type %#x", t)
	}
	return t
}

func isValType(t byte) bool {
	return t >= typeV128 && t <= typeI32 || isRefType(t)
}

func (r *reader) refType() {
	at := r.pos
	if t := r.byte(); !isRefType(t) {
		r.fail(ErrMalformed, at, "unknown reference type %#x", t)
	}
}

func isRefType(t byte) bool { return t == typeFuncref || t == typeExternref }
