package guestfs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words are what a step is made of: few enough names that calls meet.
var words = map[string][]string{
	"path": {
		"a", "b", "c", "a/b", "a/c", "b/a", "b/c", "a/b/c", "b/a/c", "a/", "b/", "a/b/", "a/.", "a/..", ".", "a/../b", "b/../a/c", "./c", "@/a", "@/b/c",
	},
	"target": {"a", "b", "c", "../a", "../b/c", "a/b", "@/a", "@/b/a", "@/c", ".", "..", "none", "@/none/x"},
	"file":   {"h", "k"},
	"flags": {
		"r", "rw", "w", "rw,creat", "w,creat,excl", "rw,creat,trunc", "r,trunc", "w,append", "rw,creat,append", "r,dir", "r,nofollow", "rw,creat,nofollow", "r,dir,nofollow",
	},
	"perm":   {"600", "644", "700", "755"},
	"data":   {"x", "yy", "0123456789"},
	"off":    {"0", "1", "3", "7", "4090", "4095", "4096", "4097", "9000"},
	"whence": {"set", "end"},
	"onoff":  {"on", "off"},
	"step": {
		"mkdir path perm", "mkdir path perm", "rmdir path", "unlink path", "symlink target path", "symlink target path", "link path path", "rename path path", "rename path path", "chmod path perm",
		"utimens path 1000000000 omit", "lutimens path 1000000000 omit", "stat path", "lstat path", "readlink path", "put path data", "put path data", "cat path", "ls path",
		"open file path flags perm", "open file path flags perm", "read file off", "pread file off off", "write file data", "pwrite file data off", "seek file off whence",
		"ftruncate file off", "fstat file", "setappend file onoff", "close file",
	},
}

// genStep makes one step; pick chooses below n.
func genStep(pick func(n int) int) string {
	choose := func(from []string) string { return from[pick(len(from))] }
	step := strings.Fields(choose(words["step"]))
	for i, w := range step[1:] {
		if from, ok := words[w]; ok {
			step[i+1] = choose(from)
		}
	}
	return strings.Join(step, " ")
}

// rapidPick lets rapid choose, which finds the shortest failing sequence; randomly chosen ones get further.
func rapidPick(t *rapid.T) func(int) int {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
}

// likeTheKernel runs steps in the work directory, in /tmp and in the kernel, and wants one answer.
func likeTheKernel(t *testing.T, steps int, pick func(int) int, report interface {
	Logf(string, ...any)
	Fatalf(string, ...any)
},
) {
	f := newFixture(t, withQuota(&tally{maxBytes: 1 << 30, maxFiles: 1 << 20}))
	f.withRootsRights() // /tmp does not check permissions either
	work, memory, kernel := f.in(WorkPath), f.in("/tmp"), newKernel(t)
	// Far enough down that ".." and links to it do not lead to where the three differ.
	for range 16 {
		work.base, memory.base, kernel.base = work.base+"/n", memory.base+"/n", kernel.base+"/n"
		for _, to := range []target{work, memory, kernel} {
			expect(t, to, "mkdir @ 777")
		}
	}
	for range steps {
		step := genStep(pick)
		if kernel.onDir(step) {
			continue // sys.File has its own rules for these
		}
		want := kernel.do(step)
		for where, to := range map[string]target{"work": work, "memory": memory} {
			got := to.do(step)
			if two := strings.Fields(step)[0]; (two == "link" || two == "rename") && got != "ok" && want != "ok" {
				continue // with two names at fault, either error will do
			}
			if got != want {
				report.Fatalf("%s in %s: got %q, the kernel says %q", step, where, got, want)
			}
		}
		report.Logf("%s = %s", step, want)
	}
	f.fs.Close()
}

func TestFS_LikeTheKernel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		likeTheKernel(t, rapid.IntRange(5, 50).Draw(rt, "steps"), rapidPick(rt), rt)
	})
}

func TestFS_LikeTheKernelAtRandom(t *testing.T) {
	for range 60 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			likeTheKernel(t, 200, rand.New(rand.NewPCG(seed, 0)).IntN, t)
		})
	}
}

// TestMem_Accounting runs random calls in /tmp and recounts what is held.
func TestMem_Accounting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t, withTmp(10*chunkSize, 8))
		g := f.in("/tmp")
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			g.do(genStep(rapidPick(rt)))
			m := &f.fs.tmp
			bytes, files := recount(m, g)
			if m.bytes != bytes || m.files != files {
				rt.Fatalf("counted %d bytes in %d files, there are %d in %d", m.bytes, m.files, bytes, files)
			}
			if bytes > m.maxBytes || files > m.maxFiles {
				rt.Fatalf("%d bytes in %d files pass the limit", bytes, files)
			}
		}
		f.fs.Close()
	})
}

// recount adds up what is reachable by names and by open files.
func recount(m *memFS, g *guest) (bytes, files int64) {
	seen := map[*memNode]bool{}
	var visit func(n *memNode)
	count := func(n *memNode) {
		if !seen[n] {
			seen[n] = true
			bytes += int64(len(n.target)) + int64(len(n.data.chunks))*chunkSize
			visit(n)
		}
	}
	visit = func(n *memNode) {
		if n.dir == nil {
			return
		}
		for _, e := range n.dir.names {
			files++
			count(e.node)
		}
	}
	count(m.top())
	for _, f := range g.files {
		if mf, ok := f.(*memFile); ok {
			count(mf.n)
		}
	}
	return bytes, files - 1 // the mount point is not the guest's
}
