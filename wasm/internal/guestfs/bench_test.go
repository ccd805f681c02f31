package guestfs

import (
	"os"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

func BenchmarkNewFS(b *testing.B) {
	f := newFixture(b)
	b.ReportAllocs()
	for b.Loop() {
		f.session.NewFS(RunConfig{TmpBytes: 1 << 20, TmpFiles: 100}).Close()
	}
}

func BenchmarkOpenReadClose(b *testing.B) {
	f := newFixture(b)
	content := make([]byte, 1000)
	must(b, os.WriteFile(f.work+"/f", content, 0o644))
	must(b, os.MkdirAll(f.work+"/a/b/c", 0o755))
	must(b, os.WriteFile(f.work+"/a/b/c/f", content, 0o644))
	must(b, os.Symlink(WorkPath+"/f", f.work+"/abs"))
	f.in("/tmp").do("put f x")
	for _, bc := range []struct{ name, path string }{
		{"work", WorkPath + "/f"}, {"work-deep", WorkPath + "/a/b/c/f"}, {"work-absolute-link", WorkPath + "/abs"}, {"tmp", "/tmp/f"}, {"tree", "/usr/lib/python3.13/os.py"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				file, errno := f.fs.OpenFile(bc.path, sys.O_RDONLY, 0)
				if errno != 0 {
					b.Fatal(errno)
				}
				if _, errno := file.Read(content); errno != 0 {
					b.Fatal(errno)
				}
				_ = file.Close()
			}
		})
	}
	b.Run("plain-os-root", func(b *testing.B) { // what the host itself costs
		root, err := os.OpenRoot(f.work)
		must(b, err)
		defer root.Close()
		b.ReportAllocs()
		for b.Loop() {
			file, err := root.Open("f")
			must(b, err)
			_, err = file.Read(content)
			must(b, err)
			file.Close()
		}
	})
}

func BenchmarkStat(b *testing.B) {
	f := newFixture(b)
	must(b, os.WriteFile(f.work+"/f", nil, 0o644))
	f.in("/tmp").do("put f x")
	for _, bc := range []struct {
		name, path string
		want       sys.Errno
	}{
		{"tree", "/usr/lib/python3.13/json/decoder.py", 0}, {"tree-missing", "/usr/lib/python3.13/json/nope.py", sys.ENOENT}, {"work", WorkPath + "/f", 0}, {"work-missing", WorkPath + "/nope", sys.ENOENT}, {"tmp", "/tmp/f", 0},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, errno := f.fs.Stat(bc.path); errno != bc.want {
					b.Fatal(errno)
				}
			}
		})
	}
}

func BenchmarkTmpWrite1MiB(b *testing.B) {
	f := newFixture(b, withTmp(2<<20, 10))
	buf := make([]byte, 1<<20)
	file, errno := f.fs.OpenFile("/tmp/f", sys.O_RDWR|sys.O_CREAT, 0o600)
	if errno != 0 {
		b.Fatal(errno)
	}
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if n, errno := file.Pwrite(buf, 0); n != len(buf) || errno != 0 {
			b.Fatal(n, errno)
		}
		_ = file.Truncate(0)
	}
}
