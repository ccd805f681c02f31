package wasi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the FS is asked for.
func TestAt_Paths(t *testing.T) {
	for _, test := range []struct {
		dir, path, want string
		err             uint64
	}{
		{"", "a", "a", 0},
		{"", "a/b", "a/b", 0},
		{"", ".", ".", 0},
		{"", "a//b/", "a//b/", 0},
		{"", "../../etc", "../../etc", 0}, // the FS keeps it in
		{"", "a/../..", "a/../..", 0},
		{"", "\xff\xc0\x80", "\xff\xc0\x80", 0},
		{"d", "a", "d/a", 0},
		{"d", ".", "d/.", 0},
		{"d", "a/../b", "d/a/../b", 0},
		{"d", "a/", "d/a/", 0},
		{"d/e", "a", "d/e/a", 0},
		{".", "a", "a", 0},
		{"./d//e/.", "a", "d/e/a", 0},
		{"d", "..", "", ePERM},
		{"d", "../d/a", "", ePERM},
		{"d", "./..", "", ePERM},
		{"d", "a/../../a", "", ePERM},
		{"d", "a/b/../../../a/b/../..", "", ePERM},
		{".", "..", "", ePERM},
		{"", "/", "", ePERM},
		{"", "/a", "", ePERM},
		{"d", "/a", "", ePERM},
		{"", "", "", eNOENT},
		{"d", "", "", eNOENT},
		{"", "a\x00", "", eINVAL},
		{"", "a\x00b", "", eINVAL},
		{"", strings.Repeat("a", 4096), strings.Repeat("a", 4096), 0},
		{"", strings.Repeat("a", 4097), "", eNAMETOOLONG},
		{"d", strings.Repeat("a", 4094), "d/" + strings.Repeat("a", 4094), 0},
		{"d", strings.Repeat("a", 4095), "", eNAMETOOLONG},
	} {
		g := newGuest(t)
		g.host("d/e/", "")
		dirfd := uint64(preopenFd)
		if test.dir != "" {
			dirfd = g.open(test.dir, oflagDirectory, 0, 0)
		}
		rec := &recordingFS{}
		g.env.fs = rec
		ptr, size := g.path(test.path)
		want := test.err
		if want == 0 {
			want = eNOENT
		}
		g.want(want, "path_filestat_get", dirfd, 0, ptr, size, atBuf)
		switch {
		case test.err != 0 && len(rec.paths) != 0:
			t.Errorf("%.20q under %q: the FS was asked for %.20q", test.path, test.dir, rec.paths)
		case test.err == 0 && !slices.Equal(rec.paths, []string{test.want}):
			t.Errorf("%.20q under %q: the FS was asked for %.20q, want %.20q", test.path, test.dir, rec.paths, test.want)
		}
	}
}

// Opening directories one under another does not make paths without end.
func TestAt_NestedDirectories(t *testing.T) {
	g := newGuest(t)
	name := strings.Repeat("d", 200)
	dir, opened := uint64(preopenFd), 0
	for range 40 {
		ptr, size := g.path(name)
		err := g.call("path_create_directory", dir, ptr, size)
		if err == 0 {
			dir, err = g.openAt(dir, name, oflagDirectory, 0, 0)
		}
		if err == eNAMETOOLONG {
			break
		}
		if err != 0 {
			t.Fatalf("level %d: %d", opened, err)
		}
		opened++
	}
	if opened < 10 || opened > 4096/201 {
		t.Errorf("%d levels", opened)
	}
	// "." does not add up.
	dir = preopenFd
	for range 100 {
		next, err := g.openAt(dir, "././.", oflagDirectory, 0, 0)
		if err != 0 {
			t.Fatal(err)
		}
		dir = next
	}
	if got := g.env.files.get(uint32(dir)).path; got != "" {
		t.Errorf("path = %q", got)
	}
}

func TestEveryPathFunction_BadDirfd(t *testing.T) {
	g := newGuest(t)
	g.host("file", "")
	file := g.open("file", 0, rightsRead, 0)
	p, n := g.path("file")
	q, m := g.path2("new")
	for fd, want := range map[uint64]uint64{99: eBADF, 0: eNOTDIR, file: eNOTDIR, 0xffffffff: eBADF} {
		g.want(want, "path_create_directory", fd, p, n)
		g.want(want, "path_filestat_get", fd, 0, p, n, atBuf)
		g.want(want, "path_filestat_set_times", fd, 0, p, n, 0, 0, 0)
		g.want(want, "path_link", fd, 0, p, n, preopenFd, q, m)
		g.want(want, "path_link", preopenFd, 0, p, n, fd, q, m)
		g.want(want, "path_open", fd, 0, p, n, 0, 0, 0, 0, atResult)
		g.want(want, "path_readlink", fd, p, n, atBuf, 10, atResult)
		g.want(want, "path_remove_directory", fd, p, n)
		g.want(want, "path_rename", fd, p, n, preopenFd, q, m)
		g.want(want, "path_rename", preopenFd, p, n, fd, q, m)
		g.want(want, "path_symlink", p, n, fd, q, m)
		g.want(want, "path_unlink_file", fd, p, n)
	}
}

func TestPathDirectories(t *testing.T) {
	g := newGuest(t)
	g.host("file", "")
	g.host("full/sub/", "")
	at := func(name string) []uint64 { return append([]uint64{preopenFd}, pair(g.path(name))...) }
	g.want(ok, "path_create_directory", at("d")...)
	g.want(ok, "path_create_directory", at("\xff")...)
	if fi, err := os.Stat(filepath.Join(g.dir, "\xff")); err != nil || !fi.IsDir() {
		t.Errorf("a name that is not UTF-8: %v", err)
	}
	g.want(eEXIST, "path_create_directory", at("d")...)
	g.want(eNOENT, "path_create_directory", at("none/d")...)
	g.want(ok, "path_remove_directory", at("d")...)
	g.want(eNOENT, "path_remove_directory", at("d")...)
	g.want(eNOTDIR, "path_remove_directory", at("file")...)
	g.want(eNOTEMPTY, "path_remove_directory", at("full")...)
	g.want(eISDIR, "path_unlink_file", at("full")...)
	g.want(ok, "path_unlink_file", at("file")...)
	g.want(eNOENT, "path_unlink_file", at("file")...)
}

func TestPathFilestatGet(t *testing.T) {
	g := newGuest(t)
	g.host("file", "12345")
	if err := os.Symlink("file", filepath.Join(g.dir, "link")); err != nil {
		t.Fatal(err)
	}
	p, n := g.path("link")
	g.want(ok, "path_filestat_get", preopenFd, 0, p, n, atBuf)
	if got := g.u64(atBuf + 16); got != uint64(filetypeSymbolicLink) {
		t.Errorf("filetype = %d, want the link", got)
	}
	g.want(ok, "path_filestat_get", preopenFd, lookupSymlinkFollow, p, n, atBuf)
	if got := g.u64(atBuf + 16); got != uint64(filetypeRegularFile) || g.u64(atBuf+32) != 5 {
		t.Errorf("filetype = %d, want the file", got)
	}
	g.want(eINVAL, "path_filestat_get", preopenFd, 2, p, n, atBuf)
	p, n = g.path("none")
	g.want(eNOENT, "path_filestat_get", preopenFd, 0, p, n, atBuf)
}

func TestPathFilestatSetTimes_OfLink(t *testing.T) {
	g := newGuest(t)
	g.host("file", "")
	if err := os.Symlink("file", filepath.Join(g.dir, "link")); err != nil {
		t.Fatal(err)
	}
	p, n := g.path("link")
	set := func(want uint64, lookup uint64) {
		t.Helper()
		g.want(want, "path_filestat_set_times", preopenFd, lookup, p, n, 0, 7e9, fstflagMtim)
	}
	mtime := func() int64 {
		fi, err := os.Stat(filepath.Join(g.dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		return fi.ModTime().UnixNano()
	}
	old := mtime()
	set(eNOTSUP, 0)
	if mtime() != old {
		t.Error("the target was touched")
	}
	fs := &lutimesFS{FS: g.env.fs}
	g.env.fs = fs
	set(ok, 0)
	if mtime() != old || fs.path != "link" {
		t.Errorf("the target was touched; Lutimens(%q)", fs.path)
	}
	set(ok, lookupSymlinkFollow)
	if mtime() != 7e9 {
		t.Error("the target was not touched")
	}
	set(eINVAL, 2)
	p, n = g.path("none")
	set(eNOENT, lookupSymlinkFollow)
}

func TestPathLinkRename(t *testing.T) {
	g := newGuest(t)
	g.host("a", "content")
	g.host("d/", "")
	g.host("e/full/", "")
	d := g.open("d", oflagDirectory, 0, 0)
	two := func(from, to string, toDir uint64) []uint64 {
		p, n := g.path(from)
		q, m := g.path2(to)
		return []uint64{preopenFd, p, n, toDir, q, m}
	}
	link := func(want uint64, flags uint64, args []uint64) {
		t.Helper()
		g.want(want, "path_link", append([]uint64{args[0], flags}, args[1:]...)...)
	}
	link(ok, 0, two("a", "b", d))
	if g.hostText("d/b") != "content" {
		t.Error("d/b is not a link to a")
	}
	link(eEXIST, 0, two("a", "b", d))
	link(eNOENT, 0, two("none", "c", d))
	link(eNOENT, lookupSymlinkFollow, two("none", "c", d))
	link(eINVAL, lookupSymlinkFollow|2, two("a", "followed", d))
	link(ok, lookupSymlinkFollow, two("a", "followed", d))
	if g.hostText("d/followed") != "content" {
		t.Error("d/followed is not a link to a")
	}
	if err := os.Symlink("a", filepath.Join(g.dir, "symbolic")); err != nil {
		t.Fatal(err)
	}
	link(eINVAL, lookupSymlinkFollow, two("symbolic", "c", d)) // it would have to lead to a
	link(ok, 0, two("symbolic", "one-more", d))
	link(ePERM, 0, two("a", "../c", d))

	g.want(ok, "path_rename", two("a", "c", d)...)
	if g.hostText("d/c") != "content" {
		t.Error("a is not at d/c")
	}
	g.want(eNOENT, "path_rename", two("a", "c", d)...)
	g.want(eISDIR, "path_rename", two("d/c", "e", preopenFd)...)
	g.want(eNOTEMPTY, "path_rename", two("d", "e", preopenFd)...)
	g.want(ePERM, "path_rename", two("d/b", "../x", d)...)
	g.want(ePERM, "path_rename", two("d/b", "/x", preopenFd)...)
}

func TestPathSymlinkReadlink(t *testing.T) {
	g := newGuest(t)
	g.host("d/", "")
	d := g.open("d", oflagDirectory, 0, 0)
	symlink := func(want uint64, target, path string, dir uint64) {
		t.Helper()
		p, n := g.path(target)
		q, m := g.path2(path)
		g.want(want, "path_symlink", p, n, dir, q, m)
	}
	symlink(ok, "../target\xff", "link", d)
	if got, err := os.Readlink(filepath.Join(g.dir, "d/link")); got != "../target\xff" {
		t.Errorf("link = %q, %v", got, err)
	}
	symlink(eEXIST, "x", "link", d)
	symlink(eNOENT, "", "l", d)
	symlink(eNOENT, "x", "", d)
	symlink(eINVAL, "x\x00y", "l", d)
	symlink(eNAMETOOLONG, strings.Repeat("x", 4097), "l", d)
	symlink(ePERM, "x", "../l", d)
	symlink(ePERM, "x", "/l", preopenFd)

	p, n := g.path("link")
	for size, want := range map[uint64]string{100: "../target\xff", 10: "../target\xff", 4: "../t", 1: "."} {
		g.put(atBuf, []byte("############"))
		g.want(ok, "path_readlink", d, p, n, atBuf, size, atResult)
		if got := string(g.bytes(atBuf, g.u32(atResult)+1)); got != want+"#" {
			t.Errorf("readlink into %d = %q, want %q", size, got, want)
		}
	}
	g.want(eINVAL, "path_readlink", d, p, n, atBuf, 0, atResult)
	p, n = g.path("d")
	g.want(eINVAL, "path_readlink", preopenFd, p, n, atBuf, 10, atResult)
	p, n = g.path("none")
	g.want(eNOENT, "path_readlink", preopenFd, p, n, atBuf, 10, atResult)
}

// The FS decides about absolute targets: they are text to us.
func TestPathSymlink_Absolute(t *testing.T) {
	g := newGuest(t)
	fs := &symlinkFS{}
	g.env.fs = fs
	p, n := g.path("/etc/passwd")
	q, m := g.path2("l")
	g.want(ok, "path_symlink", p, n, preopenFd, q, m)
	if fs.target != "/etc/passwd" || fs.link != "l" {
		t.Errorf("Symlink(%q, %q)", fs.target, fs.link)
	}
}
