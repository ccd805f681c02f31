//go:build unix

package engine

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A modelFile is what the model knows of a path: all that Diff is to see.
type modelFile struct {
	mode fs.FileMode
	data string // content or target
}

// look reads a directory in the most simple way.
func look(dir string) map[string]modelFile {
	m := map[string]modelFile{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := modelFile{mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f.data = string(data)
		case info.Mode().Type() == fs.ModeSymlink:
			if f.data, err = os.Readlink(path); err != nil {
				return err
			}
		}
		m[strings.TrimPrefix(path, dir+"/")] = f
		return nil
	})
	if err != nil {
		panic(err)
	}
	return m
}

// modelDiff is Diff over two looks.
func modelDiff(old, now map[string]modelFile) []string {
	all := []string{}
	for name, f := range now {
		was, ok := old[name]
		switch {
		case !ok:
			all = append(all, "added "+name)
		case was != f:
			all = append(all, "changed "+name)
		}
	}
	for name := range old {
		if _, ok := now[name]; !ok {
			all = append(all, "removed "+name)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):]) })
	return all
}

// operate does one random thing in a directory. It may fail.
func operate(rt *rapid.T, dir string) {
	name := func(label string) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c\n"}), 1, 3).Draw(rt, label)
		return filepath.Join(dir, filepath.Join(parts...))
	}
	data := func() []byte { return []byte(rapid.SampledFrom([]string{"", "x", "y", "xy"}).Draw(rt, "data")) }
	path := name("path")
	switch rapid.SampledFrom([]string{"write", "write", "mkdir", "mkdir", "remove", "chmod", "link", "hard", "rename", "touch"}).Draw(rt, "op") {
	case "write":
		_ = os.WriteFile(path, data(), 0o644)
	case "mkdir":
		_ = os.MkdirAll(path, 0o755)
	case "remove":
		_ = os.RemoveAll(path)
	case "chmod":
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSymlink {
			_ = os.Chmod(path, fs.FileMode(rapid.SampledFrom([]int{0o700, 0o755, 0o750}).Draw(rt, "mode")))
		}
	case "link":
		_ = os.Symlink(rapid.SampledFrom([]string{"a", "../b", "/tmp"}).Draw(rt, "target"), path)
	case "hard":
		_ = os.Link(name("from"), path)
	case "rename":
		_ = os.Rename(name("from"), path)
	case "touch":
		if data, err := os.ReadFile(path); err == nil {
			_ = os.WriteFile(path, data, 0o644)
		}
	}
}

// Diff says what a look at both sides says, and Commit makes the sides equal. Links do not lead out: the ones that do
// are not written through here.
func TestDiff_Model(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		host := filepath.Join(base, fmt.Sprint(n), "host")
		must(t, os.MkdirAll(host, 0o755))
		for range rapid.IntRange(0, 6).Draw(rt, "files") {
			operate(rt, host)
		}
		s, err := Open(t.Context(), []Driver{newFake(basics)}, &Options{Overlay: host})
		must(t, err)
		defer func() { must(t, s.Close()) }()
		work := s.Info().HostDir
		opened := look(work)
		if !maps.Equal(opened, look(host)) {
			rt.Fatalf("the copy has %v, the host %v", opened, look(host))
		}
		marked := opened
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 5).Draw(rt, "operations") {
				operate(rt, work)
			}
			now := look(work)
			list, err := s.Diff(t.Context())
			if err != nil {
				rt.Fatal(err)
			}
			if got, want := lines(list), modelDiff(marked, now); !slices.Equal(got, want) {
				rt.Fatalf("Diff = %q, want %q", got, want)
			}
			for _, c := range list {
				f := now[c.Path]
				if c.Mode != f.mode || c.Kind != Removed && c.Mode.IsRegular() && (c.SHA256 != sha(f.data) || c.Size != int64(len(f.data))) || c.OldMode != marked[c.Path].mode {
					rt.Fatalf("%+v, and there is %+v, and was %+v", c, f, marked[c.Path])
				}
			}
			switch rapid.SampledFrom([]string{"mark", "commit", "go on"}).Draw(rt, "then") {
			case "mark":
				must(t, s.Mark(t.Context()))
				marked = now
			case "commit":
				list, err := s.Commit(t.Context())
				if err != nil {
					rt.Fatal(err)
				}
				if got, want := lines(list), modelDiff(opened, now); !slices.Equal(got, want) {
					rt.Fatalf("Commit = %q, want %q", got, want)
				}
				if on := look(host); !maps.Equal(on, now) {
					rt.Fatalf("the host has %v, want %v", on, now)
				}
				opened, marked = now, now
			}
		}
	})
}
