package wasi

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFdClose(t *testing.T) {
	g := newGuest(t)
	fd := g.open("f", oflagCreat, rightsReadWrite, 0)
	g.want(ok, "fd_close", fd)
	g.want(eBADF, "fd_close", fd)
	g.want(eBADF, "fd_close", 0xffffffff)
	g.want(eBADF, "fd_close", 0x80000000)
}

func TestFd_LowestFirst(t *testing.T) {
	g := newGuest(t)
	for want := uint64(4); want < 8; want++ {
		if fd := g.open("f", oflagCreat, rightsReadWrite, 0); fd != want {
			t.Fatalf("descriptor %d, want %d", fd, want)
		}
	}
	for _, fd := range []uint64{6, 0, 5} {
		g.want(ok, "fd_close", fd)
	}
	for _, want := range []uint64{0, 5, 6, 8} {
		if fd := g.open("f", 0, rightsRead, 0); fd != want {
			t.Fatalf("descriptor %d, want %d", fd, want)
		}
	}
}

func TestFd_MaxFiles(t *testing.T) {
	for _, test := range []struct {
		max, want int
	}{{0, DefaultMaxFiles}, {6, 6}, {40, 40}, {2, 4}} {
		g := newGuest(t, func(c *Config) { c.MaxFiles = test.max })
		for range test.want - 4 {
			g.open("f", oflagCreat, rightsReadWrite, 0)
		}
		if _, err := g.openAt(preopenFd, "new", oflagCreat, rightsReadWrite, 0); err != eMFILE {
			t.Errorf("MaxFiles %d: one more = %d, want EMFILE", test.max, err)
		}
		if _, err := os.Stat(filepath.Join(g.dir, "new")); err == nil {
			t.Error("EMFILE, and yet the file was made")
		}
		g.want(ok, "fd_close", 1)
		if fd := g.open("new", oflagCreat, rightsReadWrite, 0); fd != 1 {
			t.Errorf("descriptor %d, want 1", fd)
		}
	}
}

func TestFd_StandardStreamsCanBeClosed(t *testing.T) {
	g := newGuest(t)
	for fd := range uint64(3) {
		g.want(ok, "fd_close", fd)
		g.want(eBADF, "fd_fdstat_get", fd, atBuf)
		ptr, n := g.iovecs(atBuf, 1)
		g.want(eBADF, "fd_read", fd, ptr, n, atResult)
		g.want(eBADF, "fd_write", fd, ptr, n, atResult)
	}
	// What takes the number is not a stream.
	if fd := g.open("f", oflagCreat, rightsReadWrite, 0); fd != 0 {
		t.Fatalf("descriptor %d, want 0", fd)
	}
	g.write(0, "file")
	if g.hostText("f") != "file" || g.stdout.Len() != 0 {
		t.Error("the write went elsewhere")
	}
}

func TestFdRenumber(t *testing.T) {
	fs := &countingFS{}
	g := newGuest(t, func(c *Config) { fs.FS = c.FS; c.FS = fs })
	a := g.open("a", oflagCreat, rightsReadWrite, 0)
	b := g.open("b", oflagCreat, rightsReadWrite, 0)
	g.want(ok, "fd_renumber", a, b)
	if fs.open != 1 {
		t.Errorf("%d files open, want 1", fs.open)
	}
	g.want(eBADF, "fd_close", a)
	g.write(b, "x")
	if g.hostText("a") != "x" {
		t.Error("the write did not go to a")
	}
	g.want(eBADF, "fd_renumber", b, a)
	g.want(eBADF, "fd_renumber", a, b)
	g.want(eBADF, "fd_renumber", b, 0xffffffff)
	g.want(ok, "fd_renumber", b, b)
	if fs.open != 1 {
		t.Error("renumbering to itself closed the file")
	}
	if c := g.open("c", oflagCreat, rightsReadWrite, 0); c != a {
		t.Errorf("descriptor %d, want %d, which is free again", c, a)
	}
}

func TestFdRenumber_Stream(t *testing.T) {
	g := newGuest(t)
	fd := g.open("f", oflagCreat, rightsReadWrite, 0)
	g.want(ok, "fd_renumber", 1, fd)
	g.write(fd, "still standard output")
	if g.stdout.String() != "still standard output" {
		t.Errorf("stdout = %q", g.stdout)
	}
	g.want(eSPIPE, "fd_tell", fd, atResult)
}

func TestPrestat(t *testing.T) {
	g := newGuest(t)
	g.want(ok, "fd_prestat_get", 3, atResult)
	if tag, n := g.u32(atResult), g.u32(atResult+4); tag != 0 || n != 1 {
		t.Errorf("prestat = %d, %d, want a directory with a name of 1", tag, n)
	}
	g.put(atBuf, []byte("##"))
	g.want(ok, "fd_prestat_dir_name", 3, atBuf, 1)
	if got := string(g.bytes(atBuf, 2)); got != "/#" {
		t.Errorf("name = %q", got)
	}
	g.want(ok, "fd_prestat_dir_name", 3, atBuf, 2)
	g.want(eNAMETOOLONG, "fd_prestat_dir_name", 3, atBuf, 0)

	dir := g.open(".", oflagDirectory, 0, 0)
	for _, fd := range []uint64{0, 1, 2, dir, 99} {
		g.want(eBADF, "fd_prestat_get", fd, atResult)
		g.want(eBADF, "fd_prestat_dir_name", fd, atBuf, 1)
	}
}

func TestPreopen_CanBeClosed(t *testing.T) {
	g := newGuest(t)
	dir := g.open(".", oflagDirectory, 0, 0)
	g.want(ok, "fd_close", preopenFd)
	g.want(eBADF, "fd_prestat_get", preopenFd, atResult)
	if _, err := g.openAt(preopenFd, "f", oflagCreat, 0, 0); err != eBADF {
		t.Errorf("path_open = %d, want EBADF", err)
	}
	fd, err := g.openAt(dir, "f", oflagCreat, rightsReadWrite, 0)
	if err != 0 || fd != preopenFd {
		t.Errorf("path_open under another directory = %d, %d", fd, err)
	}
	if _, err := g.openAt(fd, "g", oflagCreat, 0, 0); err != eNOTDIR {
		t.Errorf("path_open under a file = %d, want ENOTDIR", err)
	}
}
