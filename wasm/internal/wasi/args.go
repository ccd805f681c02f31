package wasi

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

// argsGet is args_get(**argv, *buf).
func argsGet(c call, p []uint64) sys.Errno {
	return c.writeStrings(c.env.args, uint32(p[0]), uint32(p[1]))
}

// argsSizesGet is args_sizes_get(*count, *size).
func argsSizesGet(c call, p []uint64) sys.Errno {
	return c.writeSizes(c.env.args, uint32(p[0]), uint32(p[1]))
}

// environGet is environ_get(**environ, *buf).
func environGet(c call, p []uint64) sys.Errno {
	return c.writeStrings(c.env.environ, uint32(p[0]), uint32(p[1]))
}

// environSizesGet is environ_sizes_get(*count, *size).
func environSizesGet(c call, p []uint64) sys.Errno {
	return c.writeSizes(c.env.environ, uint32(p[0]), uint32(p[1]))
}

// size is how many bytes list takes in guest memory, each string with its NUL.
func size(list []string) uint64 {
	n := uint64(len(list))
	for _, s := range list {
		n += uint64(len(s))
	}
	return n
}

func (c call) writeSizes(list []string, count, bytes uint32) sys.Errno {
	n := size(list)
	if n > math.MaxUint32 {
		return errno.EOVERFLOW
	}
	if !c.mem.WriteUint32Le(count, uint32(len(list))) || !c.mem.WriteUint32Le(bytes, uint32(n)) {
		return sys.EFAULT
	}
	return 0
}

// writeStrings puts list at buf, and a pointer to each string at table.
func (c call) writeStrings(list []string, table, buf uint32) sys.Errno {
	pointers, ok := c.array(table, uint32(len(list)), 4)
	if !ok {
		return sys.EFAULT
	}
	n := size(list)
	if n > math.MaxUint32 {
		return errno.EOVERFLOW
	}
	bytes, ok := c.mem.Read(buf, uint32(n))
	if !ok {
		return sys.EFAULT
	}
	at := 0
	for i, s := range list {
		binary.LittleEndian.PutUint32(pointers[4*i:], buf+uint32(at))
		at += copy(bytes[at:], s)
		bytes[at] = 0
		at++
	}
	return 0
}

// array is a view of count elements of size bytes at ptr.
func (c call) array(ptr, count, size uint32) ([]byte, bool) {
	n := uint64(count) * uint64(size)
	if n > math.MaxUint32 {
		return nil, false
	}
	return c.mem.Read(ptr, uint32(n))
}
