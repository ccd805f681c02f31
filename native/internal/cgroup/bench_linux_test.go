package cgroup

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

func BenchmarkGroup(b *testing.B) {
	p := find(b)
	limits := Limits{Memory: 512 << 20, Processes: 100}
	b.Run("NewClose", func(b *testing.B) {
		i := 0
		for b.Loop() {
			g, err := p.New(fmt.Sprintf("bench-%d", i), limits)
			if err != nil {
				b.Fatal(err)
			}
			if err := g.Close(); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("ResetUsage", func(b *testing.B) {
		g := newGroup(b, p, "bench", limits)
		b.ReportAllocs()
		for b.Loop() {
			if err := g.Reset(); err != nil {
				b.Fatal(err)
			}
			if _, err := g.Usage(); err != nil {
				b.Fatal(err)
			}
		}
	})
	// Moves one process to and fro, so that each time something is to be done. Idle has no other move just before.
	for name, pause := range map[string]time.Duration{"Add": 0, "AddIdle": 50 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			groups := [2]*Group{newGroup(b, p, "bench-1", limits), newGroup(b, p, "bench-2", limits)}
			sleep := exec.Command("sleep", "1000")
			if err := sleep.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() {
				_ = sleep.Process.Kill()
				_ = sleep.Wait()
			}()
			i := 0
			for b.Loop() {
				if pause > 0 {
					b.StopTimer()
					time.Sleep(pause)
					b.StartTimer()
				}
				if err := groups[i%2].Add(sleep.Process.Pid); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
