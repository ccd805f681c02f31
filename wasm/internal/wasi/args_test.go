package wasi

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestArgsAndEnviron(t *testing.T) {
	for _, test := range []struct {
		name, sizes, get string
		list             []string
	}{
		{"none", "args_sizes_get", "args_get", nil},
		{"one", "args_sizes_get", "args_get", []string{"script.py"}},
		{"empty strings", "args_sizes_get", "args_get", []string{"", "", "x"}},
		{"any bytes", "args_sizes_get", "args_get", []string{"a b", "\xff\xfe", "日本"}},
		{"environ", "environ_sizes_get", "environ_get", []string{"A=1", "HOME=/tmp", "E="}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest(t, func(c *Config) { c.Args, c.Environ = test.list, test.list })
			g.want(ok, test.sizes, 0, 4)
			count, size := g.u32(0), g.u32(4)
			if want := len(strings.Join(test.list, "")) + len(test.list); int(count) != len(test.list) || int(size) != want {
				t.Fatalf("sizes = %d, %d, want %d, %d", count, size, len(test.list), want)
			}
			g.put(atBuf, []byte(strings.Repeat("#", 100)))
			g.want(ok, test.get, atIovecs, atBuf)
			for i, want := range test.list {
				at := g.u32(atIovecs + uint32(4*i))
				got := string(g.bytes(at, uint32(len(want)+1)))
				if got != want+"\x00" {
					t.Errorf("string %d = %q, want %q", i, got, want)
				}
			}
			if g.bytes(atBuf+size, 1)[0] != '#' {
				t.Error("wrote past the size it gave")
			}
		})
	}
}

func TestArgs_LastByteOfMemory(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Args = []string{"abc"} })
	g.want(ok, "args_get", memorySize-4-4, memorySize-4)
	if got := binary.LittleEndian.Uint32(g.bytes(memorySize-8, 4)); got != memorySize-4 {
		t.Errorf("pointer = %d", got)
	}
	g.want(eFAULT, "args_get", 0, memorySize-3)
	g.want(eFAULT, "args_get", memorySize-3, 0)
}
