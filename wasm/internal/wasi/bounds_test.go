package wasi

import (
	"math"
	"slices"
	"testing"
)

// pointers says, for each function that takes pointers, arguments that are right, and which of them point
// to how many bytes.
var pointers = []struct {
	name string
	args func(g *guest) []uint64
	at   map[int]uint32
}{
	{"args_get", fixed(atResult, atBuf), map[int]uint32{0: 8, 1: 6}},
	{"args_sizes_get", fixed(0, 4), map[int]uint32{0: 4, 1: 4}},
	{"environ_get", fixed(atResult, atBuf), map[int]uint32{0: 4, 1: 4}},
	{"environ_sizes_get", fixed(0, 4), map[int]uint32{0: 4, 1: 4}},
	{"clock_res_get", fixed(clockMonotonic, 0), map[int]uint32{1: 8}},
	{"clock_time_get", fixed(clockMonotonic, 0, 0), map[int]uint32{2: 8}},
	{"fd_fdstat_get", fixed(preopenFd, 0), map[int]uint32{1: fdstatSize}},
	{"fd_filestat_get", fixed(preopenFd, 0), map[int]uint32{1: filestatSize}},
	{"fd_filestat_get", fixed(0, 0), map[int]uint32{1: filestatSize}},
	{"fd_prestat_get", fixed(preopenFd, 0), map[int]uint32{1: 8}},
	{"fd_prestat_dir_name", fixed(preopenFd, 0, 1), map[int]uint32{1: 1}},
	{"fd_pread", file(func(g *guest, fd, v, n uint64) []uint64 { return []uint64{fd, v, n, 0, 0} }), map[int]uint32{1: 8, 4: 4}},
	{"fd_pwrite", file(func(g *guest, fd, v, n uint64) []uint64 { return []uint64{fd, v, n, 0, 0} }), map[int]uint32{1: 8, 4: 4}},
	{"fd_read", file(func(g *guest, fd, v, n uint64) []uint64 { return []uint64{fd, v, n, 0} }), map[int]uint32{1: 8, 3: 4}},
	{"fd_read", file(func(g *guest, _, v, n uint64) []uint64 { return []uint64{0, v, n, 0} }), map[int]uint32{1: 8, 3: 4}},
	{"fd_write", file(func(g *guest, fd, v, n uint64) []uint64 { return []uint64{fd, v, n, 0} }), map[int]uint32{1: 8, 3: 4}},
	{"fd_write", file(func(g *guest, _, v, n uint64) []uint64 { return []uint64{1, v, n, 0} }), map[int]uint32{1: 8, 3: 4}},
	{"fd_readdir", fixed(preopenFd, atBuf, 100, 0, 0), map[int]uint32{1: 100, 4: 4}},
	{"fd_seek", file(func(g *guest, fd, _, _ uint64) []uint64 { return []uint64{fd, 1, 0, 0} }), map[int]uint32{3: 8}},
	{"fd_tell", file(func(g *guest, fd, _, _ uint64) []uint64 { return []uint64{fd, 0} }), map[int]uint32{1: 8}},
	{"path_create_directory", paths("new", "", preopenFd, p1, n1), map[int]uint32{1: 3}},
	{"path_filestat_get", paths("file", "", preopenFd, 0, p1, n1, 0), map[int]uint32{2: 4, 4: filestatSize}},
	{"path_filestat_set_times", paths("file", "", preopenFd, 0, p1, n1, 0, 0, 0), map[int]uint32{2: 4}},
	{"path_link", paths("file", "new", preopenFd, 0, p1, n1, preopenFd, p2, n2), map[int]uint32{2: 4, 5: 3}},
	{"path_open", paths("new", "", preopenFd, 0, p1, n1, oflagCreat, 0, 0, 0, 0), map[int]uint32{2: 3, 8: 4}},
	{"path_readlink", paths("link", "", preopenFd, p1, n1, atBuf, 20, 0), map[int]uint32{1: 4, 3: 20, 5: 4}},
	{"path_remove_directory", paths("dir", "", preopenFd, p1, n1), map[int]uint32{1: 3}},
	{"path_rename", paths("file", "new", preopenFd, p1, n1, preopenFd, p2, n2), map[int]uint32{1: 4, 4: 3}},
	{"path_symlink", paths("file", "new", p1, n1, preopenFd, p2, n2), map[int]uint32{0: 4, 3: 3}},
	{"path_unlink_file", paths("file", "", preopenFd, p1, n1), map[int]uint32{1: 4}},
	{"poll_oneoff", func(g *guest) []uint64 {
		args := g.subscribe(clockSub(1, clockMonotonic, 0, 0))
		args[3] = 0
		return args
	}, map[int]uint32{0: subscriptionSize, 1: eventSize, 3: 4}},
	{"random_get", fixed(atBuf, 100), map[int]uint32{0: 100}},
}

func fixed(args ...uint64) func(*guest) []uint64 {
	return func(*guest) []uint64 { return slices.Clone(args) }
}

// file opens a file and writes an array of one buffer.
func file(args func(g *guest, fd, iovecs, count uint64) []uint64) func(*guest) []uint64 {
	return func(g *guest) []uint64 {
		fd := g.open("file", 0, rightsReadWrite, 0)
		v, n := g.iovecs(atBuf, 3)
		return args(g, fd, v, n)
	}
}

// p1 and n1 stand for the pointer to and the size of the first path, p2 and n2 for those of the second.
const (
	p1 = 1<<40 + iota
	n1
	p2
	n2
)

// paths writes two paths and puts them into args.
func paths(a, b string, args ...uint64) func(*guest) []uint64 {
	return func(g *guest) []uint64 {
		out := slices.Clone(args)
		p, n := g.path(a)
		q, m := g.path2(b)
		for i, v := range args {
			if v >= p1 {
				out[i] = [...]uint64{p, n, q, m}[v-p1]
			}
		}
		return out
	}
}

func boundsGuest(t *testing.T) *guest {
	g := newGuest(t, func(c *Config) { c.Args, c.Environ = []string{"ab", "cd"}, []string{"E=1"} })
	g.host("file", "content")
	g.host("dir/", "")
	g.put(atPath, []byte("file"))
	g.put(atPath2, []byte("link"))
	g.want(ok, "path_symlink", atPath, 4, preopenFd, atPath2, 4)
	g.stdin.data <- []byte("input")
	return g
}

func TestPointers(t *testing.T) {
	for _, test := range pointers {
		g := boundsGuest(t)
		// As they are, the arguments are right.
		if got := g.call(test.name, test.args(g)...); got != ok {
			t.Errorf("%s%v = %d, want success", test.name, test.args(g), got)
			continue
		}
		for arg, size := range test.at {
			for _, bad := range []uint64{memorySize - uint64(size) + 1, memorySize, math.MaxUint32, math.MaxUint32 - uint64(size) + 1, 1 << 31} {
				g := boundsGuest(t)
				before := listing(g)
				args := test.args(g)
				args[arg] = bad
				if got := g.call(test.name, args...); got != eFAULT {
					t.Errorf("%s%v = %d, want EFAULT for argument %d", test.name, args, got, arg)
				}
				if after := listing(g); after != before {
					t.Errorf("%s%v: EFAULT, and yet it had an effect: %s -> %s", test.name, args, before, after)
				}
			}
		}
	}
}

// listing tells what a call could have changed.
func listing(g *guest) string {
	s := g.stdout.String() + "|" + g.hostText("file")
	for _, name := range []string{"new", "dir", "link"} {
		p, n := uint64(atPath2+2048), uint64(len(name))
		g.put(uint32(p), []byte(name))
		if g.call("path_filestat_get", preopenFd, 0, p, n, atBuf+4096) == ok {
			s += "|" + name
		}
	}
	return s
}

// Lengths that overflow when they are added or multiplied.
func TestLengths(t *testing.T) {
	g := boundsGuest(t)
	fd := g.open("file", 0, rightsReadWrite, 0)
	const top = math.MaxUint32
	for _, test := range []struct {
		name string
		want uint64
		args []uint64
	}{
		{"random_get", eFAULT, []uint64{0, top}},
		{"random_get", eFAULT, []uint64{1, top}},
		{"random_get", eFAULT, []uint64{top, top}},
		{"random_get", eFAULT, []uint64{8, memorySize}},
		{"fd_readdir", eFAULT, []uint64{preopenFd, 1, top, 0, 0}},
		{"fd_readdir", eFAULT, []uint64{preopenFd, top, 1, 0, 0}},
		{"fd_prestat_dir_name", eFAULT, []uint64{preopenFd, top, top}},
		{"fd_read", eINVAL, []uint64{fd, 0, top, atResult}},
		{"fd_read", eINVAL, []uint64{fd, 0, 1 << 29, atResult}}, // * 8 = 2^32
		{"fd_write", eINVAL, []uint64{fd, 0, 1<<29 + 1, atResult}},
		{"fd_pread", eINVAL, []uint64{fd, 0, 1 << 29, 0, atResult}},
		{"fd_pwrite", eINVAL, []uint64{fd, 0, 1 << 29, 0, atResult}},
		{"fd_read", eFAULT, []uint64{fd, memorySize - 8*1023, 1024, atResult}},
		{"poll_oneoff", eINVAL, []uint64{0, 0, 89478486, atResult}}, // * 48 = 2^32 + 32
		{"poll_oneoff", eINVAL, []uint64{0, 0, 1 << 27, atResult}},  // * 32 = 2^32
		{"path_open", eNAMETOOLONG, []uint64{preopenFd, 0, 1, top, 0, 0, 0, 0, atResult}},
		{"path_unlink_file", eNAMETOOLONG, []uint64{preopenFd, top, top}},
		{"path_symlink", eNAMETOOLONG, []uint64{0, top, preopenFd, atPath, 4}},
		{"path_readlink", eFAULT, []uint64{preopenFd, atPath2, 4, 1, top, atResult}},
		{"path_readlink", eFAULT, []uint64{preopenFd, atPath2, 4, top, 8, atResult}},
	} {
		if got := g.call(test.name, test.args...); got != test.want {
			t.Errorf("%s%v = %d, want %d", test.name, test.args, got, test.want)
		}
	}
}
