package cgroup

import (
	"fmt"
	"testing"
	"time"
)

func usage(t *testing.T, g *Group) Usage {
	t.Helper()
	u, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestGroup_CPU(t *testing.T) {
	eachVersion(t, func(t *testing.T, p *Parent) {
		g := newGroup(t, p, "cpu", Limits{})
		for range 2 { // the second run must not have the figures of the first
			if err := g.Reset(); err != nil {
				t.Fatal(err)
			}
			c := startIn(t, g, "spin 300")
			var own time.Duration
			c.mustBegin(&own)
			c.end()
			if u := usage(t, g); u.CPU < own*8/10 || u.CPU > own*12/10+50*time.Millisecond {
				t.Errorf("CPU time %v, the process itself counted %v", u.CPU, own)
			}
		}
	})
}

func TestGroup_PeakMemory(t *testing.T) {
	p := find(t)
	clean(t, p)
	g := newGroup(t, p, "peak", Limits{Memory: 500 << 20})
	for _, mib := range []int64{30, 90, 10} {
		if err := g.Reset(); err != nil {
			t.Fatal(err)
		}
		c := startIn(t, g, fmt.Sprintf("allocate %d", mib))
		var n int64
		c.mustBegin(&n)
		c.end()
		if n != mib<<20 {
			t.Fatalf("the process allocated %d", n)
		}
		got := usage(t, g).PeakMemory
		if !g.figures.resets && mib == 10 { // version 2 before Linux 6.12
			if got != Unknown {
				t.Errorf("peak %d, want Unknown: it cannot be reset here, and the run before had more", got)
			}
			continue
		}
		if got < n || got > n+20<<20 {
			t.Errorf("peak %d, the process allocated %d", got, n)
		}
	}
}

// The figures of a version whose mark cannot be reset, and of a host that misses some.
func TestFigures_Since(t *testing.T) {
	v1, v2 := versions[1], versions[2]
	for name, c := range map[string]struct {
		f    *figures
		now  reading
		want Usage
	}{
		"version 1": {
			&figures{files: v1, resets: true, base: reading{cpu: 5, peak: Unknown, kills: 2}},
			reading{cpu: 9, peak: 100, kills: 3},
			Usage{CPU: 4, PeakMemory: 100, OOMKills: 1},
		},
		"version 2": {
			&figures{files: v2, resets: true, base: reading{cpu: 5, peak: Unknown, kills: 2}},
			reading{cpu: 9, peak: 100, kills: 2},
			Usage{CPU: 4 * time.Microsecond, PeakMemory: 100},
		},
		"first run, no reset": {
			&figures{files: v2, base: reading{peak: Unknown}},
			reading{peak: 100},
			Usage{PeakMemory: 100},
		},
		"no reset, more than before": {
			&figures{files: v2, base: reading{peak: 100}},
			reading{peak: 101},
			Usage{PeakMemory: 101},
		},
		"no reset, not more than before": {
			&figures{files: v2, base: reading{peak: 100}},
			reading{peak: 100},
			Usage{PeakMemory: Unknown},
		},
		"nothing known": {
			&figures{files: v2, base: reading{cpu: Unknown, peak: Unknown, kills: Unknown}},
			reading{cpu: Unknown, peak: Unknown, kills: Unknown},
			Usage{CPU: Unknown, PeakMemory: Unknown, OOMKills: Unknown},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.f.since(c.now); got != c.want {
				t.Errorf("since = %+v, want %+v", got, c.want)
			}
		})
	}
}

// What a parent says of the peak is what its groups have.
func TestParent_MeasuresMemory(t *testing.T) {
	p := find(t)
	g := newGroup(t, p, "peak", Limits{})
	if p.MeasuresMemory() != g.figures.resets {
		t.Errorf("MeasuresMemory = %v, of a group %v", p.MeasuresMemory(), g.figures.resets)
	}
	for _, path := range []string{"/proc/self/no-such-file", "/proc/version"} { // missing, and not to be written
		if resetsPeak(path) {
			t.Errorf("resetsPeak(%s)", path)
		}
	}
	p.peaks = false
	if p.MeasuresMemory() {
		t.Error("MeasuresMemory without a reset")
	}
}

func TestGroup_FiguresAllocateNothing(t *testing.T) {
	p := find(t)
	g := newGroup(t, p, "allocations", Limits{Memory: 1 << 30, Processes: 100})
	if n := testing.AllocsPerRun(100, func() {
		if err := g.Reset(); err != nil {
			t.Error(err)
		}
		if _, err := g.Usage(); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in Reset and Usage", n)
	}
}
