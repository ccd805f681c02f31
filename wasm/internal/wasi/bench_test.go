package wasi

import (
	"io"
	"testing"
)

// benchmark measures a host function by way of the guest: the call into wasm and out again is in it.
func benchmark(b *testing.B, name string, args func(g *guest) []uint64) {
	g := newGuest(b, func(c *Config) { c.Stdout = io.Discard })
	a := args(g)
	f := g.mod.ExportedFunction(name)
	stack := make([]uint64, max(len(a), 1))
	b.ReportAllocs()
	for b.Loop() {
		copy(stack, a)
		if err := f.CallWithStack(g.ctx, stack); err != nil || stack[0] != ok {
			b.Fatal(err, stack[0])
		}
	}
}

func BenchmarkClockTimeGet(b *testing.B) {
	for name, id := range map[string]uint64{"realtime": clockRealtime, "monotonic": clockMonotonic} {
		b.Run(name, func(b *testing.B) { benchmark(b, "clock_time_get", fixed(id, 0, atResult)) })
	}
}

func BenchmarkRandomGet16(b *testing.B) { benchmark(b, "random_get", fixed(atBuf, 16)) }

func BenchmarkFdWrite64(b *testing.B) {
	benchmark(b, "fd_write", func(g *guest) []uint64 {
		ptr, n := g.iovecs(atBuf, 64)
		return []uint64{1, ptr, n, atResult}
	})
}

func BenchmarkFdFdstatGet(b *testing.B) { benchmark(b, "fd_fdstat_get", fixed(preopenFd, atBuf)) }

// BenchmarkSchedYield is the cost of the way in and out, with nearly nothing between.
func BenchmarkSchedYield(b *testing.B) { benchmark(b, "sched_yield", fixed()) }

func BenchmarkPollOneoff0(b *testing.B) {
	benchmark(b, "poll_oneoff", func(g *guest) []uint64 { return g.subscribe(clockSub(1, clockMonotonic, 0, 0)) })
}

func BenchmarkNewClose(b *testing.B) {
	cfg := newGuest(b).config()
	b.ReportAllocs()
	for b.Loop() {
		New(cfg).Close()
	}
}

func (g *guest) config() Config {
	return Config{Stdin: g.stdin, Stdout: g.stdout, Stderr: g.stderr, FS: g.env.fs, Signals: g.signals}
}
