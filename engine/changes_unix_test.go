//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestDiff_SpecialFiles(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	defer l.Close()
	list, err := s.Diff(t.Context())
	must(t, err)
	wantLines(t, "Diff", lines(list), "added fifo", "added socket")
	if list[0].Mode.Type() != fs.ModeNamedPipe || list[1].Mode.Type() != fs.ModeSocket || list[0].SHA256 != "" {
		t.Errorf("%+v", list)
	}
	must(t, s.Mark(t.Context()))
	wantLines(t, "Diff after Mark", diff(t, s))
}

func TestDiff_NamesAreBytes(t *testing.T) {
	s, _ := open(t, nil)
	names := []string{"\x01\n", " ", "-", "\\", "a\nb", "b\xff\xfe", strings.Repeat("n", 255), "ü"}
	var want []string
	for _, name := range names {
		put(t, s, name, "x")
		want = append(want, "added "+name)
	}
	slices.Sort(want)
	wantLines(t, "Diff", diff(t, s), want...)
}

func TestDiff_Unreadable(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	write(t, dir, "d/sub/f", "1", "d/g", "2", "f", "3")
	must(t, s.Mark(t.Context()))
	write(t, dir, "d/sub/new", "4", "f", "33")
	for _, name := range []string{"d/sub/new", "f", "d/sub", "d"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0))
	}
	list, err := s.Diff(t.Context())
	must(t, err)
	wantLines(t, "Diff", lines(list), "changed d", "changed d/sub", "added d/sub/new", "changed f")
	for _, c := range list {
		if c.Mode.Perm() != 0 || c.Unread || c.Mode.IsRegular() != (c.SHA256 != "") {
			t.Errorf("%+v", c)
		}
	}
	for _, name := range []string{"d", "d/sub", "f"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && info.Mode().Perm() != 0 {
			t.Errorf("%s: mode %v is left", name, info.Mode())
		}
		must(t, os.Chmod(filepath.Join(dir, name), 0o700))
	}
}

// While a run goes on nothing is made readable: the script would see it.
func TestDiff_UnreadableDuringARun(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	write(t, dir, "d/f", "1", "f", "2")
	must(t, s.Mark(t.Context()))
	must(t, os.Chmod(filepath.Join(dir, "d"), 0), os.Chmod(filepath.Join(dir, "f"), 0))
	p := start(t, s, "sleep", nil)
	list, err := s.Diff(t.Context())
	must(t, err)
	wantLines(t, "Diff", lines(list), "changed d", "changed f")
	if unread := os.Geteuid() != 0; list[0].Unread != unread || (list[1].SHA256 == "") != unread {
		t.Errorf("%+v", list)
	}
	p.Kill()
	must(t, os.Chmod(filepath.Join(dir, "d"), 0o700))
}

// Deeper than a path can be, and than there are descriptors.
func TestDiff_Deep(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 6,000 files")
	}
	s, _ := open(t, nil)
	const depth = 3000
	nest(t, s.files.root, depth, true)
	list, err := s.Diff(t.Context())
	if depth*depth > maxPaths {
		t.Fatal("the test is too large")
	}
	must(t, err)
	// Each level has a directory and a file.
	if len(list) != 2*depth {
		t.Errorf("%d changes, want %d", len(list), 2*depth)
	}
	if n := strings.Count(list[depth-1].Path, "/"); n != depth-1 {
		t.Errorf("the deepest directory has %d above it", n)
	}
	must(t, s.Mark(t.Context()))
	wantLines(t, "Diff after Mark", diff(t, s))
}

func TestDiff_TooDeep(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 4,000 directories")
	}
	s, _ := open(t, nil)
	nest(t, s.files.root, maxDepth+1, false)
	_, err := s.Diff(t.Context())
	wantErr(t, "Diff", err, ErrTooLarge)
}

// nest makes directories in each other, and a file in each.
func nest(t testing.TB, root *os.Root, depth int, files bool) {
	t.Helper()
	dir, own := root, false
	for range depth {
		must(t, dir.Mkdir("d", 0o755))
		if files {
			must(t, dir.WriteFile("f", nil, 0o644))
		}
		next, err := dir.OpenRoot("d")
		must(t, err)
		if own {
			dir.Close()
		}
		dir, own = next, true
	}
	dir.Close()
}

func TestDiff_HoleOfExabytes(t *testing.T) {
	s, _ := open(t, nil)
	name := filepath.Join(s.Info().HostDir, "f")
	write(t, s.Info().HostDir, "f", "x", "g", "y")
	if err := os.Truncate(name, 1<<43); err != nil {
		t.Skip(err)
	}
	list, err := s.Diff(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].Size != 1<<43 || list[0].SHA256 != "" || list[1].SHA256 != sha("y") {
		t.Errorf("%+v", list)
	}
	must(t, s.Mark(t.Context()))
	wantLines(t, "Diff after Mark", diff(t, s))
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("z"), 1<<42)
	must(t, errors.Join(err, f.Close()))
	wantLines(t, "Diff", diff(t, s), "changed f")
}

// Diff while scripts make, change, move and remove: no error, no wrong path, and what is left alone is right.
func TestDiff_WhileItChanges(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "secret", "x")
	var s *Session
	d := script(func(g *guest) Exit {
		dir := s.Info().HostDir
		var busy sync.WaitGroup
		for i := range 4 {
			busy.Go(func() { disturb(g.stop, dir, outside, i) })
		}
		busy.Wait()
		return Exit{}
	})
	s = openWith(t, d, nil)
	put(t, s, "still/f", "still")
	must(t, s.Mark(t.Context()))
	p := start(t, s, "x", nil)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		list, err := s.Diff(t.Context())
		must(t, err)
		for _, c := range list {
			if strings.HasPrefix(c.Path, "still") || strings.Contains(c.Path, "secret") {
				t.Fatalf("Diff has %+v", c)
			}
			if strings.HasSuffix(c.Path, "/f") { // which is in still alone
				t.Fatalf("Diff has followed a link: %+v", c)
			}
			if strings.HasSuffix(c.Path, "/whole") && c.SHA256 != "" && c.SHA256 != sha(strings.Repeat("x", int(c.Size))) {
				t.Fatalf("no file has ever had what has the hash of %+v", c)
			}
		}
	}
	p.Kill()
	_, _ = p.Wait(t.Context())
}

// disturb changes a directory until stop. A directory is now and then a link to another one, or out.
func disturb(stop <-chan struct{}, dir, outside string, n int) {
	sub := filepath.Join(dir, fmt.Sprint("d", n))
	inner := filepath.Join(sub, "a", "b")
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		_ = os.MkdirAll(inner, 0o755)
		_ = os.WriteFile(filepath.Join(inner, "whole"), []byte(strings.Repeat("x", i%100000)), 0o644)
		_ = os.Rename(filepath.Join(sub, "a"), filepath.Join(sub, "moved"))
		target := []string{outside, filepath.Join(dir, "still"), "moved", "/"}[i%4]
		_ = os.Symlink(target, filepath.Join(sub, "a"))
		_ = syscall.Mkfifo(filepath.Join(sub, "fifo"), 0o644)
		_ = os.Remove(filepath.Join(sub, "a"))
		_ = os.Rename(filepath.Join(sub, "fifo"), filepath.Join(sub, "a"))
		_ = os.Remove(filepath.Join(sub, "a"))
		_ = os.RemoveAll(filepath.Join(sub, "moved"))
	}
}

// A directory that has come to the place of the one that was seen is not entered, on the way down or back up.
func TestDiff_SwappedDirectories(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/x", "1", "b/x", "2")
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	d := descent{root: root}
	defer d.close()
	info, err := root.Lstat("a")
	must(t, err, d.push(info))
	d.levels[0].dir.Close()
	d.levels[0].dir = nil // as if it stood much deeper
	for _, swap := range []func() error{
		func() error { return os.Symlink("b", filepath.Join(dir, "a")) },
		func() error { return os.Symlink("/", filepath.Join(dir, "a")) },
		func() error { return os.Mkdir(filepath.Join(dir, "a"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(dir, "a"), nil, 0o644) },
		func() error { return syscall.Mkfifo(filepath.Join(dir, "a"), 0o644) },
		func() error { return nil },
	} {
		must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "away")), swap())
		_, err := d.here()
		wantErr(t, "here", err, errMoved)
		_, err = enter(root, "a", info)
		wantErr(t, "enter", err, errMoved)
		must(t, os.RemoveAll(filepath.Join(dir, "a")), os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "a")))
	}
	_, err = d.here()
	must(t, err)
}

func TestDiff_CloseMeanwhile(t *testing.T) {
	s, _ := open(t, nil)
	for i := range 2000 {
		put(t, s, fmt.Sprint("d/", i), "x")
	}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for {
				if _, err := s.Diff(context.Background()); err != nil {
					wantErr(t, "Diff", err, ErrClosed)
					return
				}
				if err := s.Mark(context.Background()); err != nil {
					wantErr(t, "Mark", err, ErrClosed)
					return
				}
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	must(t, s.Close())
	calls.Wait()
}
