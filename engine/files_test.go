package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// must is for calls that set up a test on the host's side of the work directory.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *Session, path, data string) {
	t.Helper()
	must(t, s.PutBytes(t.Context(), path, []byte(data), nil))
}

func get(t testing.TB, s *Session, path string) string {
	t.Helper()
	data, err := s.GetBytes(t.Context(), path, 1<<20)
	if err != nil {
		t.Errorf("GetBytes(%q): %v", path, err)
	}
	return string(data)
}

// noTemporary checks that no file call has left something half done.
func noTemporary(t testing.TB, dir string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasPrefix(filepath.Base(path), ".sandbar-") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

func TestFiles_RoundTrip(t *testing.T) {
	s, _ := open(t, nil)
	for _, name := range []string{
		"a", "dir/sub/f", "%2e%2e/x", "~/x", `C:\x`, "\xff\xfe", "new\nline", "-rf", " ", "...", ".hidden", "é", "e\u0301",
		strings.Repeat("n", 255), WorkDir + "/abs", WorkDir + "//abs2", "//tmp/sandbox-work/abs3", "x/./y", strings.Repeat("d/", 300) + "f",
		"dir/../up", "/tmp/../tmp/sandbox-work/abs4", "../sandbox-work/abs5",
	} {
		put(t, s, name, "data of "+name)
		if got := get(t, s, name); got != "data of "+name {
			t.Errorf("%q: got %q", name, got)
		}
	}
	if get(t, s, "up") != "data of dir/../up" || get(t, s, "abs5") == "" {
		t.Error("a path with .. leads elsewhere")
	}
	noTemporary(t, s.Info().HostDir)
}

func TestFiles_Sizes(t *testing.T) { // cases C143
	s, _ := open(t, nil)
	for _, n := range []int{0, 1, piece - 1, piece, piece + 1, 4<<20 + 1, 64 << 20} {
		data := bytes.Repeat([]byte("x"), n)
		must(t, s.PutBytes(t.Context(), "f", data, nil))
		got, err := s.GetBytes(t.Context(), "f", int64(n))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: got %d, %v", n, len(got), err)
		}
		must(t, s.PutReader(t.Context(), "r", iotest.HalfReader(bytes.NewReader(data)), nil))
		var buf bytes.Buffer
		if err := s.GetWriter(t.Context(), "r", &buf, int64(n)); err != nil || !bytes.Equal(buf.Bytes(), data) {
			t.Errorf("%d bytes by reader and writer: got %d, %v", n, buf.Len(), err)
		}
		if n == 0 {
			continue
		}
		_, err = s.GetBytes(t.Context(), "f", int64(n)/2)
		var large *TooLargeError
		if !errors.As(err, &large) || !errors.Is(err, ErrTooLarge) || large.Size != int64(n) || large.Max != int64(n)/2 {
			t.Errorf("%d bytes with a maximum of half of it: %v", n, err)
		}
		buf.Reset()
		wantErr(t, "GetWriter", s.GetWriter(t.Context(), "f", &buf, int64(n)/2), ErrTooLarge)
		if buf.Len() > 0 {
			t.Errorf("%d bytes were written all the same", buf.Len())
		}
	}
	_, err := s.GetBytes(t.Context(), "f", -1)
	wantField(t, "GetBytes", err, "most")
}

func TestFiles_SparseFile(t *testing.T) { // cases C039
	s, _ := open(t, nil)
	must(t, os.WriteFile(filepath.Join(s.Info().HostDir, "big"), nil, 0o600))
	if err := os.Truncate(filepath.Join(s.Info().HostDir, "big"), 1<<40); err != nil {
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.GetBytes(t.Context(), "big", 1<<20)
	wantErr(t, "GetBytes", err, ErrTooLarge)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantErr(t, "GetWriter", s.GetWriter(ctx, "big", io.Discard, math.MaxInt64), context.DeadlineExceeded)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 200<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// growing is a writer that makes the file larger as it is read.
type growing struct {
	path string
	n    int
}

func (g *growing) Write(p []byte) (int, error) {
	g.n += len(p)
	f, err := os.OpenFile(g.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, err = f.Write(make([]byte, 2*len(p)))
	return len(p), err
}

func TestFiles_GrowingFileStopsAtTheMaximum(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "f", "start")
	w := &growing{path: filepath.Join(s.Info().HostDir, "f")}
	wantErr(t, "GetWriter", s.GetWriter(t.Context(), "f", w, 100_000), ErrTooLarge)
	if w.n != 100_000 {
		t.Errorf("%d bytes were written, want no more than the maximum", w.n)
	}
}

// The canary stands for a file of the host that is none of the script's business.
const canary = "host-canary-51c2"

// plant makes a directory beside the work directory with a canary in it, and links to it.
func plant(t *testing.T) (s *Session, outside string) {
	t.Helper()
	outside = t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "canary"), []byte(canary), 0o644))
	s, _ = open(t, nil)
	dir := s.Info().HostDir
	rel, err := filepath.Rel(dir, outside)
	must(t, err)
	must(t,
		os.Mkdir(filepath.Join(dir, "real"), 0o755),
		os.Symlink(outside+"/canary", filepath.Join(dir, "leak")),
		os.Symlink(outside, filepath.Join(dir, "dir")),
		os.Symlink(outside, filepath.Join(dir, "real", "up")),
		os.Symlink(rel+"/canary", filepath.Join(dir, "relative")),
		os.Symlink(outside+"/new", filepath.Join(dir, "dangling")),
		os.Symlink("/proc/self/environ", filepath.Join(dir, "env")),
		os.Symlink("/tmp", filepath.Join(dir, "tmp")),
		os.Symlink("real/up/canary", filepath.Join(dir, "chain")),
		os.Symlink("..", filepath.Join(dir, "real", "dotdot")),
		os.Symlink("../..", filepath.Join(dir, "real", "above")),
		os.Symlink(WorkDir+"/../"+filepath.Base(dir), filepath.Join(dir, "twin")),
	)
	return s, outside
}

func TestFiles_NothingOutside(t *testing.T) { // cases C032, C033, C035, C038
	s, outside := plant(t)
	host := filepath.Base(s.Info().HostDir)
	for _, path := range []string{
		"leak", "dir/canary", "dir", "dir/../leak", "real/up/canary", "real/up", "relative", "dangling", "env", "tmp/x", "chain",
		"real/above/x", "twin", "real/dotdot/leak",
		"../x", "/etc/hostname", WorkDir + "/../etc/hostname", WorkDir + "-evil/x", "//etc/hostname", "real/../../x", "./././../x", "/", "/tmp", "..",
		"/tmp/sandbox-work/../../tmp/x", "../" + host + "/f", "/proc/self/environ", "../../../../../../../../etc/hostname", outside + "/canary",
	} {
		data, err := s.GetBytes(t.Context(), path, 1<<20)
		wantErr(t, fmt.Sprintf("GetBytes(%q)", path), err, ErrEscapes)
		if len(data) > 0 {
			t.Errorf("GetBytes(%q) gave %q", path, data)
		}
		wantErr(t, fmt.Sprintf("PutBytes(%q)", path), s.PutBytes(t.Context(), path, []byte("x"), nil), ErrEscapes)
		_, err = s.Stat(t.Context(), path)
		wantErr(t, fmt.Sprintf("Stat(%q)", path), err, ErrEscapes)
		_, err = s.List(t.Context(), path)
		wantErr(t, fmt.Sprintf("List(%q)", path), err, ErrEscapes)
	}
	for _, path := range []string{"dir/new/deep/f", "real/up/new.txt"} {
		wantErr(t, fmt.Sprintf("PutBytes(%q)", path), s.PutBytes(t.Context(), path, []byte("x"), nil), ErrEscapes)
	}
	for _, path := range []string{"dir/canary", "real/up/canary", "../x", "dir/"} {
		wantErr(t, fmt.Sprintf("Remove(%q)", path), s.Remove(t.Context(), path), ErrEscapes)
		wantErr(t, fmt.Sprintf("RemoveAll(%q)", path), s.RemoveAll(t.Context(), path), ErrEscapes)
	}
	list, _ := os.ReadDir(outside)
	if got, _ := os.ReadFile(outside + "/canary"); len(list) != 1 || string(got) != canary {
		t.Errorf("outside: %v, canary %q", list, got)
	}
	noTemporary(t, s.Info().HostDir)
}

func TestFiles_RemovingALinkLeavesItsTarget(t *testing.T) {
	s, outside := plant(t)
	for _, path := range []string{"leak", "dir", "dangling"} {
		must(t, s.Remove(t.Context(), path))
	}
	must(t, s.RemoveAll(t.Context(), "real"), s.RemoveAll(t.Context(), "tmp"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(outside + "/canary"); string(got) != canary {
		t.Error("the target is gone")
	}
}

func TestFiles_LinksInside(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	put(t, s, "real/f", "data")
	must(t,
		os.Symlink("real", filepath.Join(dir, "relative")),
		os.Symlink(WorkDir+"/real", filepath.Join(dir, "absolute")),
		os.Symlink(WorkDir, filepath.Join(dir, "real", "top")),
		os.Symlink("relative/top/absolute/f", filepath.Join(dir, "long")),
		os.Symlink("absolute/new", filepath.Join(dir, "dangling")),
		os.Symlink("../real/f", filepath.Join(dir, "real", "dots")),
	)
	for _, path := range []string{"relative/f", "absolute/f", "absolute/top/relative/f", "long", "real/dots", WorkDir + "/absolute/f", "absolute/../real/f"} {
		if got := get(t, s, path); got != "data" {
			t.Errorf("%q: got %q", path, got)
		}
	}
	put(t, s, "long", "changed")
	put(t, s, "dangling", "made")
	if get(t, s, "real/f") != "changed" || get(t, s, "real/new") != "made" {
		t.Error("a put through a link did not reach its target")
	}
	if info, err := os.Lstat(filepath.Join(dir, "long")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Error("a put through a link replaced the link")
	}
}

func TestFiles_LinkLoopsEnd(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	must(t,
		os.Symlink("loop", filepath.Join(dir, "loop")),
		os.Symlink("b/x", filepath.Join(dir, "a")), os.Symlink("a/x", filepath.Join(dir, "b")),
		os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 600)), 0o755),
	)
	up := strings.Repeat("d/", 600) + strings.Repeat("../", 600)
	must(t, os.Symlink(up+"bomb", filepath.Join(dir, "bomb")))
	for _, path := range []string{"loop", "a", "loop/x", "bomb", "bomb/bomb"} {
		_, err := s.GetBytes(t.Context(), path, 1)
		if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotExist) {
			t.Errorf("GetBytes(%q) = %v", path, err)
		}
		if path == "loop" && (err == nil || !strings.Contains(err.Error(), "too many symbolic links")) {
			t.Errorf("GetBytes(%q) = %v", path, err)
		}
	}
}

func TestFiles_BadPaths(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "file", "x")
	must(t, os.Mkdir(filepath.Join(s.Info().HostDir, "sub"), 0o755))
	for _, tt := range []struct {
		path     string
		get, put error
	}{
		{"a\x00b", ErrInvalid, ErrInvalid},
		{"", ErrInvalid, ErrInvalid},
		{strings.Repeat("a", 256), ErrInvalid, ErrInvalid},
		{strings.Repeat("d/", 2100) + "f", ErrInvalid, ErrInvalid},
		{".", ErrIsDirectory, ErrIsDirectory},
		{WorkDir, ErrIsDirectory, ErrIsDirectory},
		{"sub", ErrIsDirectory, ErrIsDirectory},
		{"sub/", ErrIsDirectory, ErrIsDirectory},
		{"sub/..", ErrIsDirectory, ErrIsDirectory},
		{"a/", ErrNotExist, ErrIsDirectory},
		{"file/", ErrNotDirectory, ErrNotDirectory},
		{"file/.", ErrNotDirectory, ErrNotDirectory},
		{"file/child", ErrNotDirectory, ErrNotDirectory},
		{"file/..", ErrNotDirectory, ErrNotDirectory},
		{"missing", ErrNotExist, nil},
		{"missing2/../x", ErrNotExist, ErrNotExist},
	} {
		_, err := s.GetBytes(t.Context(), tt.path, 10)
		wantErr(t, fmt.Sprintf("GetBytes(%.20q)", tt.path), err, tt.get)
		err = s.PutBytes(t.Context(), tt.path, []byte("x"), nil)
		if !errors.Is(err, tt.put) || tt.put == nil && err != nil {
			t.Errorf("PutBytes(%.20q) = %v, want %v", tt.path, err, tt.put)
		}
	}
	_, err := s.GetBytes(t.Context(), "missing3\x1b[31m", 1)
	if err == nil || strings.Contains(err.Error(), "\x1b") || strings.Contains(err.Error(), s.Info().HostDir) {
		t.Errorf("error %q names what it should not", err)
	}
	if _, err := os.Lstat(filepath.Join(s.Info().HostDir, "missing2")); err == nil {
		t.Error("a put that was refused made a directory")
	}
}

func TestFiles_ListAndStat(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	for _, name := range []string{"b", "a/x", "\xff", "Z"} {
		put(t, s, name, "12345")
	}
	must(t, os.Symlink("/etc", filepath.Join(dir, "link")))
	list, err := s.List(t.Context(), ".")
	must(t, err)
	var names []string
	for _, fi := range list {
		names = append(names, fi.Name)
	}
	if want := []string{"Z", "a", "b", "link", "\xff"}; !slices.Equal(names, want) {
		t.Errorf("List = %q, want %q", names, want)
	}
	if b := list[2]; b.Size != 5 || !b.Mode.IsRegular() || time.Since(b.ModTime) > time.Hour {
		t.Errorf("entry %+v", b)
	}
	if !list[1].Mode.IsDir() || list[3].Mode.Type() != fs.ModeSymlink {
		t.Errorf("types %v, %v", list[1].Mode, list[3].Mode)
	}
	if fi, err := s.Stat(t.Context(), "a/"); err != nil || fi.Name != "a" || !fi.Mode.IsDir() {
		t.Errorf("Stat = %+v, %v", fi, err)
	}
	if _, err := s.Stat(t.Context(), "."); err != nil {
		t.Errorf("Stat(.): %v", err)
	}
	_, err = s.List(t.Context(), "b")
	wantErr(t, "List of a file", err, ErrNotDirectory)
	_, err = s.List(t.Context(), "none")
	wantErr(t, "List of nothing", err, ErrNotExist)
}

func TestFiles_Remove(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "d/f", "x")
	put(t, s, "e/f/g/h", "x")
	if err := s.Remove(t.Context(), "d"); err == nil {
		t.Error("a directory with a file in it was removed")
	}
	must(t, s.Remove(t.Context(), "d/f"), s.Remove(t.Context(), "d/"), s.RemoveAll(t.Context(), "e"), s.RemoveAll(t.Context(), "e"))
	wantErr(t, "Remove of nothing", s.Remove(t.Context(), "d"), ErrNotExist)
	for _, path := range []string{".", WorkDir, "x/..", "/tmp/sandbox-work/"} {
		if path == "x/.." {
			put(t, s, "x/f", "x")
		}
		wantField(t, "Remove of the work directory", s.Remove(t.Context(), path), "path")
		wantField(t, "RemoveAll of the work directory", s.RemoveAll(t.Context(), path), "path")
	}
	if list, err := s.List(t.Context(), "."); err != nil || len(list) != 1 {
		t.Errorf("left: %v, %v", list, err)
	}
}

func TestFiles_ParentsOfAFailedPutAreTakenBack(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "old/f", "x")
	err := s.PutReader(t.Context(), "old/new/deep/f", io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(fs.ErrPermission)), nil)
	wantErr(t, "PutReader", err, fs.ErrPermission)
	err = s.PutReader(t.Context(), "g", iotest.ErrReader(fs.ErrNotExist), nil)
	if errors.Is(err, ErrNotExist) { // the reader's trouble is not the work directory's
		t.Errorf("PutReader = %v", err)
	}
	if list, _ := s.List(t.Context(), "old"); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	noTemporary(t, s.Info().HostDir)
}

func TestFiles_PutIsAtOnce(t *testing.T) {
	s, _ := open(t, nil)
	put(t, s, "f", "old")
	held, err := os.Open(filepath.Join(s.Info().HostDir, "f"))
	must(t, err)
	defer held.Close()
	r, w := io.Pipe()
	done := make(chan error)
	go func() { done <- s.PutReader(t.Context(), "f", r, nil) }()
	_, _ = w.Write(make([]byte, 2*piece))
	if got := get(t, s, "f"); got != "old" {
		t.Errorf("half of a put is visible: %d bytes", len(got))
	}
	_ = w.Close()
	must(t, <-done)
	if fi, _ := s.Stat(t.Context(), "f"); fi.Size != 2*piece {
		t.Errorf("after the put: %+v", fi)
	}
	if got, _ := io.ReadAll(held); string(got) != "old" {
		t.Errorf("who had the file open reads %d bytes", len(got))
	}
}

func TestFiles_CancelledPutLeavesNothing(t *testing.T) {
	for _, how := range []string{"context", "close"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			s, _ := open(t, &Options{WorkDir: dir})
			r, w := io.Pipe()
			defer func() { _ = w.Close() }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() { done <- s.PutReader(ctx, "new/f", r, nil) }()
			_, _ = w.Write(make([]byte, 2*piece))
			want := context.Canceled
			if how == "close" {
				want = ErrClosed
				_ = s.Close()
			} else {
				cancel()
			}
			wantErr(t, "PutReader", <-done, want)
			if list, _ := os.ReadDir(dir); len(list) != 0 {
				t.Errorf("left behind: %v", list)
			}
		})
	}
	s, _ := open(t, nil)
	put(t, s, "f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.GetBytes(ctx, "f", 1)
	wantErr(t, "GetBytes", err, context.Canceled)
	wantErr(t, "PutBytes", s.PutBytes(ctx, "g", nil, nil), context.Canceled)
	wantErr(t, "GetWriter", s.GetWriter(ctx, "f", io.Discard, 1), context.Canceled)
}

func TestFiles_Mode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	s, _ := open(t, nil)
	withUmask(t, 0o077)
	for mode, want := range map[fs.FileMode]fs.FileMode{0: 0o644, 0o755: 0o755, 0o400: 0o400, 0o777: 0o777} {
		path := fmt.Sprintf("d%o/f", mode)
		must(t, s.PutBytes(t.Context(), path, make([]byte, piece+1), &PutOptions{Mode: mode}))
		fi, err := s.Stat(t.Context(), path)
		if err != nil || fi.Mode != want {
			t.Errorf("mode %o: %v, %v", mode, fi.Mode, err)
		}
		if fi, _ := s.Stat(t.Context(), filepath.Dir(path)); fi.Mode.Perm() != 0o755 {
			t.Errorf("directory: %v", fi.Mode)
		}
	}
	for _, mode := range []fs.FileMode{fs.ModeSetuid | 0o755, fs.ModeDir | 0o755, 0o1000} {
		wantField(t, mode.String(), s.PutBytes(t.Context(), "f", nil, &PutOptions{Mode: mode}), "Mode")
	}
	wantField(t, "no reader", s.PutReader(t.Context(), "f", nil, nil), "r")
}

func TestQuota_CountsWhatExists(t *testing.T) { // cases C045
	s, d := open(t, &Options{Limits: Limits{Disk: 1000, DiskFiles: 5}})
	big := make([]byte, 600)
	must(t, s.PutBytes(t.Context(), "a", big, nil))
	wantErr(t, "past the limit", s.PutBytes(t.Context(), "b", big, nil), ErrNoSpace)
	wantErr(t, "past the limit, by reader", s.PutReader(t.Context(), "b", bytes.NewReader(big), nil), ErrNoSpace)
	for range 100 {
		must(t, s.PutBytes(t.Context(), "a", big, nil))
	}
	must(t, s.PutBytes(t.Context(), "a", make([]byte, 1000), nil))
	wantErr(t, "past the limit by overwriting", s.PutBytes(t.Context(), "a", make([]byte, 1001), nil), ErrNoSpace)
	must(t, s.PutBytes(t.Context(), "a", make([]byte, 10), nil))
	if !d.spec.Quota.Charge(990, 0) || d.spec.Quota.Charge(1, 0) || !d.spec.Quota.Charge(-990, 0) {
		t.Error("driver and file calls count apart")
	}
	put(t, s, "d/e/f", "x") // three more
	wantErr(t, "past the number of files", s.PutBytes(t.Context(), "d/e/g/h", nil, nil), ErrNoSpace)
	put(t, s, "d/e/g", "x")
	wantErr(t, "past the number of files", s.PutBytes(t.Context(), "h", nil, nil), ErrNoSpace)
	must(t, s.RemoveAll(t.Context(), "d"))
	put(t, s, "h", "x")
	must(t, s.Remove(t.Context(), "h"), s.Remove(t.Context(), "a"))
	if q := s.files.quota; q.bytes != 0 || q.files != 0 {
		t.Errorf("an empty directory counts %d bytes, %d files", q.bytes, q.files)
	}
	noTemporary(t, s.Info().HostDir)
}

func TestQuota_CountsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "d"), 0o755),
		os.WriteFile(filepath.Join(dir, "d", "a"), make([]byte, 100), 0o600),
		os.Link(filepath.Join(dir, "d", "a"), filepath.Join(dir, "hard")),
		os.Symlink("/etc", filepath.Join(dir, "soft")))
	s, _ := open(t, &Options{WorkDir: dir, Limits: Limits{Disk: 150}})
	if q := s.files.quota; q.bytes != 100 || q.files != 3 {
		t.Errorf("counted %d bytes, %d files, want 100, 3", q.bytes, q.files)
	}
	wantErr(t, "PutBytes", s.PutBytes(t.Context(), "x", make([]byte, 51), nil), ErrNoSpace)
	must(t, s.Remove(t.Context(), "hard")) // the file is still there
	wantErr(t, "PutBytes", s.PutBytes(t.Context(), "x", make([]byte, 51), nil), ErrNoSpace)
	must(t, s.Remove(t.Context(), "d/a"))
	must(t, s.PutBytes(t.Context(), "x", make([]byte, 150), nil))
}

func TestQuota_Charge(t *testing.T) {
	q := &quota{maxBytes: 100, maxFiles: 2}
	for i, tt := range []struct {
		bytes, files int64
		ok           bool
	}{
		{100, 0, true},
		{1, 0, false},
		{math.MaxInt64, 0, false},
		{0, 2, true},
		{-50, 1, false}, // nothing changes
		{1, 0, false},
		{-50, 0, true},
		{50, 0, true},
		{-1 << 40, -9, true}, // more than there is
		{101, 0, false},
		{100, 2, true},
	} {
		if got := q.Charge(tt.bytes, tt.files); got != tt.ok {
			t.Errorf("%d: Charge(%d, %d) = %v", i, tt.bytes, tt.files, got)
		}
	}
	if !newQuota(&Limits{}).Charge(1<<60, 1<<60) {
		t.Error("no limit refuses")
	}
	if s, d := open(t, nil); s.files.quota != nil || d.spec.Quota != nil {
		t.Error("a session without a limit has a quota")
	}
}

func TestQuota_Hammer(t *testing.T) {
	s, d := open(t, &Options{Limits: Limits{Disk: 50_000, DiskFiles: 30}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				name := fmt.Sprintf("%d/%d", i%4, j%5)
				_ = s.PutBytes(t.Context(), name, make([]byte, 100*j), nil)
				if d.spec.Quota.Charge(10, 0) {
					d.spec.Quota.Charge(-10, 0)
				}
			}
		})
	}
	wg.Wait()
	q := &quota{}
	must(t, q.count(t.Context(), s.files.root, 0, map[inode]bool{}))
	if q.bytes > 50_000 || q.files > 30 {
		t.Errorf("%d bytes in %d files exist", q.bytes, q.files)
	}
	noTemporary(t, s.Info().HostDir)
}

// A tree deeper than any path, with names that are in the way, goes with the session.
func TestSession_CloseRemovesDeepTrees(t *testing.T) {
	s, _ := open(t, nil)
	dir := s.files.root
	name := strings.Repeat("d", 200)
	for range 50 { // 10,000 bytes of path
		must(t, dir.Mkdir(name, 0o700), dir.Mkdir("e", 0o700), dir.WriteFile(name+"/.sandbar-x", nil, 0), dir.Symlink("/etc", name+"/l"))
		next, err := openDir(dir, name)
		must(t, err)
		if dir != s.files.root {
			dir.Close()
		}
		dir = next
	}
	dir.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(s.Info().HostDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("work directory: %v", err)
	}
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"../x", "/etc/hostname", WorkDir + "/../etc/hostname", "//etc/hostname", "a/../../x", "a\x00b", "", ".", "/", "a/", "in/leak", "out/canary",
		"abs/leak/../..", "loop/x", "in/up/up/up/etc", WorkDir, "/tmp/sandbox-work/abs/new/f", "abs/../../sandbox-work/f", "out/../f", "leak/.",
	} {
		f.Add(seed)
	}
	outside := f.TempDir()
	must(f, os.WriteFile(outside+"/canary", []byte(canary), 0o644))
	before, _ := os.Stat(outside)
	f.Fuzz(func(t *testing.T, path string) {
		s, _ := open(t, nil)
		dir := s.Info().HostDir
		must(t,
			os.Mkdir(dir+"/in", 0o755),
			os.Symlink(outside+"/canary", dir+"/leak"),
			os.Symlink(outside+"/canary", dir+"/in/leak"),
			os.Symlink("..", dir+"/in/up"),
			os.Symlink(outside, dir+"/out"),
			os.Symlink(WorkDir+"/in", dir+"/abs"),
			os.Symlink("loop", dir+"/loop"),
		)
		if data, err := s.GetBytes(t.Context(), path, 1000); bytes.Contains(data, []byte(canary)) || err == nil {
			t.Fatalf("GetBytes(%q) = %q, %v", path, data, err)
		}
		_, _ = s.Stat(t.Context(), path)
		_, _ = s.List(t.Context(), path)
		err := s.PutBytes(t.Context(), path, []byte("x"), nil)
		if got, getErr := s.GetBytes(t.Context(), path, 1); err == nil && (string(got) != "x" || getErr != nil) {
			t.Fatalf("%q was put, and then read as %q, %v", path, got, getErr)
		}
		_ = s.Remove(t.Context(), path)
		_ = s.RemoveAll(t.Context(), path)
		if after, err := os.Stat(outside); err != nil || !after.ModTime().Equal(before.ModTime()) {
			t.Fatalf("%q changed what is outside", path)
		}
		if got, err := os.ReadFile(outside + "/canary"); string(got) != canary {
			t.Fatalf("%q changed the canary: %q, %v", path, got, err)
		}
	})
}

func BenchmarkFiles(b *testing.B) {
	s, _ := open(b, nil)
	for _, size := range []int{10, 1 << 20} {
		data := make([]byte, size)
		b.Run(fmt.Sprintf("put/%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				must(b, s.PutBytes(b.Context(), "f", data, nil))
			}
		})
		b.Run(fmt.Sprintf("get/%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				_, err := s.GetBytes(b.Context(), "f", int64(size))
				must(b, err)
			}
		})
	}
}

func BenchmarkExec(b *testing.B) {
	s, _ := open(b, nil)
	for b.Loop() {
		exec(b, s, "hello", nil)
	}
}
