package engine

import (
	"maps"
	"sync"
	"time"
)

// Usage is what the runs of a session took together. A run counts when it has been started; its figures are
// added when it ends, before its Process is done.
type Usage struct {
	// Runs have ended: as many as all of ByTier, and as all of ByReason. Running are under way.
	Runs, Running int
	// ByTier and ByReason count the runs that have ended. What there was none of is not in them.
	ByTier   map[Tier]int
	ByReason map[Reason]int

	// WallTime and CPUTime are sums of the figures of Result. Runs that overlap count each.
	WallTime, CPUTime time.Duration
	// PeakMemory is the highest of all runs, in bytes. It is no sum: runs that overlap hold more together.
	PeakMemory int64
	// StdoutBytes and StderrBytes are sums.
	StdoutBytes, StderrBytes int64
	// Unmeasured counts, by the name of the field of Result, the runs whose figure was Unknown. It holds WallTime,
	// CPUTime and PeakMemory, each only where there was such a run: then the figure here is of the other runs, and
	// the truth is as much or more. It is Unknown itself where there was no other run.
	Unmeasured map[string]int
}

// Complete reports whether no figure of a run that has ended is missing.
func (u *Usage) Complete() bool { return len(u.Unmeasured) == 0 }

// Usage sums up the runs so far. It may be called at any time, also after Close. To bill what happened between
// two calls, subtract; what is under way is in a later one. Of a session of a server it is what this Session has run.
func (s *Session) Usage() Usage { return s.usage.total() }

// usage counts the runs of a session.
type usage struct {
	mu  sync.Mutex
	sum Usage // its figures are sums of what is known, even where nothing is
}

// begin counts a run that has been started. It returns what counts its end, which is to be called once.
func (u *usage) begin() (end func(*Result)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sum.Running++
	return u.end
}

func (u *usage) end(r *Result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := &u.sum
	if t.ByTier == nil {
		t.ByTier, t.ByReason, t.Unmeasured = map[Tier]int{}, map[Reason]int{}, map[string]int{}
	}
	t.Running--
	t.Runs++
	t.ByTier[r.Tier]++
	t.ByReason[r.Reason]++
	t.WallTime += known(t, "WallTime", r.WallTime)
	t.CPUTime += known(t, "CPUTime", r.CPUTime)
	t.PeakMemory = max(t.PeakMemory, known(t, "PeakMemory", r.PeakMemory))
	t.StdoutBytes += r.StdoutBytes
	t.StderrBytes += r.StderrBytes
}

// known gives a figure; one that was not measured is noted, and adds nothing.
func known[T int64 | time.Duration](u *Usage, name string, v T) T {
	if v < 0 {
		u.Unmeasured[name]++
		return 0
	}
	return v
}

func (u *usage) total() Usage {
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.sum
	t.ByTier, t.ByReason, t.Unmeasured = cloned(t.ByTier), cloned(t.ByReason), cloned(t.Unmeasured)
	t.WallTime = orUnknown(&t, "WallTime", t.WallTime)
	t.CPUTime = orUnknown(&t, "CPUTime", t.CPUTime)
	t.PeakMemory = orUnknown(&t, "PeakMemory", t.PeakMemory)
	return t
}

// orUnknown gives a figure, or Unknown when no run that has ended had it.
func orUnknown[T int64 | time.Duration](u *Usage, name string, v T) T {
	if u.Runs > 0 && u.Unmeasured[name] == u.Runs {
		return Unknown
	}
	return v
}

// cloned is a copy, and never nil.
func cloned[K comparable](m map[K]int) map[K]int {
	if m == nil {
		return map[K]int{}
	}
	return maps.Clone(m)
}
