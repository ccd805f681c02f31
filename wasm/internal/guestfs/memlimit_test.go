package guestfs

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestMem_Limits(t *testing.T) {
	f := newFixture(t, withTmp(4*chunkSize, 4))
	g := f.in("/tmp")
	expect(t, g,
		"put a x", "put b x", "put c x", "put d x", "put e x = ENOSPC", "mkdir e = ENOSPC", "symlink x e = ENOSPC", "link a e = ENOSPC",
		"put a more", "open h a rw", "pwrite h x 4096 = ENOSPC", "pwrite h 12345678 4092 = 4", "stat a = file 644 size=4096 nlink=1",
		"unlink b", "pwrite h x 4096 = 1", "mkdir e", "unlink c", "rmdir e", "put f x", "ftruncate h 0", "put g x",
	)
}

// A hole holds no memory, so that a byte far out is one chunk; past the largest size it is EFBIG.
func TestMem_SparseFiles(t *testing.T) {
	f := newFixture(t, withTmp(3*chunkSize, 9))
	g := f.in("/tmp")
	expect(t, g,
		"open h f rw,creat", "pwrite h x 1000000000000 = 1", "fstat h = file 644 size=1000000000001 nlink=1", "pread h 5 999999999998 = <2>x", "pread h 4 500000000000 = <4>",
		"pwrite h ab 1099511627775 = 1", "pwrite h x 1099511627776 = EFBIG", "pwrite h x 9223372036854775807 = EFBIG", "seek h 9223372036854775807 set = 9223372036854775807", "write h x = EFBIG",
		"seek h 9223372036854775807 end = EINVAL", "ftruncate h 1099511627777 = EFBIG", "ftruncate h 1099511627776", "pwrite h x 0 = 1", "pwrite h x 5000 = ENOSPC", "ftruncate h 1", "pwrite h x 5000 = 1",
	)
	if f.fs.tmp.bytes != 2*chunkSize {
		t.Errorf("%d bytes are counted, want %d", f.fs.tmp.bytes, 2*chunkSize)
	}
}

// What the guest has given back must really be free: not kept by a large slice, a map that has grown, or a path that a
// name is a piece of.
func TestMem_HoldsWhatIsCounted(t *testing.T) {
	const limit = 16 << 20
	f := newFixture(t, withTmp(limit, 3000))
	g := f.in("/tmp")
	base := heap()
	buf := make([]byte, limit)
	for i := range 40 { // each file was once as large as all of /tmp
		file, errno := g.fs.OpenFile(fmt.Sprintf("/tmp/f%d", i), sys.O_RDWR|sys.O_CREAT, 0o600)
		if errno != 0 {
			t.Fatal(errno)
		}
		if n, errno := file.Pwrite(buf[:limit-40*chunkSize], 0); errno != 0 {
			t.Fatal(n, errno)
		}
		if errno := file.Truncate(1); errno != 0 {
			t.Fatal(errno)
		}
		_ = file.Close()
	}
	deep := "/tmp"
	for range 14 { // a name is a piece of a long path
		deep += "/" + strings.Repeat("n", 250)
		if errno := g.fs.Mkdir(deep, 0o755); errno != 0 {
			t.Fatal(errno)
		}
	}
	for i := range 2000 {
		if errno := g.fs.Symlink("x", fmt.Sprint(deep, "/", i)); errno != 0 {
			t.Fatal(errno)
		}
	}
	for i := range 100_000 {
		g.do(fmt.Sprint("mkdir churn", i))
		g.do(fmt.Sprint("rmdir churn", i))
	}
	buf = nil
	if held := heap() - base; held > 4<<20 {
		t.Errorf("%d bytes are held for %d that are counted", held, f.fs.tmp.bytes)
	}
	runtime.KeepAlive(f)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A directory that changes while it is read gives each entry that stays exactly once.
func TestMem_ReaddirWhileChanging(t *testing.T) {
	f := newFixture(t)
	g := f.in("/tmp/d")
	expect(t, g, "mkdir @")
	for i := range 100 {
		g.do(fmt.Sprintf("put f%d x", i))
	}
	dir, errno := f.fs.OpenFile("/tmp/d", sys.O_DIRECTORY, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer func() { _ = dir.Close() }()
	seen := map[string]int{}
	for round := 0; ; round++ {
		entries, errno := dir.Readdir(3)
		if errno != 0 {
			t.Fatal(errno)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			seen[e.Name]++
			if round%2 == 0 { // remove what was given, and some of what was not
				g.do("unlink " + e.Name)
			}
		}
		if round < 20 {
			g.do(fmt.Sprintf("unlink f%d", 99-round))
		}
	}
	for i := range 80 {
		if n := seen[fmt.Sprint("f", i)]; n != 1 {
			t.Errorf("f%d was given %d times", i, n)
		}
	}
	if _, errno := dir.Seek(0, io.SeekStart); errno != 0 {
		t.Error(errno)
	}
	rest, errno := dir.Readdir(0)
	if len(rest) == 0 || errno != 0 {
		t.Errorf("after rewinding: %d entries, %v", len(rest), errno)
	}
	if _, errno := dir.Seek(1, io.SeekStart); errno != sys.EINVAL {
		t.Errorf("Seek(1) = %v, want EINVAL", errno)
	}
}

// One run's /tmp is gone with it and is not another's.
func TestMem_NothingStays(t *testing.T) {
	f := newFixture(t)
	other := f.session.NewFS(RunConfig{TmpBytes: 1 << 20, TmpFiles: 10})
	defer other.Close()
	expect(t, f.in("/tmp"), "put left x", "cat left = x")
	expect(t, &guest{t: t, fs: other, base: "/tmp"}, "cat left = ENOENT", "ls . = sandbox-work")
	f.fs.Close()
	expect(t, f.in("/tmp"), "cat left = EBADF", "put left x = EBADF")
	f.fs.Close()
}
