//go:build unix

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestCommit_SpecialFilesStay(t *testing.T) {
	host := overlaid(t)
	write(t, host, "f", "1", "d/g", "1")
	must(t, syscall.Mkfifo(filepath.Join(host, "hostfifo"), 0o644))
	s, _ := open(t, &Options{Overlay: host})
	work := s.Info().HostDir
	if _, err := os.Lstat(filepath.Join(work, "hostfifo")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the FIFO is in the session: %v", err)
	}
	wantLines(t, "Diff", diff(t, s))
	must(t, os.Remove(filepath.Join(work, "f")), os.RemoveAll(filepath.Join(work, "d")))
	for _, name := range []string{"f", "d", "new"} {
		must(t, syscall.Mkfifo(filepath.Join(work, name), 0o644))
	}
	write(t, work, "ok", "ok")
	wantLines(t, "Commit", commit(t, s), "added ok")
	for name, want := range map[string]string{"f": "1", "d/g": "1", "ok": "ok"} {
		if data, err := os.ReadFile(filepath.Join(host, name)); string(data) != want || err != nil {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
	wantLines(t, "Diff after Commit", diff(t, s), "changed d", "removed d/g", "changed f", "added new")
	// What the host has and the session has not is in the way.
	write(t, work, "hostfifo", "x")
	_, err := s.Commit(t.Context())
	wantErr(t, "Commit", err, ErrConflict)
}

func TestCommit_ModesAndLinks(t *testing.T) {
	s, host, work := lay(t, "a", "1", "b", "1")
	write(t, work, "suid", "x", "secret", "x", "closed/f", "x")
	must(t, os.Chmod(filepath.Join(work, "suid"), 0o755|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky), os.Chmod(filepath.Join(work, "secret"), 0),
		os.Chmod(filepath.Join(work, "closed/f"), 0o400), os.Chmod(filepath.Join(work, "closed"), 0o100),
		os.Remove(filepath.Join(work, "b")), os.Link(filepath.Join(work, "a"), filepath.Join(work, "b")))
	commit(t, s)
	for name, want := range map[string]fs.FileMode{"suid": 0o755, "secret": 0, "closed": fs.ModeDir | 0o100} {
		for _, dir := range []string{host, work} {
			info, err := os.Lstat(filepath.Join(dir, name))
			if must(t, err); info.Mode() != want && (dir == host || name != "suid") {
				t.Errorf("%s/%s has mode %v, want %v", dir, name, info.Mode(), want)
			}
			if name == "closed" {
				must(t, os.Chmod(filepath.Join(dir, name), 0o700))
			}
		}
	}
	if data, err := os.ReadFile(filepath.Join(host, "closed/f")); string(data) != "x" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// A name of a file that has others is replaced: the others, here or elsewhere, keep what they have.
func TestCommit_HardLinksOnTheHost(t *testing.T) {
	host := overlaid(t)
	outside := filepath.Join(filepath.Dir(host), "outside")
	write(t, host, "a", "1", "c", "3")
	must(t, os.Link(filepath.Join(host, "a"), outside), os.Link(filepath.Join(host, "a"), filepath.Join(host, "b")), os.Link(filepath.Join(host, "a"), filepath.Join(host, "z")))
	s, _ := open(t, &Options{Overlay: host})
	work := s.Info().HostDir
	write(t, work, "a", "22") // and so b and z
	must(t, os.Remove(filepath.Join(work, "b")))
	wantLines(t, "Commit", commit(t, s), "changed a", "removed b", "changed z")
	if data, err := os.ReadFile(outside); string(data) != "1" || err != nil {
		t.Errorf("outside has %q, %v", data, err)
	}
	wantSame(t, host, work)
	write(t, work, "a", "333")
	wantLines(t, "Commit", commit(t, s), "changed a", "changed z")

	// Of two names that are left one by one.
	must(t, os.Link(filepath.Join(host, "c"), filepath.Join(host, "d")))
	s, _ = open(t, &Options{Overlay: host})
	put(t, s, "c", "4")
	wantLines(t, "Commit", commit(t, s), "changed c")
	put(t, s, "d", "5")
	wantLines(t, "Commit", commit(t, s), "changed d")
}

func TestCommit_Owner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, who gives files away")
	}
	host := overlaid(t)
	write(t, host, "f", "1", "g", "1")
	must(t, os.Chown(filepath.Join(host, "f"), 1234, 5678))
	s, _ := open(t, &Options{Overlay: host})
	put(t, s, "f", "2")
	put(t, s, "new", "2")
	commit(t, s)
	for name, want := range map[string][2]uint32{"f": {1234, 5678}, "new": {0, 0}} {
		info, err := os.Stat(filepath.Join(host, name))
		must(t, err)
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != want[0] || st.Gid != want[1] {
			t.Errorf("%s belongs to %+v", name, info.Sys())
		}
	}
}

// A directory that may not be written to is found before anything is written.
func TestCommit_ReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, tt := range []struct {
		name string
		do   func(dir string) error
	}{
		{"added", writes("ro/new", "x")},
		{"changed", writes("ro/f", "x")},
		{"removed", removes("ro/f")},
		{"directory", writes("ro/new/f", "x")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, host, work := lay(t, "ro/f", "1", "a", "1", "z", "1")
			must(t, tt.do(work))
			write(t, work, "a", "2", "z", "2")
			must(t, os.Chmod(filepath.Join(host, "ro"), 0o500))
			before := listing(t, host)
			list, err := s.Commit(t.Context())
			wantErr(t, "Commit", err, fs.ErrPermission)
			if after := listing(t, host); strings.Join(before, "\n") != strings.Join(after, "\n") || len(list) > 0 {
				t.Errorf("%v: the host has %q, and had %q", list, after, before)
			}
			must(t, os.Chmod(filepath.Join(host, "ro"), 0o755))
		})
	}
}

// Whatever somebody does to the host's directory meanwhile, Commit writes nowhere else, and what it says that it has
// done can be gone on from.
func TestCommit_WhileTheHostChanges(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "f", "outside")
	s, host, work := lay(t, "d/e/f", "1", "d/e/g", "1")
	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			d, moved := filepath.Join(host, "d"), filepath.Join(host, "moved")
			_ = os.Rename(d, moved)
			_ = os.Symlink([]string{outside, "moved", "../.."}[i%3], d)
			runtime.Gosched()
			_ = os.Remove(d)
			_ = os.Rename(moved, d)
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	committed := 0
	for i := range 100 {
		write(t, work, "d/e/f", fmt.Sprint(i), "d/e/g", fmt.Sprint(-i), fmt.Sprint("d/new", i%7), "x", fmt.Sprint("d/n", i%5, "/x"), fmt.Sprint(i))
		must(t, os.RemoveAll(filepath.Join(work, fmt.Sprint("d/new", (i+3)%7))))
		_, err := s.Commit(t.Context())
		if err == nil {
			committed++
		} else if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotExist) {
			t.Fatalf("Commit = %v", err)
		}
		if got := listing(t, outside); len(got) != 1 || !strings.HasSuffix(got[0], " outside") {
			t.Fatalf("outside there is %q", got)
		}
	}
	close(stop)
	busy.Wait()
	t.Logf("%d of 100 commits went through", committed)
	if _, err := s.Commit(t.Context()); err != nil {
		t.Logf("the last one: %v", err) // it was disturbed halfway
		return
	}
	// Temporary names may be left where a directory was not to be found again at the time.
	got := slices.DeleteFunc(listing(t, host), func(line string) bool { return strings.Contains(line, "/.sandbar-") })
	if want := listing(t, work); !slices.Equal(got, want) {
		t.Errorf("the host has %q, want %q", got, want)
	}
}

// A commit that fails halfway says what it has done, leaves no temporary file, and another one goes on.
func TestCommit_Halfway(t *testing.T) {
	s, host, work := lay(t, "a", "1", "b", "1", "c/x", "1")
	write(t, work, "a", "2", "b", "2", "c/x", "2")
	h := &s.files.history
	now, err := s.take(t.Context(), h.base, false)
	must(t, err)
	deltas := committable(compare(h.base.root, now.root))
	c := &committer{host: descent{root: h.host}, work: descent{root: s.files.root}, digest: newDigester(), relinked: map[inode]bool{}}
	must(t, c.check(t.Context(), deltas), c.stage(t.Context(), deltas, false))
	write(t, host, "b", "host") // now
	err = c.apply(deltas, h.base.root)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0] != "b" {
		t.Errorf("apply = %v", err)
	}
	wantLines(t, "done", lines(c.done), "changed a")
	must(t, c.unstage(deltas))
	wantLines(t, "the host's files", listing(t, host), "/a -rw-r--r-- 2", "/b -rw-r--r-- host", "/c drwxr-xr-x", "/c/x -rw-r--r-- 1")
	_, err = s.Commit(t.Context())
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 {
		t.Errorf("Commit = %v", err)
	}
	must(t, s.Remove(t.Context(), "b"))
	write(t, work, "b", "1") // as it was
	wantLines(t, "Commit", commit(t, s), "changed c/x")
	c.host.close()
	c.work.close()
}

func TestCommit_NamesAreBytes(t *testing.T) {
	s, host, work := lay(t)
	long := strings.Repeat("n", 255)
	write(t, work, "a\nb", "1", "\xff\xfe", "2", long+"/"+long+"/"+long, "3", "-rf", "4", "\\", "5")
	commit(t, s)
	wantSame(t, host, work)
	must(t, os.RemoveAll(filepath.Join(work, long)), os.Remove(filepath.Join(work, "a\nb")))
	commit(t, s)
	wantSame(t, host, work)
}

func TestCommit_Deep(t *testing.T) {
	s, host, _ := lay(t)
	nest(t, s.files.root, 500, true)
	list, err := s.Commit(t.Context())
	if must(t, err); len(list) != 1000 {
		t.Errorf("%d changes", len(list))
	}
	wantLines(t, "Diff", diff(t, s))
	must(t, s.RemoveAll(t.Context(), "d"), s.Remove(t.Context(), "f"))
	list, err = s.Commit(t.Context())
	if must(t, err); len(list) != 1000 {
		t.Errorf("%d changes", len(list))
	}
	if names := listing(t, host); len(names) > 0 {
		t.Errorf("there is %d, %.100q", len(names), names)
	}
}

// Nothing of all this is left open.
func TestCommit_NoDescriptorsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	host := overlaid(t)
	write(t, host, "d/e/f", "1", "g", "1")
	round := func() {
		s, err := Open(t.Context(), []Driver{newFake(basics)}, &Options{Overlay: host})
		must(t, err)
		write(t, s.Info().HostDir, "d/e/f", fmt.Sprint(time.Now().UnixNano()), "n/e/w", "1")
		must(t, s.Mark(t.Context()))
		_, err = s.Diff(t.Context())
		must(t, err)
		_, err = s.Commit(t.Context())
		must(t, err, os.WriteFile(filepath.Join(host, "g"), []byte(fmt.Sprint(time.Now().UnixNano())), 0o644), s.PutBytes(t.Context(), "g", nil, nil))
		_, err = s.Commit(t.Context())
		wantErr(t, "Commit", err, ErrConflict)
		must(t, s.Close())
	}
	round()
	before, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	for range 10 {
		round()
	}
	after, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	if len(after) > len(before) {
		t.Errorf("%d descriptors, %d before", len(after), len(before))
	}
}
