package guestfs

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestMounts_Listing(t *testing.T) {
	f := newFixture(t)
	expect(t, f.in(""),
		"ls / = dev run tmp usr", "ls /usr = lib", "ls /usr/lib = python3.13", "ls /usr/lib/python3.13 = a empty.py json os.py", "ls /usr/lib/python3.13/json = __init__.py decoder.py",
		"ls /dev = full null random stderr stdin stdout urandom zero", "ls /run = sandbar", "ls /run/sandbar = main.py", "ls /tmp = sandbox-work", "ls /tmp/sandbox-work = \"\"",
		"stat / = dir 555 nlink=6", "stat /usr = dir 555 nlink=3", "stat /tmp = dir 777 nlink=3", "stat /usr/lib/python3.13 = dir 555 nlink=4", "stat /usr/lib/python3.13/os.py = file 444 size=11 nlink=1",
		"cat /usr/lib/python3.13/os.py = import sys\n", "cat /run/sandbar/main.py = print(1)\n", "ls /.. = dev run tmp usr", "ls /usr/lib/../../tmp/../usr = lib", "ls /tmp/sandbox-work/.. = sandbox-work",
		"ls /usr/lib/python3.13/.. = python3.13", "ls /../../.. = dev run tmp usr", "ls ////usr///lib/// = python3.13", "cat usr/lib/python3.13/a/b/c.py = deep", "ls . = dev run tmp usr",
		"stat /usr/lib/python3.13/os.py/x = ENOTDIR", "stat /usr/lib/python3.13/nope/x = ENOENT", "stat /usr/lib/python3.13/json/x = ENOENT", "stat /run/sandbar/main.py/x = ENOTDIR",
		"stat /dev/null/x = ENOTDIR", "stat /nope = ENOENT", "stat /usr/nope/x = ENOENT", "readlink /usr = EINVAL", "readlink /usr/lib/python3.13/os.py = EINVAL", "readlink /dev/nope = ENOENT",
		"readlink /run/sandbar/nope = ENOENT", "readlink /usr/lib/python3.13/nope = ENOENT",
	)
	for path, want := range map[string]sys.Errno{"": sys.ENOENT, "\x00": sys.EINVAL, "a\x00b": sys.EINVAL, strings.Repeat("x", 300): sys.ENAMETOOLONG, strings.Repeat("/", 4096): sys.ENAMETOOLONG, strings.Repeat("/", 4095): 0} {
		if _, errno := f.fs.Stat(path); errno != want {
			t.Errorf("Stat(%.20q) = %v, want %v", path, errno, want)
		}
	}
	for _, target := range []string{"", "a\x00b"} {
		if errno := f.fs.Symlink(target, "/tmp/l"); errno == 0 {
			t.Errorf("Symlink(%q) = ok", target)
		}
	}
}

// TestMounts_ReadOnly makes every changing call on every kind of mount that does not change.
func TestMounts_ReadOnly(t *testing.T) {
	dir := grantable(t)
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("data"), 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	f := newFixture(t, withGrants(Grant{Path: dir}))
	for where, m := range map[string]struct{ base, file, dir string }{
		"tree":   {"/usr/lib/python3.13", "os.py", "json"},
		"script": {"/run/sandbar", "main.py", ""},
		"table":  {"/usr", "", "lib"},
		"grant":  {dir, "f", "d"},
		"dev":    {"/dev", "", ""},
	} {
		t.Run(where, func(t *testing.T) {
			g := f.in(m.base)
			before := g.do("ls .")
			rows := []string{
				"put new x = EROFS", "open h new r,creat = EROFS", "open h new r = ENOENT", "open h new w,creat,excl = EROFS", "mkdir new = EROFS", "mkdir new/ = EROFS", "symlink x new = EROFS", "put new/x x = ENOENT", "mkdir new/x = ENOENT",
				"unlink new = EROFS", "rmdir new = EROFS", "rename new new2 = EROFS", "chmod new 600 = ENOENT", "utimens new 1 1 = ENOENT", "chmod . 700 = EROFS", "utimens . 1 1 = EROFS", "link /tmp/t new = EXDEV", "rename /tmp/t new = EXDEV",
				"mkdir . = EEXIST", "open h . r,dir", "futimens h 1 1 = EROFS", "open h . rw = EISDIR", "symlink x . = EEXIST", "rmdir . = EINVAL",
			}
			if m.file != "" {
				rows = append(rows,
					"put FILE x = EROFS", "open h FILE w = EROFS", "open h FILE rw = EROFS", "open h FILE r,trunc = EROFS", "open h FILE r,creat", "open h FILE r,creat,excl = EEXIST", "open h FILE w,append = EROFS", "unlink FILE = EROFS", "rename FILE new = EROFS",
					"rename FILE FILE = EROFS", "link FILE new = EROFS", "link FILE /tmp/new = EXDEV", "rename FILE /tmp/new = EXDEV", "chmod FILE 777 = EROFS", "utimens FILE 1 1 = EROFS", "lutimens FILE 1 1 = EROFS", "mkdir FILE = EEXIST", "symlink x FILE = EEXIST", "link FILE FILE = EEXIST", "mkdir FILE/x = ENOTDIR",
					"open h FILE r", "write h x = EBADF", "pwrite h x 0 = EBADF", "ftruncate h 0 = EINVAL", "futimens h 1 1 = EROFS", "rename /tmp/t FILE = EXDEV", "symlink "+m.base+"/"+m.file+" /tmp/l", "put /tmp/l x = EROFS", "chmod /tmp/l 777 = EROFS", "utimens /tmp/l 1 1 = EROFS", "unlink /tmp/l",
					"unlink FILE/ = EROFS", "rmdir FILE = EROFS",
				)
			}
			if m.dir != "" {
				want := "EROFS"
				if where == "table" {
					want = "EBUSY" // every name there is a mount point, or leads to one
				}
				rows = append(rows, "rmdir DIR = "+want, "rename DIR new = "+want, "rename new DIR = "+want, "mkdir DIR = EEXIST", "put DIR x = EISDIR", "open h DIR r,trunc = EISDIR", "symlink "+m.base+"/"+m.dir+" /tmp/l")
				if where != "table" {
					rows = append(rows, "unlink DIR = EROFS", "mkdir DIR/new = EROFS", "mkdir /tmp/l/new = EROFS", "symlink x /tmp/l/new = EROFS", "put /tmp/l/new x = EROFS", "unlink /tmp/l/new = EROFS", "rename /tmp/t /tmp/l/new = EXDEV")
				}
				rows = append(rows, "unlink /tmp/l")
			}
			expect(t, g, "put /tmp/t x")
			for _, row := range rows {
				step, want, _ := strings.Cut(row, " = ")
				step = strings.NewReplacer("FILE", m.file, "DIR", m.dir).Replace(step)
				expect(t, g, step+" = "+cmp.Or(want, "ok"))
			}
			if after := g.do("ls ."); after != before {
				t.Errorf("the listing is %q, it was %q", after, before)
			}
		})
	}
	if b, err := os.ReadFile(filepath.Join(dir, "f")); string(b) != "data" || err != nil {
		t.Errorf("the granted file holds %q, %v", b, err)
	}
}

func TestMounts_MountPoints(t *testing.T) {
	f := newFixture(t)
	expect(t, f.in("/tmp"),
		"put f x", "mkdir d", "rename sandbox-work moved = EBUSY", "rename f sandbox-work = EBUSY", "rename d sandbox-work = EBUSY", "rename d/ sandbox-work/ = EBUSY", "rmdir sandbox-work = EBUSY", "rmdir sandbox-work/ = EBUSY", "unlink sandbox-work = EISDIR",
		"mkdir sandbox-work = EEXIST", "symlink x sandbox-work = EEXIST", "link f sandbox-work = EEXIST", "put sandbox-work x = EISDIR", "rename /tmp /x = EBUSY", "rename / /tmp/x = EBUSY", "rename f / = EBUSY", "rmdir / = EBUSY", "unlink / = EISDIR", "mkdir / = EEXIST",
		"rmdir /tmp = EBUSY", "rmdir /dev = EBUSY", "rename /usr/lib/python3.13 /tmp/x = EBUSY", "rename /usr /tmp/x = EBUSY", "rename f sandbox-work/f = EXDEV", "rename d sandbox-work/d = EXDEV", "link f sandbox-work/f = EXDEV", "link sandbox-work x = EXDEV",
		"put sandbox-work/w y", "rename sandbox-work/w w = EXDEV", "link sandbox-work/w w = EXDEV", "rename f sandbox-work/nope/x = ENOENT", "rename /dev/null f = EXDEV", "symlink /tmp/sandbox-work s", "rename f s/f = EXDEV", "rename s/w s/w2", "cat sandbox-work/w2 = y",
		"rename s/w2 sandbox-work/w3", "rename sandbox-work/w3 s/w2", "symlink /tmp sandbox-work/up", "rename f sandbox-work/up/g", "cat g = x", "link g sandbox-work/up/h", "cat h = x", "put sandbox-work/up/k z", "cat k = z", "symlink sandbox-work/up around", "cat around/k = z",
		"rename sandbox-work/up/around d/a", "cat d/../sandbox-work/../k = z",
	)
}

// Every mount has a device number of its own, which is not the host's.
func TestMounts_DeviceAndInode(t *testing.T) {
	dir := grantable(t)
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	f := newFixture(t, withGrants(Grant{Path: dir}))
	expect(t, f.guest, "put f x", "put g x", "mkdir d")
	expect(t, f.in("/tmp"), "put f x", "put g x")
	devs := map[uint64]string{}
	for _, mount := range []string{"/", "/tmp", "/dev", "/run/sandbar", WorkPath, "/usr/lib/python3.13", dir} {
		st, errno := f.fs.Stat(mount)
		if errno != 0 || st.Dev == 0 || st.Ino == 0 {
			t.Errorf("Stat(%s) = dev %d, ino %d, %v", mount, st.Dev, st.Ino, errno)
		}
		if other, ok := devs[st.Dev]; ok {
			t.Errorf("%s and %s have the same device number", mount, other)
		}
		if st.Dev > 1<<devShift*100 {
			t.Errorf("%s: device number %d looks like the host's", mount, st.Dev)
		}
		devs[st.Dev] = mount
	}
	inodes := map[[2]uint64]string{}
	for _, path := range []string{WorkPath + "/f", WorkPath + "/g", WorkPath + "/d", "/tmp/f", "/tmp/g", "/usr/lib/python3.13/os.py", "/usr/lib/python3.13/json", dir + "/f", "/dev/null", "/dev/zero", "/run/sandbar/main.py"} {
		st, errno := f.fs.Stat(path)
		again, _ := f.fs.Stat(path)
		id := [2]uint64{st.Dev, st.Ino}
		if errno != 0 || st.Ino == 0 || again.Ino != st.Ino || inodes[id] != "" {
			t.Errorf("Stat(%s) = ino %d, then %d, %v; other with it: %q", path, st.Ino, again.Ino, errno, inodes[id])
		}
		inodes[id] = path
		file, errno := f.fs.OpenFile(path, sys.O_RDONLY, 0)
		if errno != 0 {
			t.Fatal(path, errno)
		}
		fst, _ := file.Stat()
		dev, _ := file.Dev()
		ino, _ := file.Ino()
		if fst.Dev != st.Dev || fst.Ino != st.Ino || dev != st.Dev || ino != st.Ino {
			t.Errorf("%s: open, dev %d ino %d; closed, dev %d ino %d", path, fst.Dev, fst.Ino, st.Dev, st.Ino)
		}
		if isDir, _ := file.IsDir(); isDir != st.Mode.IsDir() {
			t.Errorf("%s: IsDir() = %v", path, isDir)
		}
		_ = file.Close()
		listed(t, f.fs, path, st.Ino)
	}
}

// listed checks that the directory of path lists it with the inode number that it has.
func listed(t *testing.T, f *FS, path string, ino uint64) {
	t.Helper()
	dir, errno := f.OpenFile(filepath.ToSlash(filepath.Dir(path)), sys.O_DIRECTORY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer func() { _ = dir.Close() }()
	entries, errno := dir.Readdir(-1)
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, e := range entries {
		if e.Name == filepath.Base(path) && e.Ino == ino {
			return
		}
	}
	t.Errorf("%s is not listed with inode %d: %v", path, ino, entries)
}

func TestSession_Refuses(t *testing.T) {
	dir := grantable(t)
	must(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o644))
	grant := func(paths ...string) []Grant {
		var all []Grant
		for _, p := range paths {
			all = append(all, Grant{Path: p})
		}
		return all
	}
	for name, grants := range map[string][]Grant{
		"missing":            grant(dir + "/nope"),
		"relative":           grant("."),
		"empty":              grant(""),
		"root":               grant("/"),
		"dots":               grant(dir + "/a/.."),
		"twice":              grant(dir, dir),
		"inside another":     grant(dir, dir+"/a"),
		"around another":     grant(dir+"/a/b", dir+"/a"),
		"file and around":    grant(dir+"/f", dir),
		"tmp":                grant("/tmp"),
		"dev":                grant("/dev"),
		"around the library": grant("/usr"),
	} {
		if runtime.GOOS == "windows" {
			t.Skip("paths of Unix")
		}
		s, err := NewSession(SessionConfig{Trees: []TreeMount{{Path: "/usr/lib/python3.13", Tree: stdlib(t)}}, Grants: grants})
		if err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close()
		}
	}
	s, err := NewSession(SessionConfig{Grants: grant(dir+"/a", dir+"/f")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	f := s.NewFS(RunConfig{})
	defer f.Close()
	g := &guest{t: t, fs: f, base: dir}
	expect(t, g, "ls . = a f", "ls a = b", "stat . = dir 555 nlink=3", "put a/x x = EROFS", "ls .. = "+filepath.Base(dir), "cat ../"+filepath.Base(dir)+"/f = \"\"", "put n x = EROFS")
}

func TestDev_Files(t *testing.T) {
	out := &bytesFile{st: fixedStat(9, 9, 0o600, 3, 0), load: func() ([]byte, sys.Errno) { return []byte("abc"), 0 }}
	f := newFixture(t, func(_ *SessionConfig, r *RunConfig) { r.Stdin = out })
	g := f.in("/dev")
	expect(t, g,
		"put null anything", "cat null = \"\"", "stat null = other 666 size=0 nlink=1", "open h zero rw", "read h 5 = <5>", "write h x = 1", "pread h 3 77 = <3>", "open h full rw,trunc,creat", "write h x = ENOSPC", "pwrite h x 0 = ENOSPC", "read h 2 = <2>", "open h null r", "write h x = EBADF",
		"open h null w", "read h 1 = EBADF", "seek h 100 set = 0", "open h null r,dir = ENOTDIR", "open h null w,creat,excl = EEXIST", "open h tty rw = ENOENT", "open h sda rw,creat = EROFS", "cat stdin = abc", "open h stdout w = ENXIO", "open h stderr w = ENXIO",
		"open h stdin r", "seek h 0 set = 0", "read h 9 = abc", "close h",
	)
	if out.closed {
		t.Error("closing /dev/stdin closed the run's stdin")
	}
	file, errno := f.fs.OpenFile("/dev/urandom", sys.O_RDONLY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	a, b := make([]byte, 32), make([]byte, 32)
	if n, errno := file.Read(a); n != 32 || errno != 0 {
		t.Error(n, errno)
	}
	if n, errno := file.Read(b); n != 32 || errno != 0 || string(a) == string(b) || string(a) == strings.Repeat("\x00", 32) {
		t.Error("urandom repeats itself", n, errno)
	}
	if n, _ := file.Read(make([]byte, 8<<20)); n > maxRandom {
		t.Errorf("one read gave %d bytes", n)
	}
}

// A run without a proper script name has none.
func TestScript_Names(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", 256)} {
		f := newFixture(t, func(_ *SessionConfig, r *RunConfig) { r.ScriptName = name })
		expect(t, f.in(ScriptDir), "ls . = \"\"", "cat x = ENOENT")
	}
	f := newFixture(t)
	expect(t, f.in(ScriptDir), "open h main.py r", "seek h -4 end = 5", "read h 3 = (1)", "pread h 5 0 = print", "pread h 5 -1 = EINVAL", "pread h 5 100 = \"\"", "seek h -1 set = EINVAL", "seek h 9223372036854775807 end = EINVAL", "close h")
}

// grantable is a directory that can be granted: t.TempDir can lie in /tmp, which is a mount of its own.
func grantable(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "guestfs")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	target, err := filepath.EvalSymlinks(dir)
	must(t, err)
	return target
}
