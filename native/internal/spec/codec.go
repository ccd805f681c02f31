package spec

import (
	"encoding/binary"
	"fmt"
)

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

// decoder reads what the functions above append. After what does not fit it gives zero values.
type decoder struct {
	b   []byte
	bad bool
}

// take returns the next n bytes.
func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) uint16() uint16 {
	if p := d.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if p := d.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if p := d.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// flag reads a byte that is 0 or 1.
func (d *decoder) flag() bool {
	b := d.byte()
	if b > 1 {
		d.bad = true
	}
	return b == 1
}

func (d *decoder) bytes() []byte { return d.take(int(d.uint32())) }

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) strings() []string {
	n := int(d.uint32())
	if n < 0 || n > len(d.b)/4 { // each has a length of four bytes
		d.bad = true
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.string()
	}
	return list
}

// end reports whether all was read and nothing is left.
func (d *decoder) end(k Kind) error {
	if d.bad || len(d.b) > 0 {
		return fmt.Errorf("%w: %s does not decode", ErrProtocol, k)
	}
	return nil
}
