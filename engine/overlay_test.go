package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// lay opens a session over a new directory with these files, and returns the directories of both sides.
func lay(t testing.TB, files ...string) (s *Session, host, work string) {
	t.Helper()
	host = overlaid(t)
	write(t, host, files...)
	s, _ = open(t, &Options{Overlay: host})
	return s, host, s.Info().HostDir
}

// overlaid makes a directory that does not hold the system's temporary directory.
func overlaid(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "host")
	must(t, os.Mkdir(dir, 0o755))
	return dir
}

func TestOverlay_BadInput(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir, link := filepath.Join(temp, "dir"), filepath.Join(temp, "link")
	write(t, dir, "f", "x", "sub/", "")
	must(t, os.Symlink(filepath.Dir(temp), link))
	for _, tt := range []struct {
		name  string
		opts  Options
		field string
	}{
		{"missing", Options{Overlay: dir + "/none"}, "Overlay"},
		{"relative", Options{Overlay: "dir"}, "Overlay"},
		{"root", Options{Overlay: "/"}, "Overlay"},
		{"file", Options{Overlay: dir + "/f"}, "Overlay"},
		{"provided", Options{Overlay: "/proc/self"}, "Overlay"},
		{"dev", Options{Overlay: "/dev"}, "Overlay"},
		{"NUL", Options{Overlay: dir + "\x00"}, "Overlay"},
		{"with WorkDir", Options{Overlay: dir, WorkDir: dir + "/sub"}, "Overlay"},
		{"holds what is made", Options{Overlay: temp}, "Overlay"},
		{"holds what is made, by a link", Options{Overlay: link}, "Overlay"},
		{"grant inside", Options{Overlay: dir, ReadOnly: []string{dir + "/sub"}}, "ReadOnly[0]"},
		{"grant outside", Options{Overlay: dir + "/sub", ReadWrite: []string{dir}}, "ReadWrite[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newFake(basics)
			s, err := Open(t.Context(), []Driver{d}, &tt.opts)
			if err == nil {
				must(t, s.Close())
			}
			wantField(t, "Open", err, tt.field)
			if names, err := filepath.Glob(filepath.Join(temp, "sandbar-*")); len(names) > 0 || err != nil || d.sessions > 0 {
				t.Errorf("there is %q, %v", names, err)
			}
		})
	}
}

func TestOverlay_Copy(t *testing.T) {
	host := overlaid(t)
	write(t, host, "f", "one", "d/x", "two", "ro/y", "three", "empty/", "")
	old := time.Unix(1e9, 5000)
	must(t, os.Symlink("../f", filepath.Join(host, "d/link")), os.Symlink("/nowhere", filepath.Join(host, "dangling")),
		os.Link(filepath.Join(host, "f"), filepath.Join(host, "d/same")), os.Chmod(filepath.Join(host, "d/x"), 0o751),
		os.Chtimes(filepath.Join(host, "f"), old, old), os.Chtimes(filepath.Join(host, "d"), old, old), os.Chmod(filepath.Join(host, "ro"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(host, "ro"), 0o755) })
	hole := filepath.Join(host, "sparse")
	write(t, host, "sparse", "begin")
	must(t, os.Truncate(hole, 1<<36))
	s, _ := open(t, &Options{Overlay: host})
	work := s.Info().HostDir
	if info := s.Info(); info.Overlay != host || info.OverlayKind != OverlayCopy {
		t.Errorf("%+v", info)
	}
	wantLines(t, "Diff", diff(t, s))
	for name, want := range map[string]string{"f": "one", "d/x": "two", "d/link": "one", "d/same": "one", "ro/y": "three"} {
		got, err := s.GetBytes(t.Context(), name, 100)
		if string(got) != want || err != nil {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"f", "d", "d/x", "ro", "empty", "sparse"} {
		a, err := os.Lstat(filepath.Join(host, name))
		must(t, err)
		b, err := os.Lstat(filepath.Join(work, name))
		must(t, err)
		if a.Mode() != b.Mode() || a.Size() != b.Size() && !a.IsDir() || !a.ModTime().Equal(b.ModTime()) {
			t.Errorf("%s: %v %v %v, and on the host %v %v %v", name, b.Mode(), b.Size(), b.ModTime(), a.Mode(), a.Size(), a.ModTime())
		}
	}
	if target, err := os.Readlink(filepath.Join(work, "dangling")); target != "/nowhere" || err != nil {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	a, _ := os.Lstat(filepath.Join(work, "f"))
	b, _ := os.Lstat(filepath.Join(work, "d/same"))
	if !os.SameFile(a, b) {
		t.Error("the hard link is a file of its own")
	}
	if info, _ := os.Lstat(filepath.Join(work, "sparse")); runtime.GOOS == "linux" && !sparse(info) {
		t.Error("the hole is filled")
	}
	put(t, s, "f", "changed here")
	must(t, s.Remove(t.Context(), "d/x"))
	if data, err := os.ReadFile(filepath.Join(host, "f")); string(data) != "one" || err != nil {
		t.Errorf("the host has %q, %v", data, err)
	}
	must(t, s.Close())
	if _, err := os.Stat(work); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(host, "d/x")); err != nil {
		t.Error(err)
	}
}

func TestOverlay_DiskLimit(t *testing.T) {
	host := overlaid(t)
	write(t, host, "f", strings.Repeat("x", 1000))
	_, err := Open(t.Context(), []Driver{newFake(basics)}, &Options{Overlay: host, Limits: Limits{Disk: 999}})
	wantErr(t, "Open", err, ErrNoSpace)
	s, _ := open(t, &Options{Overlay: host, Limits: Limits{Disk: 1000, DiskFiles: 1}})
	wantErr(t, "PutBytes", s.PutBytes(t.Context(), "g", nil, nil), ErrNoSpace)
	put(t, s, "f", "x")
}

func TestOverlay_OpenCancelled(t *testing.T) {
	host, temp := overlaid(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	write(t, host, "f", "x")
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := Open(ctx, []Driver{newFake(basics)}, &Options{Overlay: host})
	wantErr(t, "Open", err, why)
	if names, err := os.ReadDir(temp); len(names) > 0 {
		t.Errorf("there is %v, %v", names, err)
	}
}

func commit(t testing.TB, s *Session) []string {
	t.Helper()
	list, err := s.Commit(t.Context())
	must(t, err)
	return lines(list)
}

// wantSame checks that a directory has what another one has.
func wantSame(t testing.TB, got, want string) {
	t.Helper()
	a, b := listing(t, got), listing(t, want)
	if !slices.Equal(a, b) {
		t.Errorf("%s has\n%s\nand %s\n%s", got, strings.Join(a, "\n"), want, strings.Join(b, "\n"))
	}
}

// listing describes all that is in a directory.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := path[len(dir):] + " " + info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case info.Mode().Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			text += " " + target
		}
		all = append(all, text)
		return nil
	})
	must(t, err)
	return all
}

func TestCommit_All(t *testing.T) {
	s, host, work := lay(t, "same", "1", "content", "2", "mode", "3", "gone/a", "4", "gone/b/c", "5", "d/f", "6", "todir", "7", "tofile/x/y", "8", "tolink", "9")
	write(t, work, "content", "22", "new/a/b", "new", "d/g", "g", "d/empty/", "")
	must(t, os.Chmod(filepath.Join(work, "mode"), 0o750), os.Chmod(filepath.Join(work, "d"), 0o700), os.RemoveAll(filepath.Join(work, "gone")),
		os.Remove(filepath.Join(work, "todir")), os.RemoveAll(filepath.Join(work, "tofile")), os.Remove(filepath.Join(work, "tolink")),
		os.Symlink("/etc/passwd", filepath.Join(work, "tolink")), os.Symlink("f", filepath.Join(work, "d/link")))
	write(t, work, "todir/z", "z", "tofile", "file")
	want := diff(t, s)
	got := commit(t, s)
	wantLines(t, "Commit", got, want...)
	wantSame(t, host, work)
	wantLines(t, "Diff after Commit", diff(t, s))
	wantLines(t, "a second Commit", commit(t, s))

	// And on from there.
	write(t, work, "content", "222", "todir/z", "zz", "d/g", "h")
	must(t, os.RemoveAll(filepath.Join(work, "new")))
	wantLines(t, "Commit", commit(t, s), "changed content", "changed d/g", "removed new", "removed new/a", "removed new/a/b", "changed todir/z")
	wantSame(t, host, work)
	a, err := os.Stat(filepath.Join(host, "d/g"))
	must(t, err)
	b, err := os.Stat(filepath.Join(work, "d/g"))
	must(t, err)
	if !a.ModTime().Equal(b.ModTime()) {
		t.Errorf("it is of %v, and in the session of %v", a.ModTime(), b.ModTime())
	}
}

// Marks are for Diff.
func TestCommit_AfterMark(t *testing.T) {
	s, host, work := lay(t, "a", "1", "b", "1")
	write(t, work, "a", "2")
	must(t, s.Mark(t.Context()))
	write(t, work, "b", "2")
	wantLines(t, "Diff", diff(t, s), "changed b")
	wantLines(t, "Commit", commit(t, s), "changed a", "changed b")
	wantSame(t, host, work)
	wantLines(t, "Diff after Commit", diff(t, s))
}

func TestCommit_Conflicts(t *testing.T) {
	for _, tt := range []struct {
		name       string
		work, host func(dir string) error
		want       []string // conflicts
	}{
		{"content", writes("d/f", "work"), writes("d/f", "host"), []string{"d/f"}},
		{"the same content", writes("d/f", "both"), writes("d/f", "both"), []string{"d/f"}},
		{"written again", writes("d/f", "work"), writes("d/f", "f"), []string{"d/f"}},
		{"mode", writes("d/f", "work"), func(dir string) error { return os.Chmod(filepath.Join(dir, "d/f"), 0o600) }, []string{"d/f"}},
		{"removed there", writes("d/f", "work"), removes("d/f"), []string{"d/f"}},
		{"removed here", removes("d/f"), writes("d/f", "host"), []string{"d/f"}},
		{"removed on both", removes("d/f"), removes("d/f"), []string{"d/f"}},
		{"added on both", writes("new", "work"), writes("new", "host"), []string{"new"}},
		{"added directories", writes("new/a", "work"), writes("new/b", "host"), []string{"new", "new/a"}},
		{"directory gone", writes("d/f", "work"), removes("d"), []string{"d/f"}},
		{"directory replaced", writes("d/f", "work"), func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "old")), writes("d/f", "f")(dir))
		}, []string{"d/f"}},
		{"directory is a link", writes("d/f", "work"), func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "old")), os.Symlink("old", filepath.Join(dir, "d")))
		}, []string{"d/f"}},
		{"directory leads out", writes("d/f", "work"), func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "d")), os.Symlink("../out", filepath.Join(dir, "d")))
		}, []string{"d/f"}},
		{"file is a link", writes("d/f", "work"), func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "d/f")), os.Symlink("../../out/f", filepath.Join(dir, "d/f")))
		}, []string{"d/f"}},
		{"link planted", writes("new", "work"), func(dir string) error { return os.Symlink("../out/new", filepath.Join(dir, "new")) }, []string{"new"}},
		{"something new in what is removed", removes("d"), writes("d/new", "host"), []string{"d", "d/f"}},
		{"deep in what is removed", removes("e"), writes("e/e/new", "host"), []string{"e/e", "e/e/f"}},
		{
			"two", func(dir string) error { return errors.Join(writes("d/f", "work")(dir), writes("e/e/f", "work")(dir)) },
			func(dir string) error { return errors.Join(writes("d/f", "host")(dir), removes("e/e/f")(dir)) },
			[]string{"d/f", "e/e/f"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, host, work := lay(t, "d/f", "f", "e/e/f", "f", "a", "a", "z", "z")
			out := filepath.Join(filepath.Dir(host), "out")
			write(t, out, "f", "out")
			must(t, tt.work(work))
			write(t, work, "a", "aa", "b", "b", "z", "zz")
			must(t, tt.host(host))
			before := listing(t, filepath.Dir(host))
			list, err := s.Commit(t.Context())
			var conflict *ConflictError
			if !errors.As(err, &conflict) || !errors.Is(err, ErrConflict) || len(list) > 0 || !slices.Equal(conflict.Paths, tt.want) {
				t.Errorf("Commit = %v, %v; want a conflict of %q", list, err, tt.want)
			}
			if after := listing(t, filepath.Dir(host)); !slices.Equal(before, after) {
				t.Errorf("the host has %q, and had %q", after, before)
			}
			if list, err := s.Diff(t.Context()); err != nil || len(list) < 4 {
				t.Errorf("Diff = %v, %v", list, err)
			}
		})
	}
}

func writes(name, data string) func(string) error {
	return func(dir string) error {
		name := filepath.Join(dir, name)
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(data), 0o644))
	}
}

func removes(name string) func(string) error {
	return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
}

// What others change elsewhere is no conflict, and stays.
func TestCommit_OthersElsewhere(t *testing.T) {
	s, host, work := lay(t, "d/f", "1", "d/g", "1", "h", "1")
	write(t, work, "d/f", "2")
	write(t, host, "d/g", "3", "d/new", "3", "h", "3")
	wantLines(t, "Commit", commit(t, s), "changed d/f")
	for name, want := range map[string]string{"d/f": "2", "d/g": "3", "d/new": "3", "h": "3"} {
		if data, err := os.ReadFile(filepath.Join(host, name)); string(data) != want || err != nil {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	// The host's change of it conflicts with the session's later on.
	write(t, work, "h", "4")
	_, err := s.Commit(t.Context())
	wantErr(t, "Commit", err, ErrConflict)
}

func TestCommit_Busy(t *testing.T) {
	host := overlaid(t)
	write(t, host, "f", "1")
	s, _ := open(t, &Options{Overlay: host})
	put(t, s, "f", "2")
	p := start(t, s, "sleep", nil)
	_, err := s.Commit(t.Context())
	wantErr(t, "Commit during a run", err, ErrBusy)
	p.Kill()
	_, _ = p.Wait(t.Context())
	for {
		_, err = s.Commit(t.Context())
		if !errors.Is(err, ErrBusy) { // the run is taken off a moment after its end
			break
		}
		time.Sleep(time.Millisecond)
	}
	must(t, err)
	exec(t, s, "hello", nil)
	for s.hold() != nil {
		time.Sleep(time.Millisecond)
	}
	_, err = s.Run(t.Context(), "hello", nil)
	wantErr(t, "Run during Commit", err, ErrBusy)
	wantErr(t, "Run during Commit", err, ErrNotStarted)
	s.release()
	exec(t, s, "hello", nil)
}

func TestCommit_DirectoryGone(t *testing.T) {
	s, host, _ := lay(t, "f", "1")
	put(t, s, "f", "2")
	must(t, os.Rename(host, host+"2"), os.Mkdir(host, 0o755))
	_, err := s.Commit(t.Context())
	wantErr(t, "Commit", err, ErrNotExist)
	if names := append(listing(t, host), listing(t, host+"2")...); len(names) != 1 {
		t.Errorf("there is %q", names)
	}
}

// Two sessions over one directory: who comes second has the conflict.
func TestCommit_TwoSessions(t *testing.T) {
	a, host, _ := lay(t, "f", "1")
	b, _ := open(t, &Options{Overlay: host})
	put(t, a, "f", "a")
	put(t, b, "f", "b")
	put(t, b, "g", "b")
	wantLines(t, "Commit", commit(t, a), "changed f")
	_, err := b.Commit(t.Context())
	wantErr(t, "Commit", err, ErrConflict)
	if got := listing(t, host); len(got) != 1 || !strings.HasSuffix(got[0], " a") {
		t.Errorf("the host has %q", got)
	}
}
