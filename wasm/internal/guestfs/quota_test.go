package guestfs

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// tally is a Quota that counts.
type tally struct {
	mu                 sync.Mutex
	bytes, files       int64
	maxBytes, maxFiles int64
}

func (q *tally) Charge(bytes, files int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if (bytes > 0 && q.bytes+bytes > q.maxBytes) || (files > 0 && q.files+files > q.maxFiles) {
		return false
	}
	q.bytes += bytes
	q.files += files
	return true
}

func (q *tally) left(t *testing.T, after string, bytes, files int64) {
	t.Helper()
	if q.bytes != bytes || q.files != files {
		t.Errorf("after %s: %d bytes in %d files are counted, want %d in %d", after, q.bytes, q.files, bytes, files)
	}
}

func TestQuota_CountsWhatExists(t *testing.T) {
	q := &tally{maxBytes: 100, maxFiles: 5}
	f := newFixture(t, withQuota(q))
	for _, s := range []struct {
		step         string
		want         string
		bytes, files int64
	}{
		{"put a 0123456789", "ok", 10, 1},
		{"put a 01234", "ok", 5, 1}, // O_TRUNC gives back
		{"open h a rw", "ok", 5, 1},
		{"pwrite h xx 3", "2", 5, 1}, // inside
		{"pwrite h xx 4", "2", 6, 1}, // over the end
		{"pwrite h x 94", "1", 95, 1},
		{"pwrite h 012345 95", "ENOSPC", 95, 1},
		{"seek h 0 end", "95", 95, 1},
		{"write h 01234", "5", 100, 1},
		{"write h x", "ENOSPC", 100, 1},
		{"ftruncate h 101", "ENOSPC", 100, 1},
		{"ftruncate h 20", "ok", 20, 1},
		{"ftruncate h 30", "ok", 30, 1},
		{"setappend h on", "ok", 30, 1},
		{"seek h 0 set", "0", 30, 1},
		{"write h 0123456789", "10", 40, 1},
		{"close h", "ok", 40, 1},
		{"link a b", "ok", 40, 2}, // a name, no bytes
		{"unlink a", "ok", 40, 1},
		{"mkdir d", "ok", 40, 2},
		{"mkdir d", "EEXIST", 40, 2},
		{"symlink 12345 s", "ok", 45, 3},
		{"put d/f 0123456789", "ok", 55, 4},
		{"rename d/f b", "ok", 15, 3}, // over the 40 bytes
		{"rename b b2", "ok", 15, 3},
		{"link b2 b3", "ok", 15, 4},
		{"rename b2 b3", "ok", 15, 4}, // two names of one file: nothing happens
		{"put one-more x", "ok", 16, 5},
		{"put two-more x", "ENOSPC", 16, 5},
		{"mkdir two-more", "ENOSPC", 16, 5},
		{"mkdir d", "EEXIST", 16, 5}, // also when full
		{"symlink x two-more", "ENOSPC", 16, 5},
		{"link b2 two-more", "ENOSPC", 16, 5},
		{"open h one-more w,creat,excl", "EEXIST", 16, 5},
		{"unlink s", "ok", 11, 4},
		{"mkdir e", "ok", 11, 5},
		{"rename e d", "ok", 11, 4},
		{"rmdir d", "ok", 11, 3},
		{"unlink b2", "ok", 11, 2},
		{"unlink b3", "ok", 1, 1},
		{"unlink b3", "ENOENT", 1, 1},
		{"unlink one-more", "ok", 0, 0},
	} {
		if got := f.do(s.step); got != s.want {
			t.Errorf("%s: got %s, want %s", s.step, got, s.want)
		}
		q.left(t, s.step, s.bytes, s.files)
	}
}

// A file without a name takes up space until the last descriptor is closed. A guest that got the space back at unlink
// could hold its limit once per descriptor.
func TestQuota_UnlinkedFilesCountUntilClosed(t *testing.T) {
	q := &tally{maxBytes: 100, maxFiles: 5}
	f := newFixture(t, withQuota(q))
	other := f.session.NewFS(RunConfig{})
	defer other.Close()
	expect(t, f.guest, "open h f rw,creat", "write h 0123456789 = 10")
	second, errno := other.OpenFile(WorkPath+"/f", sys.O_RDONLY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	expect(t, f.guest, "unlink f")
	q.left(t, "unlink", 10, 0)
	expect(t, f.guest, "write h 01234 = 5")
	q.left(t, "a write after unlink", 15, 0)
	expect(t, f.guest, "close h")
	q.left(t, "one of two closes", 15, 0)
	_ = second.Close()
	q.left(t, "the last close", 0, 0)

	expect(t, f.guest, "open h f rw,creat", "write h 0123456789 = 10", "put g x", "rename g f")
	q.left(t, "rename over an open file", 11, 1)
	f.fs.Close()
	q.left(t, "the end of the run", 1, 1)
}

func TestQuota_ManyRunsAtOnce(t *testing.T) {
	q := &tally{maxBytes: 20000, maxFiles: 12}
	f := newFixture(t, withQuota(q))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			run := f.session.NewFS(RunConfig{})
			defer run.Close()
			g := &guest{t: t, fs: run, base: WorkPath, files: map[string]sys.File{}}
			for range 200 {
				for _, step := range []string{
					"put a 0123456789", "open h a rw,creat", "pwrite h " + strings.Repeat("x", 5000) + " 3000", "link a b", "put c x", "rename c a", "mkdir d", "put d/x 123",
					"ftruncate h 17", "unlink b", "open h b rw,creat,trunc", "symlink t l", "rename l b", "unlink a", "unlink d/x", "rmdir d", "close h",
				} {
					g.do(step)
				}
			}
		})
	}
	wg.Wait()
	var bytes, files int64
	err := filepath.WalkDir(f.work, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == f.work {
			return err
		}
		files++
		if fi, err := d.Info(); err == nil && !fi.IsDir() {
			bytes += fi.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	q.left(t, "many runs", bytes, files)
}
