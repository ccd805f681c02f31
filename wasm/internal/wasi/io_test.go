package wasi

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestFdWrite_Streams(t *testing.T) {
	g := newGuest(t)
	g.put(atBuf, []byte("hello, \xff\x00world"))
	ptr, n := g.iovecs(atBuf, 7, 0, 0, atBuf+7, 7)
	g.want(ok, "fd_write", 1, ptr, n, atResult)
	if g.u32(atResult) != 14 || g.stdout.String() != "hello, \xff\x00world" {
		t.Errorf("wrote %d: %q", g.u32(atResult), g.stdout)
	}
	g.write(2, "err")
	if g.stderr.String() != "err" {
		t.Errorf("stderr = %q", g.stderr)
	}
	g.want(ok, "fd_write", 1, 0, 0, atResult)
	if g.u32(atResult) != 0 {
		t.Errorf("no buffers: wrote %d", g.u32(atResult))
	}
}

func TestFdReadWrite_Errors(t *testing.T) {
	g := newGuest(t)
	g.host("f", "content")
	r := g.open("f", 0, rightsRead, 0)
	w := g.open("f", 0, rightsWrite, 0)
	dir := g.open(".", oflagDirectory, 0, 0)
	ptr, n := g.iovecs(atBuf, 4)
	for _, test := range []struct {
		name string
		fd   uint64
		want uint64
		args func(fd uint64) []uint64
	}{
		{"fd_read", w, eBADF, nil},
		{"fd_read", 1, eBADF, nil},
		{"fd_read", dir, eISDIR, nil},
		{"fd_read", preopenFd, eISDIR, nil},
		{"fd_read", 99, eBADF, nil},
		{"fd_write", r, eBADF, nil},
		{"fd_write", 0, eBADF, nil},
		{"fd_write", dir, eISDIR, nil},
		{"fd_write", 99, eBADF, nil},
		{"fd_pread", w, eBADF, offset0},
		{"fd_pread", 0, eSPIPE, offset0},
		{"fd_pread", dir, eISDIR, offset0},
		{"fd_pread", 99, eBADF, offset0},
		{"fd_pwrite", r, eBADF, offset0},
		{"fd_pwrite", 1, eSPIPE, offset0},
		{"fd_pwrite", dir, eISDIR, offset0},
		{"fd_pwrite", 99, eBADF, offset0},
		{"fd_pread", r, eINVAL, offset(math.MaxUint64)},
		{"fd_pread", r, eINVAL, offset(math.MaxInt64)},
		{"fd_pwrite", w, eINVAL, offset(math.MaxUint64)},
		{"fd_pwrite", w, eINVAL, offset(math.MaxInt64)},
	} {
		args := []uint64{test.fd, ptr, n, atResult}
		if test.args != nil {
			args = append([]uint64{test.fd, ptr, n}, test.args(test.fd)...)
		}
		g.want(test.want, test.name, args...)
	}
	g.want(eINVAL, "fd_read", r, ptr, maxIovecs+1, atResult)
	g.want(eINVAL, "fd_write", 1, ptr, math.MaxUint32, atResult)
	g.want(eINVAL, "fd_read", 0, ptr, math.MaxUint32, atResult)
	if g.hostText("f") != "content" {
		t.Error("the file changed")
	}
}

func offset(n uint64) func(uint64) []uint64 {
	return func(uint64) []uint64 { return []uint64{n, atResult} }
}

func offset0(uint64) []uint64 { return []uint64{0, atResult} }

func TestFdRead_File(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123456789")
	fd := g.open("f", 0, rightsRead, 0)
	ptr, n := g.iovecs(atBuf, 3, atBuf+10, 0, atBuf+20, 4)
	g.want(ok, "fd_read", fd, ptr, n, atResult)
	if a, b := string(g.bytes(atBuf, 3)), string(g.bytes(atBuf+20, 4)); g.u32(atResult) != 7 || a != "012" || b != "3456" {
		t.Errorf("read %d: %q %q", g.u32(atResult), a, b)
	}
	if got := g.read(fd, 100); got != "789" {
		t.Errorf("the rest = %q", got)
	}
	if got := g.read(fd, 100); got != "" {
		t.Errorf("at the end = %q", got)
	}
}

func TestFdPreadPwrite(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123456789")
	fd := g.open("f", 0, rightsReadWrite, 0)
	ptr, n := g.iovecs(atBuf, 2, atBuf+2, 2)
	g.want(ok, "fd_pread", fd, ptr, n, 5, atResult)
	if got := string(g.bytes(atBuf, 4)); g.u32(atResult) != 4 || got != "5678" {
		t.Errorf("fd_pread %d: %q", g.u32(atResult), got)
	}
	g.put(atBuf, []byte("abcd"))
	g.want(ok, "fd_pwrite", fd, ptr, n, 8, atResult)
	if g.u32(atResult) != 4 || g.hostText("f") != "01234567abcd" {
		t.Errorf("fd_pwrite %d: %q", g.u32(atResult), g.hostText("f"))
	}
	g.want(ok, "fd_tell", fd, atResult)
	if at := g.u64(atResult); at != 0 {
		t.Errorf("offset = %d, want 0", at)
	}
	g.want(ok, "fd_pread", fd, ptr, n, 1<<40, atResult)
	if g.u32(atResult) != 0 {
		t.Errorf("past the end: %d", g.u32(atResult))
	}
}

func TestFdPwrite_Append(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123")
	fd := g.open("f", 0, rightsReadWrite, fdflagAppend)
	g.want(ok, "fd_seek", fd, 2, 0, atResult)
	g.put(atBuf, []byte("xy"))
	ptr, n := g.iovecs(atBuf, 2)
	g.want(ok, "fd_pwrite", fd, ptr, n, 0, atResult)
	if g.hostText("f") != "0123xy" {
		t.Errorf("file = %q", g.hostText("f"))
	}
	g.want(ok, "fd_tell", fd, atResult)
	if at := g.u64(atResult); at != 2 {
		t.Errorf("offset = %d, want 2", at)
	}
}

// A bad buffer ends the call with what was done before it.
func TestTransfer_BadBufferLater(t *testing.T) {
	g := newGuest(t)
	g.put(atBuf, []byte("good"))
	ptr, n := g.iovecs(atBuf, 4, memorySize-1, 2, atBuf, 4)
	g.want(ok, "fd_write", 1, ptr, n, atResult)
	if g.u32(atResult) != 4 || g.stdout.String() != "good" {
		t.Errorf("wrote %d: %q", g.u32(atResult), g.stdout)
	}
	for _, bad := range [][2]uint32{{memorySize - 1, 2}, {memorySize, 1}, {math.MaxUint32, 1}, {0, math.MaxUint32}, {math.MaxUint32, math.MaxUint32}, {1, memorySize}} {
		ptr, n := g.iovecs(bad[0], bad[1])
		g.want(eFAULT, "fd_write", 1, ptr, n, atResult)
		g.want(eFAULT, "fd_read", 0, ptr, n, atResult)
	}
}

// A read that writes over the array of buffers must not reach outside of memory.
func TestTransfer_ReadOverTheIovecs(t *testing.T) {
	g := newGuest(t)
	g.host("f", strings.Repeat("\xff", 4096))
	fd := g.open("f", 0, rightsRead, 0)
	ptr, n := g.iovecs(atIovecs+8, 8, 100, 8)
	g.want(ok, "fd_read", fd, ptr, n, atResult)
	if got := g.u32(atResult); got != 8 {
		t.Errorf("read %d, want 8", got)
	}
}

// The sum of many overlapping buffers fits the result, and the FS is never given more.
func TestTransfer_SumIsBounded(t *testing.T) {
	file := &regular{write: func(p []byte) (int, sys.Errno) { return len(p), 0 }}
	g := newGuest(t, func(c *Config) { c.FS = &oneFileFS{file: file} })
	fd := g.open("f", 0, rightsWrite, 0)
	ptr := uint32(0)
	for i := range uint32(maxIovecs) {
		g.mem.WriteUint32Le(ptr+8*i, 0)
		g.mem.WriteUint32Le(ptr+8*i+4, memorySize)
	}
	g.want(ok, "fd_write", fd, uint64(ptr), maxIovecs, memorySize-4)
	if got, want := g.u32(memorySize-4), uint32(maxIovecs*memorySize); got != want {
		t.Errorf("wrote %d, want %d", got, want)
	}
	c := call{env: g.env, mem: g.mem}
	total, err := c.pieces(make([]byte, 3*piece+1), file.write)
	if err != 0 || total != 3*piece+1 {
		t.Errorf("pieces = %d, %v", total, err)
	}
}

func TestTransfer_ShortAndFailing(t *testing.T) {
	var results []struct {
		n   int
		err sys.Errno
	}
	file := &regular{write: func([]byte) (int, sys.Errno) {
		r := results[0]
		results = results[1:]
		return r.n, r.err
	}}
	g := newGuest(t, func(c *Config) { c.FS = &oneFileFS{file: file} })
	fd := g.open("f", 0, rightsWrite, 0)
	type result = struct {
		n   int
		err sys.Errno
	}
	for _, test := range []struct {
		name  string
		calls []result
		want  uint64
		n     uint32
	}{
		{"all", []result{{4, 0}, {4, 0}}, ok, 8},
		{"short", []result{{3, 0}}, ok, 3},
		{"short second", []result{{4, 0}, {1, 0}}, ok, 5},
		{"fails", []result{{0, sys.EIO}}, eIO, 0},
		{"fails after some", []result{{2, sys.EIO}}, ok, 2},
		{"second fails", []result{{4, 0}, {0, sys.EIO}}, ok, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			results = test.calls
			ptr, n := g.iovecs(atBuf, 4, atBuf, 4)
			g.want(test.want, "fd_write", fd, ptr, n, atResult)
			if test.want == ok && g.u32(atResult) != test.n {
				t.Errorf("wrote %d, want %d", g.u32(atResult), test.n)
			}
			if len(results) != 0 {
				t.Errorf("%d calls not made", len(results))
			}
		})
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestFdWrite_StreamFails(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Stdout = failingWriter{} })
	ptr, n := g.iovecs(atBuf, 4)
	g.want(eIO, "fd_write", 1, ptr, n, atResult)
}

func TestFdRead_Stdin(t *testing.T) {
	g := newGuest(t)
	g.stdin.data <- []byte("hello")
	if got := g.read(0, 3); got != "hel" {
		t.Errorf("read %q", got)
	}
	// One read only: the second buffer would wait.
	ptr, n := g.iovecs(0, 0, atBuf, 2, atBuf+2, 10)
	g.want(ok, "fd_read", 0, ptr, n, atResult)
	if got := string(g.bytes(atBuf, 2)); g.u32(atResult) != 2 || got != "lo" {
		t.Errorf("read %d: %q", g.u32(atResult), got)
	}
	g.want(ok, "fd_read", 0, 0, 0, atResult)
	close(g.stdin.data)
	for range 2 {
		if got := g.read(0, 10); got != "" {
			t.Errorf("at the end: %q", got)
		}
	}
}

func TestFdRead_StdinNonblock(t *testing.T) {
	g := newGuest(t)
	g.want(ok, "fd_fdstat_set_flags", 0, fdflagNonblock)
	ptr, n := g.iovecs(atBuf, 4)
	g.want(eAGAIN, "fd_read", 0, ptr, n, atResult)
	g.stdin.data <- []byte("x")
	if got := g.read(0, 4); got != "x" {
		t.Errorf("read %q", got)
	}
	g.want(eAGAIN, "fd_read", 0, ptr, n, atResult)
	close(g.stdin.data)
	if got := g.read(0, 4); got != "" {
		t.Errorf("at the end: %q", got)
	}
}

func TestFdSeekTell(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123456789")
	fd := g.open("f", 0, rightsReadWrite, 0)
	neg := func(n int64) uint64 { return uint64(-n) }
	for _, test := range []struct {
		offset, whence, want, at uint64
	}{
		{4, 0, ok, 4},
		{2, 1, ok, 6},
		{neg(1), 1, ok, 5},
		{neg(3), 2, ok, 7},
		{100, 2, ok, 110},
		{0, 0, ok, 0},
		{neg(1), 0, eINVAL, 0},
		{neg(1), 1, eINVAL, 0},
		{neg(11), 2, eINVAL, 0},
		{0, 3, eINVAL, 0},
		{0, math.MaxUint32, eINVAL, 0},
		{math.MaxInt64, 0, eINVAL, 0},
		{math.MaxInt64, 1, eINVAL, 0},
		{math.MaxInt64, 2, eINVAL, 0},
		{1 << 63, 1, eINVAL, 0},
	} {
		g.want(test.want, "fd_seek", fd, test.offset, test.whence, atResult)
		g.want(ok, "fd_tell", fd, atResult)
		if at := g.u64(atResult); at != test.at {
			t.Errorf("after fd_seek(%d, %d): at %d, want %d", int64(test.offset), test.whence, at, test.at)
		}
	}
	dir := g.open(".", oflagDirectory, 0, 0)
	for fd, want := range map[uint64]uint64{0: eSPIPE, 1: eSPIPE, 2: eSPIPE, preopenFd: eISDIR, dir: eISDIR, 99: eBADF} {
		g.want(want, "fd_seek", fd, 0, 0, atResult)
		g.want(want, "fd_tell", fd, atResult)
	}
}

// What a File must not be asked, whatever it would answer.
func TestFdSeek_NeverAskedOfTheFile(t *testing.T) {
	file := &regular{}
	g := newGuest(t, func(c *Config) { c.FS = &oneFileFS{file: file} })
	fd := g.open("f", 0, rightsReadWrite, 0)
	for _, test := range []struct{ offset, whence uint64 }{
		{0, 3}, {0, math.MaxUint32}, {maxOffset + 1, 0}, {maxOffset + 1, 1}, {math.MaxInt64, 2}, {1 << 63, 1},
	} {
		g.want(eINVAL, "fd_seek", fd, test.offset, test.whence, atResult)
	}
	if len(file.seeks) != 0 {
		t.Errorf("asked for %v", file.seeks)
	}
	g.want(ok, "fd_seek", fd, maxOffset, 0, atResult)
}

func TestLimited(t *testing.T) {
	buf := make([]byte, 10)
	for n, want := range map[int]int{0: 0, 9: 9, 10: 10, 11: 10, maxTransfer: 10} {
		if got := len(limited(buf, n)); got != want {
			t.Errorf("limited(10 bytes, %d) = %d bytes, want %d", n, got, want)
		}
	}
}

func TestArray(t *testing.T) {
	g := newGuest(t)
	c := call{env: g.env, mem: g.mem}
	for _, test := range []struct {
		ptr, count, size uint32
		want             bool
	}{
		{0, 0, 48, true},
		{memorySize, 0, 48, true},
		{0, memorySize / 8, 8, true},
		{1, memorySize / 8, 8, false},
		{0, 1 << 29, 8, false}, // 2^32, which is 0 in 32 bits
		{0, 1<<29 + 1, 8, false},
		{0, math.MaxUint32, math.MaxUint32, false},
		{math.MaxUint32, 1, 1, false},
	} {
		if _, ok := c.array(test.ptr, test.count, test.size); ok != test.want {
			t.Errorf("array(%d, %d, %d) = %v", test.ptr, test.count, test.size, ok)
		}
	}
}
