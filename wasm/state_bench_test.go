package wasm

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// big is a session whose live interpreter holds 50 MB, and a copy of it.
func big(tb testing.TB, d *Driver) (engine.DriverSession, engine.State) {
	tb.Helper()
	s := openSession(tb, d)
	cell(tb, s, "import os\ndata = [os.urandom(1 << 10) for _ in range(50_000)]")
	return s, snapshotState(tb, s)
}

// baseOf is what a state's interpreters start from.
func baseOf(s engine.State) *base { return s.(*state).base }

// A branch of a live interpreter that holds 50 MB, beside a fresh interpreter and a copy of 50 MB.
func BenchmarkBranch(b *testing.B) {
	d := newDriver(b, &Options{Idle: -1})
	s, snap := big(b, d)
	p := d.interpreter
	b.Run("take a snapshot", func(b *testing.B) {
		for b.Loop() {
			state, err := s.(engine.LiveSession).Snapshot(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			_ = state.Close()
		}
	})
	b.Run("copy 50 MB", func(b *testing.B) {
		from, to := make([]byte, 50_000_000), make([]byte, 50_000_000)
		for b.Loop() {
			copy(to, from)
		}
	})
	for _, bm := range []struct {
		name string
		base *base
	}{{"heap of a fresh interpreter", p.pool.base}, {"heap of a branch", baseOf(snap)}} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				in, err := p.fresh(b.Context(), bm.base)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				in.close(b.Context())
				b.StartTimer()
			}
		})
	}
	b.Run("branch and first run", func(b *testing.B) {
		for b.Loop() {
			branch := openFrom(b, d, snap)
			if _, value := cell(b, branch, "len(data)"); value != "50000" {
				b.Fatal(value)
			}
		}
	})
}
