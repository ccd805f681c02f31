package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// prepareAndRun makes a driver with this cache folder and runs a script. The report is a line with what
// the script printed, and one for each warning. The hash of a str tells images apart: each has a seed of
// its own.
func prepareAndRun(dir string) (report string, err error) {
	d := New(&Options{CacheDir: dir})
	defer func() { err = errors.Join(err, d.Close()) }()
	ctx := context.Background()
	s, err := d.Open(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	out, err := s.RunCode(ctx, "import json; print(json.dumps([2 + 2]), hash('sandbar'))", nil)
	if err != nil {
		return "", err
	}
	return string(out) + strings.Join(d.Info().Warnings, "\n"), nil
}

// mustWork is prepareAndRun, and returns the hash and the warnings.
func mustWork(tb testing.TB, dir string) (hash string, warnings []string) {
	tb.Helper()
	report, err := prepareAndRun(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return parseReport(tb, report)
}

func parseReport(tb testing.TB, report string) (hash string, warnings []string) {
	tb.Helper()
	first, rest, _ := strings.Cut(report, "\n")
	hash, ok := strings.CutPrefix(first, "[4] ")
	if !ok {
		tb.Fatalf("the script printed %q", first)
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		warnings = strings.Split(rest, "\n")
	}
	return hash, warnings
}

// goodCaches are two folders with a complete cache each, and what scripts print with them. They differ in
// the image.
var goodCaches = sync.OnceValues(func() (caches [2]goodCache, err error) {
	for i := range caches {
		if caches[i].top, err = os.MkdirTemp("", "sandbar-test-cache-"); err != nil {
			return caches, err
		}
		folders = append(folders, caches[i].top)
		if err := copyTree(cacheTop(sharedDriver()), caches[i].top); err != nil {
			return caches, err
		}
		if i > 0 {
			if err := os.Remove(filepath.Join(caches[i].top, cacheKey(), "image")); err != nil {
				return caches, err
			}
		}
		report, err := prepareAndRun(caches[i].top)
		if err != nil {
			return caches, err
		}
		caches[i].hash = strings.Fields(report)[1]
	}
	if caches[0].hash == caches[1].hash {
		return caches, fmt.Errorf("two images have the hash %s", caches[0].hash)
	}
	return caches, nil
})

type goodCache struct{ top, hash string }

func (c goodCache) file(name string) string { return filepath.Join(c.top, cacheKey(), name) }

// cacheTop is the folder that a driver keeps its cache in.
func cacheTop(d *Driver) string {
	if d.opts.CacheDir != "" {
		return d.opts.CacheDir
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(user, "sandbar")
}

func good(tb testing.TB) [2]goodCache {
	tb.Helper()
	shared(tb)
	caches, err := goodCaches()
	if err != nil {
		tb.Fatal(err)
	}
	return caches
}

// copyTree copies the files of this version's cache.
func copyTree(from, to string) error {
	key := filepath.Join(from, cacheKey())
	return filepath.WalkDir(key, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		return copyFile(path, filepath.Join(to, rel))
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// freshCache copies the first good cache into a folder of the test's own.
func freshCache(tb testing.TB) goodCache {
	tb.Helper()
	c := good(tb)[0]
	top := tb.TempDir()
	if err := os.Chmod(top, 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := copyTree(c.top, top); err != nil {
		tb.Fatal(err)
	}
	return goodCache{top, c.hash}
}

// fileOf is freshCache with one file only.
func fileOf(tb testing.TB, name string) goodCache {
	tb.Helper()
	from := good(tb)[0]
	c := goodCache{tb.TempDir(), from.hash}
	if err := os.Mkdir(filepath.Dir(c.file(name)), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := copyFile(from.file(name), c.file(name)); err != nil {
		tb.Fatal(err)
	}
	return c
}

// edit changes the content of a file in place.
func edit(tb testing.TB, path string, change func([]byte) []byte) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// flip inverts one bit, at a part of the length.
func flip(part float64, bit uint) func([]byte) []byte {
	return func(b []byte) []byte {
		b[min(int(part*float64(len(b))), len(b)-1)] ^= 1 << bit
		return b
	}
}

// damages are what can have become of a file of the cache. other is a file of another cache that is good
// in itself.
var damages = []struct {
	name string
	run  bool // a script is run too; else only reading is tried
	do   func(tb testing.TB, path, other string)
}{
	{"missing", false, func(tb testing.TB, path, _ string) { remove(tb, path) }},
	{"empty", false, func(tb testing.TB, path, _ string) { edit(tb, path, func([]byte) []byte { return nil }) }},
	{"one byte", false, func(tb testing.TB, path, _ string) { edit(tb, path, func(b []byte) []byte { return b[:1] }) }},
	{"half", false, func(tb testing.TB, path, _ string) { edit(tb, path, func(b []byte) []byte { return b[:len(b)/2] }) }},
	{"last byte gone", false, func(tb testing.TB, path, _ string) { edit(tb, path, func(b []byte) []byte { return b[:len(b)-1] }) }},
	{"one byte more", false, func(tb testing.TB, path, _ string) { edit(tb, path, func(b []byte) []byte { return append(b, 0) }) }},
	{"first bit", false, func(tb testing.TB, path, _ string) { edit(tb, path, flip(0, 0)) }},
	{"bit in the middle", true, func(tb testing.TB, path, _ string) { edit(tb, path, flip(0.5, 3)) }},
	{"last bit", false, func(tb testing.TB, path, _ string) { edit(tb, path, flip(1, 7)) }},
	{"zeros", false, func(tb testing.TB, path, _ string) {
		edit(tb, path, func(b []byte) []byte { clear(b[len(b)/2:]); return b })
	}},
	{"directory", true, func(tb testing.TB, path, _ string) {
		remove(tb, path)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
			tb.Fatal(err)
		}
	}},
	{"link to a good file", true, func(tb testing.TB, path, other string) { remove(tb, path); link(tb, other, path) }},
	{"link to nothing", false, func(tb testing.TB, path, _ string) { remove(tb, path); link(tb, path+"-absent", path) }},
}

func remove(tb testing.TB, path string) {
	tb.Helper()
	if err := os.RemoveAll(path); err != nil {
		tb.Fatal(err)
	}
}

func link(tb testing.TB, target, path string) {
	tb.Helper()
	if err := os.Symlink(target, path); err != nil {
		tb.Skip(err) // Windows without the right to
	}
}

// A file of the cache that is not as it was written is not used, and made anew.
func TestCache_Damage(t *testing.T) {
	caches := good(t)
	for _, file := range []string{"image", "interpreter.wasm"} {
		for _, tt := range damages {
			t.Run(file+"/"+tt.name, func(t *testing.T) {
				whole := tt.run && (!testing.Short() || tt.name == "bit in the middle" && file == "image")
				c := fileOf(t, file)
				if whole {
					c = freshCache(t)
				}
				tt.do(t, c.file(file), caches[1].file(file))
				store := cache{dir: filepath.Dir(c.file(file))}
				if b, err := store.read(file); err == nil {
					t.Errorf("read gives %d bytes", len(b))
				}
				if whole {
					checkRemade(t, c, caches, file)
				}
			})
		}
	}
}

// checkRemade runs a script with a cache one of whose files is bad, and looks at what is there afterwards.
func checkRemade(t *testing.T, c goodCache, caches [2]goodCache, file string) {
	t.Helper()
	hash, warnings := mustWork(t, c.top)
	if hash == caches[1].hash {
		t.Error("the image of another cache was used")
	}
	if file != "image" && hash != c.hash {
		t.Error("the image was made anew, although it was good")
	}
	if _, err := (cache{dir: filepath.Dir(c.file(file))}).read(file); err != nil {
		if len(warnings) != 1 {
			t.Errorf("not made anew (%v), with the warnings %q", err, warnings)
		}
		return
	}
	if len(warnings) != 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if again, _ := mustWork(t, c.top); again != hash {
		t.Error("what was made anew is not used")
	}
	if file != "image" {
		sameFile(t, c.file(file), caches[0].file(file))
	}
}

func sameFile(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Error(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Error(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s and %s differ", a, b)
	}
}

// A file that is good in itself but was stored under another name, or by another version, is not used.
func TestCache_Misplaced(t *testing.T) {
	c := freshCache(t)
	store := cache{dir: filepath.Dir(c.file("image"))}
	if err := copyFile(c.file("image"), c.file("interpreter.wasm")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.read("interpreter.wasm"); err == nil {
		t.Error("the image was read as the interpreter")
	}
	other := cache{dir: filepath.Join(t.TempDir(), "0123456789abcdef")}
	if err := os.Mkdir(other.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := other.write("image", []byte("of another version")); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(filepath.Join(other.dir, "image"), c.file("image")); err != nil {
		t.Fatal(err)
	}
	if b, err := store.read("image"); err == nil {
		t.Errorf("read %q, which another version has stored", b)
	}
}

// A snapshot that cannot be an image is remade, although its checksum is right.
func TestCache_UselessImage(t *testing.T) {
	for name, content := range map[string][]byte{
		"text":                 []byte("no snapshot"),
		"part of a wasm page":  append(numbers(4096, 0, 0, 0, 1), 'x'),
		"larger than allowed":  append(numbers(maxMemory+65536, 0, 0, 0, 1), 'x'),
		"nothing but its size": numbers(65536, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("makes an image")
			}
			c := freshCache(t)
			store := cache{dir: filepath.Dir(c.file("image"))}
			if err := store.write("image", content); err != nil {
				t.Fatal(err)
			}
			if hash, warnings := mustWork(t, c.top); hash == c.hash || len(warnings) != 0 {
				t.Errorf("hash %s, warnings %q", hash, warnings)
			}
			if b, err := store.read("image"); err != nil || bytes.Equal(b, content) {
				t.Errorf("the image was not made anew: %v", err)
			}
		})
	}
}

// The good case: what is there is used and stays as it is.
func TestCache_Good(t *testing.T) {
	c := freshCache(t)
	before := listing(t, c.top)
	hash, warnings := mustWork(t, c.top)
	if hash != c.hash || len(warnings) != 0 {
		t.Errorf("hash %s, want %s; warnings %q", hash, c.hash, warnings)
	}
	if after := listing(t, c.top); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// listing names all files with size, mode and time.
func listing(t *testing.T, top string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		fmt.Fprintln(&b, strings.TrimPrefix(path, top), info.Mode(), info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCache_NoCache(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the interpreter")
	}
	dir := t.TempDir()
	d := New(&Options{NoCache: true, CacheDir: dir})
	defer d.Close()
	s, err := d.Open(t.Context(), &engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if out, err := s.RunCode(t.Context(), "print(1)", nil); err != nil || string(out) != "1\n" {
		t.Errorf("%q, %v", out, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if w := d.Info().Warnings; len(w) != 0 {
		t.Errorf("warnings: %q", w)
	}
}
