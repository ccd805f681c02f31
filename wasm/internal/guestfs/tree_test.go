package guestfs

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func content(s string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }
}

func TestNewTree_Refuses(t *testing.T) {
	ok := TreeEntry{Name: "a/b", Size: 1, Open: content("x")}
	for name, entries := range map[string][]TreeEntry{
		"absolute":              {{Name: "/a", Open: content("")}},
		"empty":                 {{Name: "", Open: content("")}},
		"dot":                   {{Name: ".", Open: content("")}},
		"dots":                  {{Name: "a/../b", Open: content("")}},
		"slash at the end":      {{Name: "a/", Open: content("")}},
		"NUL":                   {{Name: "a\x00", Open: content("")}},
		"twice":                 {ok, ok},
		"file is a directory":   {ok, {Name: "a", Open: content("")}},
		"directory is a file":   {ok, {Name: "a/b/c", Open: content("")}},
		"negative size":         {{Name: "a", Size: -1, Open: content("")}},
		"nothing to read it by": {{Name: "a"}},
	} {
		if _, err := NewTree(entries); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := NewTree(nil); err != nil {
		t.Error(err)
	}
}

func TestTree_BadContent(t *testing.T) {
	tree, err := NewTree([]TreeEntry{
		{Name: "short", Size: 5, Open: content("1234")},
		{Name: "long", Size: 5, Open: content("123456")},
		{Name: "broken", Size: 5, Open: func() (io.ReadCloser, error) { return nil, errors.New("broken") }},
		{Name: "checksum", Size: 2, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader("12"), failing{})), nil
		}},
	})
	must(t, err)
	f := newFixture(t, func(c *SessionConfig, _ *RunConfig) { c.Trees = []TreeMount{{"/lib", tree}} })
	expect(t, f.in("/lib"), "cat short = EIO", "cat long = EIO", "cat broken = EIO", "cat checksum = EIO", "stat short = file 444 size=5 nlink=1")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("checksum") }

// Stat and Open read nothing; content is read once for the process, however many runs want it at once.
func TestTree_ReadsOnce(t *testing.T) {
	var reads atomic.Int64
	var entries []TreeEntry
	for i := range 20 {
		entries = append(entries, TreeEntry{Name: fmt.Sprintf("d/%d", i), Size: 4, Open: func() (io.ReadCloser, error) {
			reads.Add(1)
			return content("data")()
		}})
	}
	tree, err := NewTree(entries)
	must(t, err)
	f := newFixture(t, func(c *SessionConfig, _ *RunConfig) { c.Trees = []TreeMount{{"/lib", tree}} })
	expect(t, f.in("/lib"), "stat d/7 = file 444 size=4 nlink=1", "open h d/7 r", "seek h 0 end = 4", "fstat h = file 444 size=4 nlink=1", "close h")
	if reads.Load() != 0 {
		t.Errorf("%d contents were read for Stat and Open", reads.Load())
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			run := f.session.NewFS(RunConfig{})
			defer run.Close()
			g := &guest{t: t, fs: run, base: "/lib", files: map[string]sys.File{}}
			for i := range 20 {
				if got := g.do(fmt.Sprintf("cat d/%d", i)); got != "data" {
					t.Errorf("cat = %q", got)
				}
			}
		})
	}
	wg.Wait()
	if reads.Load() != 20 {
		t.Errorf("20 contents were read %d times", reads.Load())
	}
}

// A tree from a zip file: the index is read at once, the contents when they are wanted.
func ExampleNewTree() {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	h := &zip.FileHeader{Name: "pkg/mod.py", Method: zip.Deflate, Modified: time.Unix(1700000000, 0)}
	entry, _ := w.CreateHeader(h)
	_, _ = io.WriteString(entry, "answer = 42\n")
	_ = w.Close()

	r, _ := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	var entries []TreeEntry
	for _, f := range r.File {
		entries = append(entries, TreeEntry{Name: f.Name, Size: int64(f.UncompressedSize64), ModTime: f.Modified, Open: f.Open})
	}
	tree, err := NewTree(entries)
	if err != nil {
		panic(err)
	}
	session, err := NewSession(SessionConfig{Trees: []TreeMount{{Path: "/usr/lib/python3.13", Tree: tree}}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = session.Close() }()
	run := session.NewFS(RunConfig{})
	defer run.Close()
	file, errno := run.OpenFile("/usr/lib/python3.13/pkg/mod.py", sys.O_RDONLY, 0)
	if errno != 0 {
		panic(errno)
	}
	buf := make([]byte, 100)
	n, _ := file.Read(buf)
	fmt.Printf("%q\n", buf[:n])
	// Output: "answer = 42\n"
}
