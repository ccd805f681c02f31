package enginetest

import (
	"slices"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// The scripts of figureTests.
const (
	burnTime = 300 * time.Millisecond // processor time of burn
	heldSize = 60_000_000             // bytes of hold
	napTime  = 500 * time.Millisecond // of nap
)

// figureTests say that the figures of Result mean the same in every tier. Their bounds are wide: below is what a
// script surely took, above is what an interpreter on a busy machine may add.
var figureTests = []test{
	{"processor time", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		r := s.figures(t, session, s.scripts.burn)
		wantSpent(t, session, &r, burnTime, 10*burnTime)
		if r.WallTime < burnTime {
			t.Errorf("wall time %v of a script that computes for %v", r.WallTime, burnTime)
		}
		r = s.figures(t, session, s.scripts.hello) // it begins from zero
		wantSpent(t, session, &r, 0, burnTime)
	}},
	{"time of a script that waits", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		r := s.figures(t, session, s.scripts.nap)
		if r.WallTime < napTime || r.WallTime > patience {
			t.Errorf("wall time %v of a script that sleeps for %v", r.WallTime, napTime)
		}
		wantSpent(t, session, &r, 0, napTime)
	}},
	{"memory at its peak", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Limits: engine.Limits{Memory: 400 << 20}, BestEffort: true})
		r := s.figures(t, session, s.scripts.hold)
		wantHeld(t, session, &r, heldSize, 3*heldSize)
		r = s.figures(t, session, s.scripts.hello) // what an earlier run held is not in it
		wantHeld(t, session, &r, 1<<16, heldSize)
	}},
	{"what a script starts counts", func(t *testing.T, s *suite) {
		if !s.caps.Native || !s.caps.CPU {
			t.Skip("it starts nothing, or nobody counts")
		}
		session := s.open(t, nil)
		r := s.figures(t, session, s.native.unwaited)
		wantSpent(t, session, &r, burnTime, 10*burnTime)
	}},
	{"of a run that is ended", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		r := s.exec(t, session, s.scripts.busy, &engine.RunOptions{Timeout: soon}).Result
		wantEnd(t, r, engine.ReasonTimeout, 124)
		wantSpent(t, session, &r, time.Millisecond, patience)
		wantHeld(t, session, &r, 1<<16, 400<<20)
	}},
	{"output", func(t *testing.T, s *suite) { // what is dropped counts
		session := s.open(t, &engine.Options{MaxOutput: 1})
		r := s.figures(t, session, s.scripts.hello)
		if r.StdoutBytes != 6 || r.StderrBytes != 0 {
			t.Errorf("%d and %d bytes of 6 and 0", r.StdoutBytes, r.StderrBytes)
		}
	}},
}

// figures runs a script that exits with 0, and returns what it took.
func (s *suite) figures(t *testing.T, session *engine.Session, script string) engine.Result {
	t.Helper()
	out := s.exec(t, session, script, nil)
	wantEnd(t, out.Result, engine.ReasonExited, 0)
	if t.Failed() {
		t.Fatalf("%.100q: %s", script, out.Stderr)
	}
	return out.Result
}

func wantSpent(t *testing.T, session *engine.Session, r *engine.Result, least, most time.Duration) {
	t.Helper()
	if measured(t, session, r, "CPUTime", int64(r.CPUTime)) && (r.CPUTime < least || r.CPUTime > most) {
		t.Errorf("processor time %v, want %v to %v", r.CPUTime, least, most)
	}
}

func wantHeld(t *testing.T, session *engine.Session, r *engine.Result, least, most int64) {
	t.Helper()
	if measured(t, session, r, "PeakMemory", r.PeakMemory) && (r.PeakMemory < least || r.PeakMemory > most) {
		t.Errorf("peak memory %d, want %d to %d", r.PeakMemory, least, most)
	}
}

// measured reports whether a figure is known. One that is not must be among those that Info names.
func measured(t *testing.T, session *engine.Session, r *engine.Result, name string, value int64) bool {
	t.Helper()
	if value != engine.Unknown {
		return true
	}
	for _, tier := range session.Info().Tiers {
		if tier.Tier == r.Tier && slices.Contains(tier.Unmeasured, name) {
			return false
		}
	}
	t.Errorf("%s is unknown, and Info does not say that it is not measured", name)
	return false
}
