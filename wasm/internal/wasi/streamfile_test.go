package wasi

import (
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// keepOpen is how an FS would give them out: behind a type of its own.
type keepOpen struct{ sys.File }

func TestStreamFile_Stdin(t *testing.T) {
	g := newGuest(t)
	g.env.fs = &oneFileFS{file: keepOpen{StdinFile(g.stdin, g.signals)}}
	fd := g.open("dev/stdin", 0, rightsRead, 0)
	g.stdin.data <- []byte("hello")
	if got := g.read(fd, 3); got != "hel" {
		t.Errorf("read %q", got)
	}
	if got := g.read(0, 10); got != "lo" {
		t.Errorf("descriptor 0: %q", got)
	}
	ptr, n := g.iovecs(atBuf, 10)
	signal := g.signals.signal
	time.AfterFunc(10*time.Millisecond, func() { close(signal) })
	g.want(eINTR, "fd_read", fd, ptr, n, atResult)
	if g.signals.delivered != 1 {
		t.Errorf("delivered %d times", g.signals.delivered)
	}
	close(g.stdin.data)
	if got := g.read(fd, 10); got != "" {
		t.Errorf("at the end: %q", got)
	}
	g.want(ok, "fd_close", fd)
}

func TestStreamFile_LooksLikeAPipe(t *testing.T) {
	g := newGuest(t)
	for _, test := range []struct {
		file   sys.File
		rights uint64
	}{
		{StdinFile(g.stdin, g.signals), rightsRead},
		{OutputFile(g.stdout), rightsWrite},
	} {
		g.env.fs = &oneFileFS{file: keepOpen{test.file}}
		fd := g.open("dev/x", 0, test.rights, 0)
		g.want(ok, "fd_fdstat_get", fd, atBuf)
		if got := g.bytes(atBuf, 1)[0]; got != filetypeSocketStream {
			t.Errorf("filetype = %d", got)
		}
		g.want(ok, "fd_filestat_get", fd, atBuf)
		g.want(eSPIPE, "fd_seek", fd, 0, 0, atResult)
		g.want(eSPIPE, "fd_tell", fd, atResult)
		g.want(eINVAL, "fd_filestat_set_size", fd, 0)
		g.want(eINVAL, "fd_filestat_set_times", fd, 0, 0, 0)
		g.want(eINVAL, "fd_sync", fd)
		g.want(ok, "fd_fdstat_set_flags", fd, fdflagAppend)
		ptr, n := g.iovecs(atBuf, 1)
		if test.rights == rightsWrite {
			g.want(eSPIPE, "fd_pwrite", fd, ptr, n, 0, atResult)
		} else {
			g.want(eSPIPE, "fd_pread", fd, ptr, n, 0, atResult)
		}
		g.want(ok, "fd_close", fd)
	}
}

func TestStreamFile_Output(t *testing.T) {
	g := newGuest(t)
	g.env.fs = &oneFileFS{file: keepOpen{OutputFile(g.stdout)}}
	fd := g.open("dev/stdout", oflagCreat|oflagTrunc, rightsWrite, 0)
	g.write(fd, "by name ")
	g.write(1, "by number")
	if g.stdout.String() != "by name by number" {
		t.Errorf("stdout = %q", g.stdout)
	}
	if _, err := OutputFile(failingWriter{}).Write([]byte("x")); err != sys.EIO {
		t.Errorf("a writer that fails: %v", err)
	}
}
