package wasi

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// interesting are values that arguments are drawn from, beside any value.
var interesting = []uint64{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 24, 48, 64, 255,
	atResult, atIovecs, atPath, atPath2, atBuf, atSubs, atEvents,
	memorySize - 64, memorySize - 8, memorySize - 1, memorySize, memorySize + 1,
	1 << 31, 1<<32 - 8, 1<<32 - 1, 1 << 32, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1,
}

// calls reads a program: a byte for the function, and for each argument a byte that picks an interesting
// value, or 0xff and eight bytes of any value.
func nextCall(data []byte) (f function, args []uint64, rest []byte) {
	f, data = functions[int(data[0])%len(functions)], data[1:]
	for range f.params {
		switch {
		case len(data) == 0:
			args = append(args, 0)
		case data[0] == 0xff && len(data) >= 9:
			args = append(args, binary.LittleEndian.Uint64(data[1:]))
			data = data[9:]
		default:
			args = append(args, interesting[int(data[0])%len(interesting)])
			data = data[1:]
		}
	}
	return f, args, data
}

// fuzzGuest has the real file system under it, with a little of everything, and memory in which the
// interesting addresses hold paths, buffers and subscriptions.
func fuzzGuest(t *testing.T, memory []byte) *guest {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	session, err := guestfs.NewSession(guestfs.SessionConfig{Work: root})
	if err != nil {
		t.Fatal(err)
	}
	fs := session.NewFS(guestfs.RunConfig{TmpBytes: 1 << 20, TmpFiles: 100})
	g := newGuest(t, func(c *Config) {
		c.FS, c.MaxFiles = fs, 32
		c.Args, c.Environ = []string{"a", "b"}, []string{"K=v"}
	})
	t.Cleanup(func() {
		g.env.Close()
		fs.Close()
		if n := session.HostFiles(); n != 0 {
			t.Errorf("%d host descriptors left", n)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	work := guestfs.WorkPath[1:]
	g.open(work+"/file", oflagCreat, rightsReadWrite, 0)
	g.open(work, oflagDirectory, 0, 0)
	g.open("tmp", oflagDirectory, 0, 0)
	g.iovecs(atBuf, 64, 0, 16, memorySize-4, 8)
	g.put(atPath, []byte("file\x00../x/tmp/a/dev/null"))
	g.put(atPath2, []byte("new/../new2/."))
	g.subscribe(clockSub(1, clockMonotonic, 1000, 0), fdSub(2, eventFdRead, 0), fdSub(3, eventFdWrite, 1))
	g.put(2048, memory[:min(len(memory), 1024)])
	return g
}

// No call that a guest can make panics, hangs, or writes past the guest's memory; wazero's own checks
// would show the last as a panic.
func FuzzHostCalls(f *testing.F) {
	for i, fn := range functions {
		f.Add(append([]byte{byte(i)}, make([]byte, len(fn.params))...), []byte{})
		// Arguments that are likely: descriptors 3 to 5 and the addresses in turn.
		seed := []byte{byte(i)}
		for j := range fn.params {
			seed = append(seed, byte([]int{5, 17, 4, 17, 16, 4, 18, 4, 15}[j%9]))
		}
		f.Add(slices.Concat(seed, seed, seed), []byte("memory"))
	}
	f.Fuzz(func(t *testing.T, program, memory []byte) {
		g := fuzzGuest(t, memory)
		g.signals.kill = true
		stop := time.AfterFunc(50*time.Millisecond, func() { close(g.signals.signal) })
		defer stop.Stop()
		for n := 0; len(program) > 0 && n < 64; n++ {
			var fn function
			var args []uint64
			fn, args, program = nextCall(program)
			for i, c := range fn.params {
				if c == 'i' {
					args[i] = uint64(uint32(args[i]))
				}
			}
			number, err := g.try(fn.name, args...)
			var exit exitCode
			switch {
			case errors.As(err, &exit), errors.Is(err, errKilled):
				return
			case err != nil:
				t.Fatalf("%s%v: %v", fn.name, args, err)
			case number > 76:
				t.Fatalf("%s%v = %d, which is no error number", fn.name, args, number)
			}
		}
	})
}
