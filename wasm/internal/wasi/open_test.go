package wasi

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestPathOpen(t *testing.T) {
	for _, test := range []struct {
		name              string
		path              string
		lookup            uint64
		oflags, rights    uint64
		fdflags           uint64
		want              uint64
		content           string // of file, afterwards
		exists            string // made by the call
		canRead, canWrite bool
	}{
		{name: "read", path: "file", rights: rightsRead, canRead: true},
		{name: "write", path: "file", rights: rightsWrite, canWrite: true},
		{name: "both", path: "file", rights: rightsReadWrite, canRead: true, canWrite: true},
		{name: "no rights is reading", path: "file", canRead: true},
		{name: "create", path: "new", oflags: oflagCreat, rights: rightsWrite, exists: "new", canWrite: true},
		{name: "create without rights", path: "new", oflags: oflagCreat, exists: "new", canRead: true},
		{name: "create existing", path: "file", oflags: oflagCreat, rights: rightsRead, canRead: true},
		{name: "exclusive", path: "new", oflags: oflagCreat | oflagExcl, rights: rightsWrite, exists: "new", canWrite: true},
		{name: "exclusive existing", path: "file", oflags: oflagCreat | oflagExcl, rights: rightsWrite, want: eEXIST},
		{name: "exclusive link", path: "link", lookup: 1, oflags: oflagCreat | oflagExcl, rights: rightsWrite, want: eEXIST},
		{name: "truncate", path: "file", oflags: oflagTrunc, rights: rightsWrite, content: "-", canWrite: true},
		{name: "truncate for reading", path: "file", oflags: oflagTrunc, rights: rightsRead, content: "-", canRead: true},
		{name: "append", path: "file", rights: rightsWrite, fdflags: fdflagAppend, canWrite: true},
		{name: "nonblock", path: "file", rights: rightsRead, fdflags: fdflagNonblock, canRead: true},
		{name: "all sync flags", path: "file", rights: rightsReadWrite, fdflags: fdflagSync | fdflagDsync | fdflagRsync, canRead: true, canWrite: true},
		{name: "missing", path: "none", rights: rightsRead, want: eNOENT},
		{name: "missing parent", path: "none/x", oflags: oflagCreat, rights: rightsWrite, want: eNOENT},
		{name: "file as parent", path: "file/x", rights: rightsRead, want: eNOTDIR},
		{name: "file with slash", path: "file/", rights: rightsRead, want: eNOTDIR},
		{name: "directory", path: "dir"},
		{name: "directory with flag", path: "dir/", oflags: oflagDirectory},
		{name: "file with directory flag", path: "file", oflags: oflagDirectory, want: eNOTDIR},
		{name: "directory for writing", path: "dir", rights: rightsWrite, want: eISDIR},
		{name: "directory for both", path: "dir", oflags: oflagDirectory, rights: rightsReadWrite, want: eISDIR},
		{name: "directory truncated", path: "dir", oflags: oflagTrunc, want: eISDIR},
		{name: "directory created", path: "new", oflags: oflagDirectory | oflagCreat, want: eINVAL},
		{name: "directory exclusive", path: "dir", oflags: oflagDirectory | oflagExcl, want: eINVAL},
		{name: "directory flag truncated", path: "dir", oflags: oflagDirectory | oflagTrunc, want: eINVAL},
		{name: "link", path: "link", lookup: 1, rights: rightsRead, canRead: true},
		{name: "link not followed", path: "link", rights: rightsRead, want: eLOOP},
		{name: "link in the middle", path: "dirlink/inner", rights: rightsRead, canRead: true},
		{name: "loop", path: "loop", lookup: 1, rights: rightsRead, want: eLOOP},
		{name: "unknown lookup flag", path: "file", lookup: 2, want: eINVAL},
		{name: "unknown oflag", path: "file", oflags: 1 << 4, want: eINVAL},
		{name: "high oflag", path: "file", oflags: 1 << 16, want: eINVAL},
		{name: "unknown fdflag", path: "file", fdflags: 1 << 5, want: eINVAL},
		{name: "high fdflag", path: "file", fdflags: 1 << 16, want: eINVAL},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest(t)
			g.host("file", "content")
			g.host("dir/", "")
			g.host("dir/inner", "")
			for link, target := range map[string]string{"link": "file", "dirlink": "dir", "loop": "loop"} {
				if err := os.Symlink(target, filepath.Join(g.dir, link)); err != nil {
					t.Fatal(err)
				}
			}
			p, n := g.path(test.path)
			g.mem.WriteUint32Le(atResult, 77)
			g.want(test.want, "path_open", preopenFd, test.lookup, p, n, test.oflags, test.rights, 0, test.fdflags, atResult)
			if test.content == "" {
				test.content = "content"
			} else {
				test.content = ""
			}
			if got := g.hostText("file"); got != test.content {
				t.Errorf("file = %q, want %q", got, test.content)
			}
			if _, err := os.Stat(filepath.Join(g.dir, "new")); (err == nil) != (test.exists == "new") {
				t.Errorf("new exists: %v", err == nil)
			}
			if test.want != ok {
				if g.u32(atResult) != 77 {
					t.Error("a descriptor was given with an error")
				}
				return
			}
			fd := uint64(g.u32(atResult))
			g.want(ok, "fd_fdstat_get", fd, atBuf)
			if g.bytes(atBuf, 1)[0] == filetypeDirectory {
				return
			}
			if got := uint64(g.bytes(atBuf+2, 1)[0]); got != test.fdflags {
				t.Errorf("flags = %d, want %d", got, test.fdflags)
			}
			v, c := g.iovecs(atBuf, 0)
			if got := g.call("fd_read", fd, v, c, atResult); (got == ok) != test.canRead {
				t.Errorf("fd_read = %d, want success: %v", got, test.canRead)
			}
			if got := g.call("fd_write", fd, v, c, atResult); (got == ok) != test.canWrite {
				t.Errorf("fd_write = %d, want success: %v", got, test.canWrite)
			}
		})
	}
}

// What does not fit is closed again.
func TestPathOpen_ClosesWhatItRefuses(t *testing.T) {
	for _, test := range []struct {
		name           string
		mode           fs.FileMode
		oflags, rights uint64
		want           uint64
	}{
		{"a link itself", fs.ModeSymlink, 0, rightsRead, eLOOP},
		{"a file for a directory", 0, oflagDirectory, 0, eNOTDIR},
		{"a directory for writing", fs.ModeDir, 0, rightsWrite, eISDIR},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := &countingFS{FS: &oneFileFS{file: &regular{mode: test.mode}}}
			g := newGuest(t, func(c *Config) { c.FS = fs })
			if _, err := g.openAt(preopenFd, "x", test.oflags, test.rights, 0); err != test.want {
				t.Errorf("path_open = %d, want %d", err, test.want)
			}
			if fs.open != 0 {
				t.Errorf("%d files left open", fs.open)
			}
		})
	}
}

// O_NONBLOCK is ours to keep: on the host it would change how a file is opened.
func TestHowToOpen(t *testing.T) {
	how, err := howToOpen(0, 0, rightFdRead, fdflagNonblock|fdflagAppend)
	if err != 0 || how.flags != sys.O_RDONLY|sys.O_NOFOLLOW|sys.O_APPEND || how.fdflags != fdflagNonblock|fdflagAppend {
		t.Errorf("howToOpen = %+v, %v", how, err)
	}
	for _, right := range []rights{rightFdWrite, rightFdAllocate, rightFdFilestatSetSize, math.MaxUint64} {
		if how, _ := howToOpen(1, 0, right, 0); !how.write {
			t.Errorf("right %#x does not write", right)
		}
	}
	if how, _ := howToOpen(1, oflagExcl, rightFdRead, 0); how.flags != sys.O_RDONLY {
		t.Errorf("exclusive without create = %#x", how.flags)
	}
}
