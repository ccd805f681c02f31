package wasi

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
)

type dirent struct {
	next, ino uint64
	name      string
	filetype  filetype
}

// readdir reads one buffer of entries; what is cut off at its end is left out.
func (g *guest) readdir(fd, size, cookie uint64) (list []dirent, used uint32) {
	g.Helper()
	g.want(ok, "fd_readdir", fd, atBuf, size, cookie, atResult)
	used = g.u32(atResult)
	for at := uint32(atBuf); at+direntSize <= atBuf+used; {
		n := g.u32(at + 16)
		if at+direntSize+n > atBuf+used {
			break
		}
		list = append(list, dirent{
			next: g.u64(at), ino: g.u64(at + 8),
			name: string(g.bytes(at+direntSize, n)), filetype: g.bytes(at+20, 1)[0],
		})
		at += direntSize + n
	}
	return list, used
}

// names reads a directory as wasi-libc does: with a small buffer, from the last cookie on.
func (g *guest) names(fd, size uint64) []string {
	g.Helper()
	var names []string
	cookie := uint64(0)
	for {
		list, used := g.readdir(fd, size, cookie)
		for _, e := range list {
			names = append(names, e.name)
			cookie = e.next
		}
		if uint64(used) < size {
			return names
		}
		if len(list) == 0 {
			size *= 2
		}
	}
}

func TestReaddir(t *testing.T) {
	g := newGuest(t)
	g.host("file", "")
	g.host("dir/", "")
	g.host("\xff\xfe not UTF-8", "")
	list, used := g.readdir(preopenFd, 4096, 0)
	if used == 0 || used >= 4096 {
		t.Errorf("used %d", used)
	}
	types := map[string]filetype{}
	for i, e := range list {
		types[e.name] = e.filetype
		if e.next != uint64(i+1) {
			t.Errorf("cookie after %q = %d, want %d", e.name, e.next, i+1)
		}
		if e.ino == 0 {
			t.Errorf("%q has no inode", e.name)
		}
	}
	want := map[string]filetype{
		".": filetypeDirectory, "..": filetypeDirectory, "dir": filetypeDirectory,
		"file": filetypeRegularFile, "\xff\xfe not UTF-8": filetypeRegularFile,
	}
	if fmt.Sprint(types) != fmt.Sprint(want) {
		t.Errorf("entries = %v, want %v", types, want)
	}
	if list[0].name != "." || list[1].name != ".." {
		t.Errorf("the first two = %q, %q", list[0].name, list[1].name)
	}
	g.want(eNOTDIR, "fd_readdir", 1, atBuf, 100, 0, atResult)
	g.want(eNOTDIR, "fd_readdir", g.open("file", 0, rightsRead, 0), atBuf, 100, 0, atResult)
	g.want(eBADF, "fd_readdir", 99, atBuf, 100, 0, atResult)
}

func TestReaddir_DotsInode(t *testing.T) {
	g := newGuest(t)
	g.host("dir/", "")
	root, _ := g.readdir(preopenFd, 4096, 0)
	sub, _ := g.readdir(g.open("dir", oflagDirectory, 0, 0), 4096, 0)
	var dir uint64
	for _, e := range root {
		if e.name == "dir" {
			dir = e.ino
		}
	}
	if sub[0].ino != dir {
		t.Errorf(`inode of "." = %d, want %d`, sub[0].ino, dir)
	}
	if sub[1].ino != root[0].ino {
		t.Errorf(`inode of ".." = %d, want %d`, sub[1].ino, root[0].ino)
	}
}

func TestReaddir_SmallBuffers(t *testing.T) {
	g := newGuest(t)
	want := []string{".", ".."}
	for i := range 50 {
		name := fmt.Sprintf("%0*d", 1+i*5, i)
		g.host(name, "")
		want = append(want, name)
	}
	slices.Sort(want)
	for _, size := range []uint64{1, 24, 25, 31, 64, 300, 4096} {
		fd := g.open(".", oflagDirectory, 0, 0)
		got := g.names(fd, size)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("buffer of %d: %d names, want %d", size, len(got), len(want))
		}
		g.want(ok, "fd_close", fd)
	}
}

// An entry is cut exactly at the buffer's end, and what is behind it stays.
func TestReaddir_Cut(t *testing.T) {
	g := newGuest(t)
	g.host("abcdef", "")
	whole, used := g.readdir(preopenFd, 4096, 0)
	all := g.bytes(atBuf, used)
	for size := range uint64(used + 2) {
		g.put(atBuf, bytes.Repeat([]byte{'#'}, int(used)+8))
		g.want(ok, "fd_readdir", preopenFd, atBuf, size, 0, atResult)
		n := min(size, uint64(used))
		if got := uint64(g.u32(atResult)); got != n {
			t.Fatalf("buffer of %d: used %d", size, got)
		}
		if !bytes.Equal(g.bytes(atBuf, uint32(n)), all[:n]) || g.bytes(atBuf+uint32(n), 1)[0] != '#' {
			t.Fatalf("buffer of %d: wrong bytes", size)
		}
	}
	if len(whole) != 3 {
		t.Errorf("%d entries", len(whole))
	}
}

func TestReaddir_Cookies(t *testing.T) {
	g := newGuest(t)
	for i := range 10 {
		g.host(fmt.Sprint("f", i), "")
	}
	all, used := g.readdir(preopenFd, 4096, 0)
	for i := range all {
		tail, _ := g.readdir(preopenFd, uint64(used), uint64(i)) // too small to reach the end, but for i = 0
		if !slices.Equal(tail, all[i:]) {
			t.Errorf("from cookie %d: %v", i, tail)
		}
	}
	for _, cookie := range []uint64{uint64(len(all)), 1000, math.MaxUint64} {
		if list, used := g.readdir(preopenFd, 4096, cookie); used != 0 {
			t.Errorf("cookie %d: %v", cookie, list)
		}
	}
}

// What is removed and added while a program goes through a directory neither repeats nor hides the others.
func TestReaddir_Stable(t *testing.T) {
	g := newGuest(t)
	for i := range 20 {
		g.host(fmt.Sprintf("file%02d", i), "")
	}
	seen := map[string]int{}
	for cookie := uint64(0); ; {
		list, used := g.readdir(preopenFd, 64, cookie)
		for _, e := range list {
			seen[e.name]++
			cookie = e.next
			if e.name[0] == 'f' {
				g.want(ok, "path_unlink_file", append([]uint64{preopenFd}, pair(g.path(e.name))...)...)
				g.host("new-"+e.name, "")
			}
		}
		if used < 64 {
			break
		}
	}
	for i := range 20 {
		if n := seen[fmt.Sprintf("file%02d", i)]; n != 1 {
			t.Errorf("file%02d seen %d times", i, n)
		}
	}
	// From the start the directory is read again.
	for _, name := range g.names(preopenFd, 4096) {
		if name[0] == 'f' {
			t.Errorf("%s is still listed", name)
		}
	}
}

func pair(a, b uint64) []uint64 { return []uint64{a, b} }

// A program that goes back to the start in the middle sees what is there now.
func TestReaddir_Rewind(t *testing.T) {
	g := newGuest(t)
	g.host("old", "")
	g.readdir(preopenFd, 30, 0)
	g.host("new", "")
	if list, _ := g.readdir(preopenFd, 4096, 0); len(list) != 4 {
		t.Errorf("%d entries, want 4", len(list))
	}
}

// The entries that open descriptors hold are counted, bounded, and given back.
func TestReaddir_Bounded(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.FS = &endlessFS{c.FS} })
	g.want(eNOMEM, "fd_readdir", preopenFd, atBuf, 100, 0, atResult)
	if g.env.listed != 0 {
		t.Errorf("%d entries held after ENOMEM", g.env.listed)
	}

	g = newGuest(t)
	for i := range 30 {
		g.host(fmt.Sprint("f", i), "")
	}
	a, b := g.open(".", oflagDirectory, 0, 0), g.open(".", oflagDirectory, 0, 0)
	g.readdir(a, 64, 0)
	g.readdir(b, 64, 0)
	if g.env.listed != 64 {
		t.Errorf("%d entries held, want 2 x 32", g.env.listed)
	}
	g.readdir(b, 64, 0)
	g.env.listed += maxListed - 64
	g.want(eNOMEM, "fd_readdir", preopenFd, atBuf, 64, 0, atResult)
	g.env.listed -= maxListed - 64
	g.want(ok, "fd_close", a)
	if g.env.listed != 32 {
		t.Errorf("%d entries held after a close, want 32", g.env.listed)
	}
	g.readdir(b, 4096, 1)
	if g.env.listed != 0 {
		t.Errorf("%d entries held after the end, want 0", g.env.listed)
	}
}
