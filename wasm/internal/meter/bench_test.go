package meter

import (
	"bytes"
	"testing"
)

// synthetic is about 7 MB of code like that of a large C program: 8,500 functions of some hundred instructions, 6,375 loops.
func synthetic() []byte {
	step := []byte{
		0x20, 0, 0x20, 1, opI32Add, 0x28, 2, 0x94, 0x08, // local.get, local.get, i32.add, i32.load
		opI32Const, 0xff, 0x00, 0x71, 0x22, 2, // i32.const, i32.and, local.tee
		opIf, blockEmpty, 0x20, 2, opCall, 0x80, 0x08, 0x21, 1, opEnd, // if, call, local.set
	}
	flat := sized(cat([]byte{1, 3, typeI32}, bytes.Repeat(step, 32), []byte{opEnd})...)
	looped := sized(cat([]byte{1, 3, typeI32, opLoop, blockEmpty}, bytes.Repeat(step, 32), []byte{0x20, 1, 0x0d, 0, opEnd, opEnd})...)
	group := cat(flat, looped, looped, looped)
	const groups = 2125
	n := leb(4 * groups)
	return base().
		with(secFunction, cat(n, make([]byte, 4*groups))...).
		with(secCode, cat(n, bytes.Repeat(group, groups))...).bytes()
}

func BenchmarkRewrite(b *testing.B) {
	src := synthetic()
	m := rewrite(b, src, nil)
	b.ReportMetric(float64(m.Loops), "loops")
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Rewrite(src, nil); err != nil {
			b.Fatal(err)
		}
	}
}
