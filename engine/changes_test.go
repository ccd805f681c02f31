package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// diff gives the changes as lines: kind and path.
func diff(t testing.TB, s *Session) []string {
	t.Helper()
	list, err := s.Diff(t.Context())
	must(t, err)
	return lines(list)
}

func lines(list []Change) []string {
	all := []string{}
	for _, c := range list {
		all = append(all, string(c.Kind)+" "+c.Path)
	}
	return all
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

func sha(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// write makes files of a host directory: names and contents by turns. A name that ends in a slash is a directory.
func write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if strings.HasSuffix(files[i], "/") {
			must(t, os.MkdirAll(name, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(files[i+1]), 0o644))
	}
}

func TestDiff_FromOpenOn(t *testing.T) {
	s, _ := open(t, nil)
	wantLines(t, "Diff of nothing", diff(t, s))
	put(t, s, "a/b/f", "hello")
	must(t, os.Symlink("/etc/passwd", filepath.Join(s.Info().HostDir, "l")))
	list, err := s.Diff(t.Context())
	must(t, err)
	want := []Change{
		{Path: "a", Kind: Added, Mode: fs.ModeDir | 0o755},
		{Path: "a/b", Kind: Added, Mode: fs.ModeDir | 0o755},
		{Path: "a/b/f", Kind: Added, Mode: 0o644, Size: 5, SHA256: sha("hello")},
		{Path: "l", Kind: Added, Mode: fs.ModeSymlink | 0o777, Target: "/etc/passwd"},
	}
	if !slices.Equal(list, want) {
		t.Errorf("Diff = %+v, want %+v", list, want)
	}
	must(t, s.RemoveAll(t.Context(), "a"), s.Remove(t.Context(), "l"))
	wantLines(t, "Diff after all is removed", diff(t, s))
}

func TestDiff_SinceAMark(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	write(t, dir, "same", "1", "touched", "2", "content", "3", "mode", "4", "gone/x", "5", "gone/y/z", "6", "kind", "7", "moved", "8")
	must(t, os.Symlink("a", filepath.Join(dir, "link")), s.Mark(t.Context()))
	wantLines(t, "Diff after Mark", diff(t, s))
	write(t, dir, "touched", "2", "content", "x", "kind2", "") // the same size
	must(t, os.Chmod(filepath.Join(dir, "mode"), 0o600), os.RemoveAll(filepath.Join(dir, "gone")),
		os.Remove(filepath.Join(dir, "kind")), os.Mkdir(filepath.Join(dir, "kind"), 0o755),
		os.Remove(filepath.Join(dir, "link")), os.Symlink("b", filepath.Join(dir, "link")),
		os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "kind", "moved")))
	wantLines(t, "Diff", diff(t, s), "changed content", "removed gone", "removed gone/x", "removed gone/y", "removed gone/y/z",
		"changed kind", "added kind/moved", "added kind2", "changed link", "changed mode", "removed moved")
	list, err := s.Diff(t.Context())
	must(t, err)
	for _, c := range list {
		switch c.Path {
		case "content":
			if c.OldSize != 1 || c.Size != 1 || c.SHA256 != sha("x") || c.OldMode != 0o644 {
				t.Errorf("%+v", c)
			}
		case "kind":
			if c.OldMode != 0o644 || c.Mode != fs.ModeDir|0o755 || c.OldSize != 1 || c.Size != 0 || c.SHA256 != "" {
				t.Errorf("%+v", c)
			}
		case "gone/x":
			if c.OldMode != 0o644 || c.Mode != 0 || c.OldSize != 1 || c.SHA256 != "" {
				t.Errorf("%+v", c)
			}
		}
	}
	must(t, s.Mark(t.Context()))
	wantLines(t, "Diff after a second Mark", diff(t, s))
}

func TestDiff_GivenDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f", "1")
	s, _ := open(t, &Options{WorkDir: dir})
	_, err := s.Diff(t.Context())
	wantErr(t, "Diff without Mark", err, ErrNoMark)
	must(t, s.Mark(t.Context()))
	write(t, dir, "g", "1")
	wantLines(t, "Diff", diff(t, s), "added g")
	_, err = s.Commit(t.Context())
	wantField(t, "Commit without an overlay", err, "Overlay")
	must(t, s.Close())
	_, err = s.Diff(t.Context())
	wantErr(t, "Diff after Close", err, ErrClosed)
	wantErr(t, "Mark after Close", s.Mark(t.Context()), ErrClosed)
}

func TestDiff_Cancelled(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "f", "x")
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := s.Diff(ctx)
	wantErr(t, "Diff", err, why)
	wantErr(t, "Mark", s.Mark(ctx), why)
}

// What a put has under a temporary name is nobody's business.
func TestDiff_PutUnderWay(t *testing.T) {
	s, _ := open(t, nil)
	r := readerFunc(func(p []byte) (int, error) {
		list, err := s.List(t.Context(), ".")
		if err != nil || len(list) > 1 {
			return 0, fmt.Errorf("%v, %w", list, err)
		}
		got, err := s.Diff(t.Context())
		if err != nil || len(got) > 0 {
			t.Errorf("Diff while a put goes on = %v, %v", got, err)
		}
		if len(list) == 0 {
			return len(p), nil // the file is made when there is a piece to write
		}
		return 0, errors.New("enough")
	})
	if err := s.PutReader(t.Context(), "f", r, nil); err == nil || err.Error() != `put "f": enough` {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// meddler is a context that does something each time it is asked, so in the middle of what it is for.
type meddler struct {
	context.Context
	do func()
}

func (m meddler) Err() error {
	m.do()
	return nil
}

// A hash is of content that the file has had, or there is none.
func TestDiff_FileChangesWhileItIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	opened := func() (*os.File, error) { return os.Open(name) }
	for _, tt := range []struct {
		times int // of changes
		want  bool
	}{{0, true}, {1, true}, {2, true}, {1000, false}} {
		data := strings.Repeat("a", 600<<10)
		must(t, os.WriteFile(name, []byte(data), 0o644))
		left := tt.times
		ctx := meddler{t.Context(), func() {
			if left--; left >= 0 {
				data = strings.Repeat(string(rune('b'+left%20)), len(data)+1)
				must(t, os.WriteFile(name, []byte(data), 0o644))
			}
		}}
		sum, info, err := newDigester().file(ctx, opened)
		if err != nil || (sum != nil) != tt.want {
			t.Fatalf("after %d changes: %v, %v", tt.times, sum, err)
		}
		if sum != nil && (hex.EncodeToString(sum[:]) != sha(data) || info.Size() != int64(len(data))) {
			t.Errorf("after %d changes it is not of what there was", tt.times)
		}
	}
}
