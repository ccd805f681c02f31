//go:build unix

package guestfs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// FuzzPath makes calls with any two paths over a tree with links that lead out, in the work directory, in /tmp and
// across. Nothing outside may be read or changed, no call may panic, and no descriptor may stay.
//
// The links lead to a directory of the test, and no seed goes on from there: the calls unlink and rename, so if the
// guard that is tested here is ever broken, a way to the real root would destroy the machine that runs the test.
func FuzzPath(f *testing.F) {
	for _, seed := range [][2]string{
		{"tmp/sandbox-work/evil", "tmp/sandbox-work/d"},
		{"/tmp/sandbox-work/d/../evil/f", "/tmp/x"},
		{"/tmp/sandbox-work/rel/../f", "tmp/l/x"},
		{"", "/"},
		{"..", "."},
		{"/tmp/sandbox-work/loop", "/tmp/loop/x"},
		{"a\x00b", "\xff\xfe"},
		{"/tmp/sandbox-work/evil/f", "/tmp/sandbox-work/got"},
		{"//tmp///sandbox-work//d//", "/tmp/sandbox-work/../sandbox-work/d/../../x"},
		{"/dev/null", "/dev/null/x"},
		{"/usr/lib/python3.13/os.py", "/run/sandbar/main.py/.."},
		{"/tmp/sandbox-work/hop/f", "/tmp/sandbox-work/hop/new"},
		{strings.Repeat("d/../", 800), strings.Repeat("x", 256)},
		{"/tmp/sandbox-work/evil/.", "/tmp/sandbox-work/evil/.."},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		fx := newFixture(t, withQuota(&tally{maxBytes: 1 << 20, maxFiles: 1000}))
		out := filepath.Join(filepath.Dir(fx.work), "outside")
		must(t, os.MkdirAll(out, 0o755))
		must(t, os.WriteFile(out+"/f", []byte(secret), 0o644))
		before := snapshot(t, out)
		for at, target := range map[string]string{"evil": out, "rel": "../outside", "hop": "rel", "loop": "loop", "file": out + "/f", "none": "../outside/none"} {
			must(t, os.Symlink(target, filepath.Join(fx.work, at)))
		}
		must(t, os.MkdirAll(fx.work+"/d/e", 0o755))
		must(t, os.WriteFile(fx.work+"/d/f", []byte("inside"), 0o644))
		noErrno(t, fx.fs.Symlink("/tmp/sandbox-work/rel", "/tmp/l"))
		fuzzCalls(t, fx.fs, a, b)
		fuzzCalls(t, fx.fs, b, a)
		if after := snapshot(t, out); after != before {
			t.Errorf("paths %q and %q changed the outside:\n%s", a, b, after)
		}
		fx.fs.Close()
		if n := fx.session.HostFiles(); n != 0 {
			t.Errorf("%d host descriptors left", n)
		}
	})
}

func noErrno(t *testing.T, errno sys.Errno) {
	t.Helper()
	if errno != 0 {
		t.Fatal(errno)
	}
}

func fuzzCalls(t *testing.T, f *FS, a, b string) {
	t.Helper()
	check := func(file sys.File, errno sys.Errno) {
		if errno == errWalk {
			t.Errorf("errWalk came out for %q", a)
		}
		if errno != 0 {
			return
		}
		buf := make([]byte, 64)
		n, _ := file.Read(buf)
		if bytes.Contains(buf[:n], []byte(secret)) {
			t.Errorf("%q shows the outside", a)
		}
		_, _ = file.Readdir(10)
		_, _ = file.Write([]byte("x"))
		_, _ = file.Stat()
	}
	for _, flag := range []sys.Oflag{sys.O_RDONLY, sys.O_RDONLY | sys.O_DIRECTORY, sys.O_RDWR | sys.O_NOFOLLOW, sys.O_RDWR | sys.O_CREAT | sys.O_EXCL, sys.O_RDWR | sys.O_CREAT, sys.O_WRONLY | sys.O_TRUNC | sys.O_APPEND} {
		check(f.OpenFile(a, flag, 0o600))
	}
	_, e1 := f.Stat(a)
	_, e2 := f.Lstat(a)
	_, e3 := f.Readlink(a)
	for _, errno := range []sys.Errno{
		e1, e2, e3, f.Mkdir(a, 0o700), f.Symlink(b, a), f.Link(a, b), f.Rename(a, b), f.Chmod(b, 0o600), f.Utimens(b, 1, 1), f.Lutimens(b, 1, 1), f.Unlink(b), f.Rmdir(b), f.Unlink(a), f.Rmdir(a),
	} {
		if errno == errWalk {
			t.Errorf("errWalk came out for %q, %q", a, b)
		}
	}
}

// The two pieces of path handling that do not ask anyone, against a plain way to do the same.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "/", "a//b/./c/", "..", "../..a/...", "a/../b/.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		abs, _, _, errno := clean(path)
		var want []string
		long, dots := false, false
		for c := range strings.SplitSeq(path, "/") {
			long = long || len(c) > nameMax
			if c != "" && c != "." {
				want = append(want, c)
				dots = dots || c == ".."
			}
		}
		switch {
		case long != (errno != 0):
			t.Errorf("clean(%q) = %v", path, errno)
		case long:
		case abs != strings.Join(want, "/"):
			t.Errorf("clean(%q) = %q, want %q", path, abs, strings.Join(want, "/"))
		case hasDotDot(abs) != dots:
			t.Errorf("hasDotDot(%q) = %v", abs, !dots)
		}
	})
}
