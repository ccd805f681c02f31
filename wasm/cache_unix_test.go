//go:build unix

package wasm

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

func needRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("only root can give files away")
	}
}

func init() {
	damages = append(damages, []struct {
		name string
		run  bool
		do   func(tb testing.TB, path, other string)
	}{
		{"FIFO", true, func(tb testing.TB, path, _ string) {
			remove(tb, path)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				tb.Fatal(err)
			}
		}},
		{"writable by the group", false, func(tb testing.TB, path, other string) { foreign(tb, path, other); chmod(tb, path, 0o620) }},
		{"writable by all", true, func(tb testing.TB, path, other string) { foreign(tb, path, other); chmod(tb, path, 0o666) }},
		{"owned by another user", true, func(tb testing.TB, path, other string) {
			needRoot(tb)
			foreign(tb, path, other)
			if err := os.Chown(path, nobody, nobody); err != nil {
				tb.Fatal(err)
			}
		}},
	}...)
}

// foreign puts a file of another cache, good in itself, in the place of path.
func foreign(tb testing.TB, path, other string) {
	tb.Helper()
	if err := copyFile(other, path); err != nil {
		tb.Fatal(err)
	}
}

func chmod(tb testing.TB, path string, mode os.FileMode) {
	tb.Helper()
	if err := os.Chmod(path, mode); err != nil {
		tb.Fatal(err)
	}
}

// badFolders are what makes a cache folder unusable. top is the folder of Options, key the one in it.
var badFolders = []struct {
	name string
	do   func(tb testing.TB, top, key string)
}{
	{"writable by all", func(tb testing.TB, top, _ string) { chmod(tb, top, 0o777) }},
	{"sticky and writable by all", func(tb testing.TB, top, _ string) { chmod(tb, top, 0o777|os.ModeSticky) }},
	{"writable by the group", func(tb testing.TB, top, _ string) { chmod(tb, top, 0o770) }},
	{"this version's part writable by all", func(tb testing.TB, _, key string) { chmod(tb, key, 0o777) }},
	{"this version's part writable by the group", func(tb testing.TB, _, key string) { chmod(tb, key, 0o730) }},
	{"owned by another user", func(tb testing.TB, top, _ string) {
		needRoot(tb)
		if err := os.Chown(top, nobody, nobody); err != nil {
			tb.Fatal(err)
		}
	}},
	{"this version's part owned by another user", func(tb testing.TB, _, key string) {
		needRoot(tb)
		if err := os.Chown(key, nobody, nobody); err != nil {
			tb.Fatal(err)
		}
	}},
	{"file", func(tb testing.TB, top, _ string) { replaceByFile(tb, top) }},
	{"this version's part a file", func(tb testing.TB, _, key string) { replaceByFile(tb, key) }},
	{"link to a good cache", func(tb testing.TB, top, _ string) {
		remove(tb, top)
		link(tb, good(tb)[1].top, top)
	}},
	{"this version's part a link to a good cache", func(tb testing.TB, _, key string) {
		remove(tb, key)
		link(tb, filepath.Dir(good(tb)[1].file("image")), key)
	}},
	{"link to itself", func(tb testing.TB, top, _ string) { remove(tb, top); link(tb, top, top) }},
}

func replaceByFile(tb testing.TB, path string) {
	tb.Helper()
	remove(tb, path)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// A folder that others can write to, or that is not a folder of ours, is not used.
func TestCache_Folder(t *testing.T) {
	for _, tt := range badFolders {
		t.Run(tt.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "cache")
			key := filepath.Join(top, cacheKey())
			if err := os.MkdirAll(key, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := openCache(&Options{CacheDir: top}); err != nil {
				t.Fatalf("the folder that the others differ from: %v", err)
			}
			tt.do(t, top, key)
			if c, err := openCache(&Options{CacheDir: top}); err == nil || c.dir != "" {
				t.Errorf("used: %+v, %v", c, err)
			}
		})
	}
}

// With such a folder everything works, slower, and one warning says so. Nothing is written there.
func TestCache_FolderNotUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the interpreter")
	}
	c := freshCache(t)
	chmod(t, c.top, 0o777)
	before := listing(t, c.top)
	hash, warnings := mustWork(t, c.top)
	if hash == c.hash || len(warnings) != 1 {
		t.Errorf("hash %s, warnings %q", hash, warnings)
	}
	if after := listing(t, c.top); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// What is made is for this user only.
func TestCache_Modes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	c := freshCache(t)
	remove(t, c.file("image"))
	remove(t, c.file("interpreter.wasm"))
	mustWork(t, c.top)
	for path, want := range map[string]os.FileMode{
		c.top: 0o700, filepath.Dir(c.file("image")): 0o700, c.file("image"): 0o600, c.file("interpreter.wasm"): 0o600, c.file("compiled"): 0o700,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func init() {
	compiledDamages = []compiledDamage{
		{"FIFO", true, func(tb testing.TB, path string) {
			remove(tb, path)
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				tb.Fatal(err)
			}
		}},
		{"link", false, func(tb testing.TB, path string) {
			if err := os.Rename(path, filepath.Join(tb.TempDir(), "x")); err != nil {
				tb.Fatal(err)
			}
			link(tb, compiledFile(tb, good(tb)[0]), path)
		}},
		{"writable by all", false, func(tb testing.TB, path string) { chmod(tb, path, 0o666) }},
		{"folder writable by all", false, func(tb testing.TB, path string) { chmod(tb, filepath.Dir(path), 0o777) }},
		{"owned by another user", false, func(tb testing.TB, path string) {
			needRoot(tb)
			if err := os.Chown(path, nobody, nobody); err != nil {
				tb.Fatal(err)
			}
		}},
	}
}

// A user who cannot read the cache folder works without it and is told so once. The test is for root,
// who can become such a user.
func TestCache_Unreadable(t *testing.T) {
	needRoot(t)
	if testing.Short() {
		t.Skip("compiles the interpreter")
	}
	c := freshCache(t) // 0700, root's
	dir, err := os.MkdirTemp("", "sandbar-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, dir) })
	chmod(t, dir, 0o755)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "wasm.test") // the folder of the original is root's only
	if err := copyFile(self, binary); err != nil {
		t.Fatal(err)
	}
	chmod(t, binary, 0o755)
	before := listing(t, c.top)
	cmd := command(t, binary, "--", "prepare", c.top)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	hash, warnings := parseReport(t, mustRun(t, cmd))
	if hash == c.hash || len(warnings) != 1 {
		t.Errorf("hash %s, warnings %q", hash, warnings)
	}
	if after := listing(t, c.top); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}
