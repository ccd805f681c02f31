package wasi

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFdstatGet(t *testing.T) {
	g := newGuest(t)
	g.host("f", "x")
	file := g.open("f", 0, rightsReadWrite, fdflagAppend)
	readOnly := g.open("f", 0, rightsRead, 0)
	writeOnly := g.open("f", 0, rightsWrite, 0)
	dir := g.open(".", oflagDirectory, 0, 0)
	const rw = rightFdRead | rightFdWrite
	for _, test := range []struct {
		name     string
		fd       uint64
		filetype filetype
		flags    uint16
		mask     rights // of the base rights
		want     rights
	}{
		{"stdin", 0, filetypeSocketStream, 0, rw | rightFdSeek | rightFdTell, rightFdRead},
		{"stdout", 1, filetypeSocketStream, 0, rw | rightFdSeek | rightFdTell, rightFdWrite},
		{"stderr", 2, filetypeSocketStream, 0, rw | rightFdSeek | rightFdTell, rightFdWrite},
		{"preopen", 3, filetypeDirectory, 0, rw | rightFdSeek | rightPathOpen, rightPathOpen},
		{"file", file, filetypeRegularFile, fdflagAppend, rw | rightFdSeek, rw | rightFdSeek},
		{"read only", readOnly, filetypeRegularFile, 0, rw, rightFdRead},
		{"write only", writeOnly, filetypeRegularFile, 0, rw, rightFdWrite},
		{"directory", dir, filetypeDirectory, 0, rw | rightFdSeek | rightFdReaddir, rightFdReaddir},
	} {
		t.Run(test.name, func(t *testing.T) {
			g.mem.WriteUint64Le(atBuf, math.MaxUint64)
			g.want(ok, "fd_fdstat_get", test.fd, atBuf)
			if got := g.bytes(atBuf, 2); got[0] != test.filetype || got[1] != 0 {
				t.Errorf("filetype = %v, want %d", got, test.filetype)
			}
			if got := g.u64(atBuf) >> 16; got != uint64(test.flags) {
				t.Errorf("flags and padding = %#x, want %#x", got, test.flags)
			}
			if got := g.u64(atBuf + 8); got&test.mask != test.want {
				t.Errorf("rights = %#x, of %#x want %#x", got, test.mask, test.want)
			}
			// wasi-libc asks path_open for no more than these.
			inheriting := g.u64(atBuf + 16)
			if test.filetype == filetypeDirectory && inheriting&rw != rw {
				t.Errorf("inheriting = %#x, want reading and writing", inheriting)
			}
		})
	}
	g.want(eBADF, "fd_fdstat_get", 99, atBuf)
}

// isatty in wasi-libc: a character device without the rights to seek and tell.
func TestFdstatGet_NoTerminals(t *testing.T) {
	device := &regular{mode: fs.ModeDevice | fs.ModeCharDevice}
	g := newGuest(t, func(c *Config) { c.FS = &oneFileFS{file: device} })
	for _, fd := range []uint64{0, 1, 2, g.open("dev/null", 0, rightsReadWrite, 0)} {
		g.want(ok, "fd_fdstat_get", fd, atBuf)
		isDevice := g.bytes(atBuf, 1)[0] == filetypeCharacterDevice
		if isDevice && g.u64(atBuf+8)&(rightFdSeek|rightFdTell) == 0 {
			t.Errorf("descriptor %d looks like a terminal", fd)
		}
	}
}

func TestFdstatSetFlags(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123")
	fd := g.open("f", 0, rightsReadWrite, 0)
	g.want(ok, "fd_fdstat_set_flags", fd, fdflagAppend|fdflagNonblock)
	g.want(ok, "fd_fdstat_get", fd, atBuf)
	if flags := g.bytes(atBuf+2, 1)[0]; flags != fdflagAppend|fdflagNonblock {
		t.Errorf("flags = %d", flags)
	}
	g.write(fd, "ab")
	if g.hostText("f") != "0123ab" {
		t.Errorf("appended: %q", g.hostText("f"))
	}
	g.want(ok, "fd_fdstat_set_flags", fd, 0)
	g.want(ok, "fd_seek", fd, 0, 0, atResult)
	g.write(fd, "xy")
	if g.hostText("f") != "xy23ab" {
		t.Errorf("no longer appending: %q", g.hostText("f"))
	}
	for _, flags := range []uint64{fdflagSync, fdflagDsync, fdflagRsync, 1 << 5, 1 << 16, math.MaxUint32} {
		g.want(eINVAL, "fd_fdstat_set_flags", fd, flags)
	}
	synced := g.open("f", 0, rightsReadWrite, fdflagSync)
	g.want(ok, "fd_fdstat_set_flags", synced, fdflagSync|fdflagAppend)
	g.want(eINVAL, "fd_fdstat_set_flags", synced, fdflagAppend)
	for _, fd := range []uint64{0, 1, preopenFd} {
		g.want(ok, "fd_fdstat_set_flags", fd, fdflagNonblock)
	}
	g.want(eBADF, "fd_fdstat_set_flags", 99, 0)
}

func TestFdstatSetRights(t *testing.T) {
	g := newGuest(t)
	g.want(eNOTSUP, "fd_fdstat_set_rights", 1, 0, 0)
	g.want(eBADF, "fd_fdstat_set_rights", 99, 0, 0)
}

func TestFdFilestatGet(t *testing.T) {
	g := newGuest(t)
	g.host("f", "12345")
	when := time.Unix(1_600_000_000, 123_456_789)
	if err := os.Chtimes(filepath.Join(g.dir, "f"), when, when.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	fd := g.open("f", 0, rightsRead, 0)
	g.want(ok, "fd_filestat_get", fd, atBuf)
	if g.u64(atBuf+8) == 0 {
		t.Error("no inode")
	}
	for at, want := range map[uint32]uint64{
		16: uint64(filetypeRegularFile), 24: 1, 32: 5,
		40: uint64(when.UnixNano()), 48: uint64(when.Add(time.Second).UnixNano()),
	} {
		if got := g.u64(atBuf + at); got != want {
			t.Errorf("field at %d = %d, want %d", at, got, want)
		}
	}
	g.want(ok, "fd_filestat_get", preopenFd, atBuf)
	if g.u64(atBuf+16) != uint64(filetypeDirectory) {
		t.Errorf("filetype of the preopen = %d", g.u64(atBuf+16))
	}
	for stream := range uint64(3) {
		g.want(ok, "fd_filestat_get", stream, atBuf)
		for at, want := range map[uint32]uint64{0: 0, 8: stream, 16: uint64(filetypeSocketStream), 24: 1, 32: 0, 40: 0, 48: 0, 56: 0} {
			if got := g.u64(atBuf + at); got != want {
				t.Errorf("stream %d: field at %d = %d, want %d", stream, at, got, want)
			}
		}
	}
	g.want(eBADF, "fd_filestat_get", 99, atBuf)
}

func TestFilestat_Before1970(t *testing.T) {
	g := newGuest(t)
	g.host("f", "")
	old := time.Unix(-1000, 0)
	if err := os.Chtimes(filepath.Join(g.dir, "f"), old, old); err != nil {
		t.Skip(err)
	}
	fd := g.open("f", 0, rightsRead, 0)
	g.want(ok, "fd_filestat_get", fd, atBuf)
	if got := g.u64(atBuf + 48); got != 0 {
		t.Errorf("mtim = %d, want 0", got)
	}
}

func TestFdFilestatSetSize(t *testing.T) {
	g := newGuest(t)
	g.host("f", "12345")
	fd := g.open("f", 0, rightsReadWrite, 0)
	g.want(ok, "fd_filestat_set_size", fd, 3)
	if g.hostText("f") != "123" {
		t.Errorf("cut: %q", g.hostText("f"))
	}
	g.want(ok, "fd_filestat_set_size", fd, 5)
	if g.hostText("f") != "123\x00\x00" {
		t.Errorf("grown: %q", g.hostText("f"))
	}
	readOnly := g.open("f", 0, rightsRead, 0)
	for _, test := range []struct{ fd, size, want uint64 }{
		{readOnly, 0, eINVAL},
		{1, 0, eINVAL},
		{preopenFd, 0, eINVAL},
		{99, 0, eBADF},
		{fd, math.MaxUint64, eFBIG},
		{fd, math.MaxInt64, eFBIG},
	} {
		g.want(test.want, "fd_filestat_set_size", test.fd, test.size)
	}
	if len(g.hostText("f")) != 5 {
		t.Error("a refused call changed the file")
	}
}

func TestFdFilestatSetSize_NeverAskedOfTheFile(t *testing.T) {
	file := &regular{}
	g := newGuest(t, func(c *Config) { c.FS = &oneFileFS{file: file} })
	g.want(eINVAL, "fd_filestat_set_size", g.open("f", 0, rightsRead, 0), 0)
	g.want(eBADF, "fd_allocate", g.open("f", 0, rightsRead, 0), 0, 1)
	w := g.open("f", 0, rightsWrite, 0)
	g.want(eFBIG, "fd_filestat_set_size", w, maxOffset+1)
	g.want(eFBIG, "fd_allocate", w, maxOffset, 1)
	if len(file.truncate) != 0 {
		t.Errorf("Truncate(%v)", file.truncate)
	}
	g.want(ok, "fd_filestat_set_size", w, maxOffset)
}

func TestFdAllocate(t *testing.T) {
	g := newGuest(t)
	g.host("f", "12345")
	fd := g.open("f", 0, rightsReadWrite, 0)
	readOnly := g.open("f", 0, rightsRead, 0)
	for _, test := range []struct{ fd, offset, n, want, size uint64 }{
		{fd, 0, 5, ok, 5},
		{fd, 1, 2, ok, 5},
		{fd, 4, 6, ok, 10},
		{fd, 0, 0, eINVAL, 10},
		{fd, math.MaxUint64, 2, eINVAL, 10},
		{fd, 2, math.MaxUint64, eINVAL, 10},
		{fd, math.MaxInt64, math.MaxInt64, eFBIG, 10},
		{fd, maxOffset, 1, eFBIG, 10},
		{readOnly, 0, 100, eBADF, 10},
		{0, 0, 1, eBADF, 10},
		{1, 0, 1, eSPIPE, 10},
		{preopenFd, 0, 1, eISDIR, 10},
		{99, 0, 1, eBADF, 10},
	} {
		g.want(test.want, "fd_allocate", test.fd, test.offset, test.n)
		if got := len(g.hostText("f")); got != int(test.size) {
			t.Errorf("after fd_allocate(%d, %d, %d): size %d, want %d", test.fd, test.offset, test.n, got, test.size)
		}
	}
}

func TestFdAdvise(t *testing.T) {
	g := newGuest(t)
	fd := g.open("f", oflagCreat, rightsReadWrite, 0)
	for advice := range uint64(6) {
		g.want(ok, "fd_advise", fd, 0, 10, advice)
	}
	for _, test := range []struct{ fd, offset, n, advice, want uint64 }{
		{fd, 0, 10, 6, eINVAL},
		{fd, 0, 10, math.MaxUint32, eINVAL},
		{fd, math.MaxUint64, 10, 0, eINVAL},
		{fd, 0, math.MaxUint64, 0, eINVAL},
		{1, 0, 10, 0, eSPIPE},
		{preopenFd, 0, 10, 0, eBADF},
		{99, 0, 10, 0, eBADF},
	} {
		g.want(test.want, "fd_advise", test.fd, test.offset, test.n, test.advice)
	}
}

func TestFdSync(t *testing.T) {
	g := newGuest(t)
	fd := g.open("f", oflagCreat, rightsReadWrite, 0)
	for _, name := range []string{"fd_sync", "fd_datasync"} {
		g.want(ok, name, fd)
		g.want(ok, name, preopenFd)
		g.want(eINVAL, name, 1)
		g.want(eBADF, name, 99)
	}
}

// setTimes are the cases that fd_ and path_filestat_set_times share.
var setTimes = []struct {
	name        string
	atim, mtim  uint64
	flags, want uint64
	wantAtim    int64 // -1: now; 0: unchanged
	wantMtim    int64
}{
	{"nothing", 1, 1, 0, ok, 0, 0},
	{"atim", 5e9, 1, fstflagAtim, ok, 5e9, 0},
	{"mtim", 1, 6e9 + 7, fstflagMtim, ok, 0, 6e9 + 7},
	{"both", 5e9, 6e9, fstflagAtim | fstflagMtim, ok, 5e9, 6e9},
	{"now", 1, 1, fstflagAtimNow | fstflagMtimNow, ok, -1, -1},
	{"mixed", 5e9, 1, fstflagAtim | fstflagMtimNow, ok, 5e9, -1},
	{"atim twice", 1, 1, fstflagAtim | fstflagAtimNow, eINVAL, 0, 0},
	{"mtim twice", 1, 1, fstflagMtim | fstflagMtimNow, eINVAL, 0, 0},
	{"unknown flag", 1, 1, 1 << 4, eINVAL, 0, 0},
	{"too late", math.MaxUint64, 1, fstflagAtim, eINVAL, 0, 0},
	{"what would be UTIME_OMIT", 1, 1 << 63, fstflagMtim, eINVAL, 0, 0},
}

func TestFilestatSetTimes(t *testing.T) {
	for _, test := range setTimes {
		for _, way := range []string{"fd", "path", "path nofollow"} {
			t.Run(test.name+" "+way, func(t *testing.T) {
				g := newGuest(t)
				g.host("f", "")
				old := time.Unix(1_000_000, 0)
				if err := os.Chtimes(filepath.Join(g.dir, "f"), old, old); err != nil {
					t.Fatal(err)
				}
				before := time.Now().Add(-time.Second).UnixNano()
				ptr, size := g.path("f")
				switch way {
				case "fd":
					fd := g.open("f", 0, rightsReadWrite, 0)
					g.want(test.want, "fd_filestat_set_times", fd, test.atim, test.mtim, test.flags)
				case "path":
					g.want(test.want, "path_filestat_set_times", preopenFd, lookupSymlinkFollow, ptr, size, test.atim, test.mtim, test.flags)
				default:
					g.want(test.want, "path_filestat_set_times", preopenFd, 0, ptr, size, test.atim, test.mtim, test.flags)
				}
				g.path("f")
				g.want(ok, "path_filestat_get", preopenFd, 0, ptr, size, atBuf)
				for at, want := range map[uint32]int64{40: test.wantAtim, 48: test.wantMtim} {
					got := int64(g.u64(atBuf + at))
					switch want {
					case 0:
						want = old.UnixNano()
					case -1:
						if got >= before {
							want = got
						}
					}
					if got != want {
						t.Errorf("time at %d = %d, want %d", at, got, want)
					}
				}
			})
		}
	}
	g := newGuest(t)
	g.want(eINVAL, "fd_filestat_set_times", 1, 0, 0, 0)
	g.want(ok, "fd_filestat_set_times", preopenFd, 0, 0, fstflagAtimNow)
	g.want(eBADF, "fd_filestat_set_times", 99, 0, 0, 0)
}

func TestFiletypeOf(t *testing.T) {
	for mode, want := range map[fs.FileMode]filetype{
		0o644:                             filetypeRegularFile,
		fs.ModeDir | 0o755:                filetypeDirectory,
		fs.ModeSymlink:                    filetypeSymbolicLink,
		fs.ModeDevice | fs.ModeCharDevice: filetypeCharacterDevice,
		fs.ModeDevice:                     filetypeBlockDevice,
		fs.ModeSocket:                     filetypeSocketStream,
		fs.ModeNamedPipe:                  filetypeSocketStream,
		fs.ModeIrregular:                  filetypeUnknown,
	} {
		if got := filetypeOf(mode); got != want {
			t.Errorf("filetypeOf(%v) = %d, want %d", mode, got, want)
		}
	}
}
