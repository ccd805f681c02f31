package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

// open opens a session whose interpreter is ready.
func open(tb testing.TB) *engine.Session {
	tb.Helper()
	if err := sandbar.Prepare(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	session, err := sandbar.Open(tb.Context(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := session.Close(); err != nil {
			tb.Error(err)
		}
	})
	return session
}

// BenchmarkFresh is the cases of the fresh section, for go test's own tools.
func BenchmarkFresh(b *testing.B) {
	ctx := context.Background()
	session := open(b)
	cases := []*competitor{
		{name: "wasm/open session", run: func() error { return execute(ctx, session) }},
		{name: "wasm/own session", run: func() error { return executeOnce(ctx) }},
	}
	s := settings{python: "python3"}
	if err := s.findPythons(ctx); err == nil {
		cases = append(cases, &competitor{name: "python3", run: command(ctx, "", s.python, "-I", "-c", "pass")})
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("wasm/parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := execute(ctx, session); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

// BenchmarkCPU is the scripts of the cpu section in the wasm tier. script-ms is what each measured itself.
func BenchmarkCPU(b *testing.B) {
	if testing.Short() {
		b.Skip("takes some seconds")
	}
	session := open(b)
	scripts, err := cpuScripts()
	if err != nil {
		b.Fatal(err)
	}
	for _, script := range scripts {
		b.Run(script.name, func(b *testing.B) {
			var total float64
			for b.Loop() {
				took, err := inTier(context.Background(), session, script.code)
				if err != nil {
					b.Fatal(err)
				}
				total += took.wall
			}
			b.ReportMetric(total*1e3/float64(b.N), "script-ms")
		})
	}
}

// BenchmarkPrepare is what the first run of a process waits for when everything is cached.
func BenchmarkPrepare(b *testing.B) {
	open(b) // fills the cache
	for b.Loop() {
		if err := prepareOnce(context.Background(), &wasm.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Each script of the cpu section computes the same natively: nothing in it depends on the tier.
func TestCPU_ScriptsRunNatively(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	scripts, err := cpuScripts()
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 10 {
		t.Errorf("%d scripts, want 10 at least", len(scripts))
	}
	for _, script := range scripts {
		if took, err := natively(t.Context(), python, script.code); err != nil || took.wall <= 0 || took.cpu <= took.wall {
			t.Errorf("%s: %v, %v", script.name, took, err)
		}
	}
}

// The memory section has as many instances as it says: what it shares out is not made up.
func TestTogether_RunsOverlap(t *testing.T) {
	session := open(t)
	called := false
	err := together(t.Context(), session, 3, func() error {
		called = true
		return nil
	})
	if err != nil || !called {
		t.Errorf("called %v, %v", called, err)
	}
	want := errors.New("stop")
	if err := together(t.Context(), session, 2, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestContest_FirstErrorEndsIt(t *testing.T) {
	want := errors.New("broken")
	n := 0
	c := contest{competitor: competitor{run: func() error {
		if n++; n > 2 {
			return fmt.Errorf("run %d: %w", n, want)
		}
		return nil
	}}, workers: 1}
	if err := c.measure(t.Context(), true); !errors.Is(err, want) || n != 3 || len(c.times) != 0 {
		t.Errorf("%v after %d runs, %d times", err, n, len(c.times))
	}
}
