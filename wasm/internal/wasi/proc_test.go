package wasi

import (
	"bytes"
	"errors"
	"testing"
)

func TestProcExit(t *testing.T) {
	for _, code := range []uint64{0, 3, 255, 0xffffffff} {
		g := newGuest(t)
		_, err := g.try("proc_exit", code)
		var got exitCode
		if !errors.As(err, &got) || uint64(got) != code {
			t.Errorf("proc_exit(%d): %v", code, err)
		}
	}
}

func TestProcRaise(t *testing.T) { newGuest(t).want(eNOSYS, "proc_raise", 6) }

func TestRandomGet(t *testing.T) {
	g := newGuest(t)
	var seen [][]byte
	for range 3 {
		g.want(ok, "random_get", atBuf, 32)
		b := g.bytes(atBuf, 32)
		for _, old := range append(seen, make([]byte, 32)) {
			if bytes.Equal(b, old) {
				t.Fatalf("random_get gave %x twice", b)
			}
		}
		seen = append(seen, b)
	}
	g.want(ok, "random_get", 0, 0)
	g.want(ok, "random_get", memorySize, 0)
}

func TestRandomGet_WholeMemory(t *testing.T) {
	g := newGuest(t)
	g.want(ok, "random_get", 0, memorySize)
	for _, at := range []uint32{0, randomPiece - 16, randomPiece, memorySize - 16} {
		if bytes.Equal(g.bytes(at, 16), make([]byte, 16)) {
			t.Errorf("16 bytes at %d are still zero", at)
		}
	}
}

func TestSock(t *testing.T) {
	g := newGuest(t)
	file := g.open("f", oflagCreat, rightsReadWrite, 0)
	for _, test := range []struct {
		name string
		rest []uint64
	}{
		{"sock_accept", []uint64{0, 0}},
		{"sock_recv", []uint64{0, 0, 0, 0, 0}},
		{"sock_send", []uint64{0, 0, 0, 0}},
		{"sock_shutdown", []uint64{1}},
	} {
		for _, fd := range []uint64{0, 1, preopenFd, file} {
			g.want(eNOTSOCK, test.name, append([]uint64{fd}, test.rest...)...)
		}
		g.want(eBADF, test.name, append([]uint64{99}, test.rest...)...)
	}
}
