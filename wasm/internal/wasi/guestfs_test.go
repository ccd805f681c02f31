package wasi

import (
	"os"
	"testing"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// newRealGuest has the file system that runs have.
func newRealGuest(t *testing.T) *guest {
	return fuzzGuest(t, nil)
}

func TestGuestFS_StaysInside(t *testing.T) {
	g := newRealGuest(t)
	canary := g.dir + "/canary"
	if err := os.WriteFile(canary, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"../../../../../.." + canary, canary[1:],
		guestfs.WorkPath[1:] + "/../../../../.." + canary,
		guestfs.WorkPath[1:] + "/x/../../../../.." + canary,
	} {
		if _, err := g.openAt(preopenFd, path, 0, rightsRead, 0); err != eNOENT {
			t.Errorf("path_open %q = %d, want ENOENT", path, err)
		}
	}
	for _, target := range []string{canary, "../../../../../../.." + canary} {
		p, n := g.path(target)
		q, m := g.path2(guestfs.WorkPath[1:] + "/link")
		g.want(ok, "path_symlink", p, n, preopenFd, q, m)
		if _, err := g.openAt(preopenFd, guestfs.WorkPath[1:]+"/link", 0, rightsRead, 0); err != eNOENT {
			t.Errorf("through a link to %q: %d, want ENOENT", target, err)
		}
		g.want(ok, "path_unlink_file", preopenFd, q, m)
	}
	// The preopen's ".." is the root.
	if _, err := g.openAt(preopenFd, "../../tmp", oflagDirectory, 0, 0); err != 0 {
		t.Errorf("path_open ../../tmp = %d", err)
	}
}

func TestGuestFS_WorkAndTmp(t *testing.T) {
	g := newRealGuest(t)
	for _, dir := range []string{guestfs.WorkPath[1:], "tmp"} {
		name := dir + "/sub/\xff.txt"
		g.want(ok, "path_create_directory", append([]uint64{preopenFd}, pair(g.path(dir+"/sub"))...)...)
		fd := g.open(name, oflagCreat|oflagExcl, rightsReadWrite, 0)
		g.write(fd, "hello")
		g.want(ok, "fd_seek", fd, 1, 0, atResult)
		if got := g.read(fd, 100); got != "ello" {
			t.Errorf("%s: read %q", dir, got)
		}
		sub := g.open(dir+"/sub", oflagDirectory, 0, 0)
		if got := g.names(sub, 30); len(got) != 3 || got[2] != "\xff.txt" {
			t.Errorf("%s: names %q", dir, got)
		}
		p, n := g.path("\xff.txt")
		g.want(ok, "path_symlink", p, n, sub, atPath, 1) // a link called "\xff"
		g.want(ok, "path_filestat_set_times", sub, 0, p, 1, 0, 5e9, fstflagMtim)
		g.want(ok, "path_filestat_get", sub, 0, p, 1, atBuf)
		if got := g.u64(atBuf + 48); got != 5e9 {
			t.Errorf("%s: mtime of the link = %d", dir, got)
		}
		g.want(ok, "path_filestat_get", sub, lookupSymlinkFollow, p, 1, atBuf)
		if got := g.u64(atBuf + 48); got == 5e9 {
			t.Errorf("%s: the link's target was touched", dir)
		}
	}
}

func TestGuestFS_DevNullIsNoTerminal(t *testing.T) {
	g := newRealGuest(t)
	fd := g.open("dev/null", 0, rightsReadWrite, 0)
	g.want(ok, "fd_fdstat_get", fd, atBuf)
	if g.bytes(atBuf, 1)[0] != filetypeCharacterDevice || g.u64(atBuf+8)&(rightFdSeek|rightFdTell) == 0 {
		t.Error("/dev/null looks like a terminal, or like no device")
	}
	g.write(fd, "gone")
	if got := g.read(fd, 10); got != "" {
		t.Errorf("read %q", got)
	}
}
