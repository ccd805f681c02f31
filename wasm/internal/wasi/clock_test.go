package wasi

import (
	"testing"
	"time"
)

func TestClockTimeGet(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.CPUClock = func() time.Duration { return 42 * time.Millisecond } })

	before := time.Now().UnixNano()
	g.want(ok, "clock_time_get", clockRealtime, 0, atResult)
	if got := int64(g.u64(atResult)); got < before || got > time.Now().UnixNano() {
		t.Errorf("realtime = %d, want now", got)
	}

	g.want(ok, "clock_time_get", clockMonotonic, 0, atResult)
	first := g.u64(atResult)
	if first < uint64(monotonicBase) || first > uint64(monotonicBase+time.Minute) {
		t.Errorf("monotonic = %d, want the time since New and a second", first)
	}
	g.want(ok, "clock_time_get", clockMonotonic, 0, atResult)
	if again := g.u64(atResult); again < first {
		t.Errorf("monotonic went from %d to %d", first, again)
	}

	for _, id := range []uint64{clockProcessCPUTime, clockThreadCPUTime} {
		g.want(ok, "clock_time_get", id, 0, atResult)
		if got := g.u64(atResult); got != 42e6 {
			t.Errorf("clock %d = %d, want 42e6", id, got)
		}
	}
}

func TestClock_Unsupported(t *testing.T) {
	g := newGuest(t)
	for _, id := range []uint64{clockProcessCPUTime, clockThreadCPUTime, 4, 0xffffffff} {
		g.want(eINVAL, "clock_time_get", id, 0, atResult)
		g.want(eINVAL, "clock_res_get", id, atResult)
	}
}

func TestClockResGet(t *testing.T) {
	g := newGuest(t)
	for _, id := range []uint64{clockRealtime, clockMonotonic} {
		g.want(ok, "clock_res_get", id, atResult)
		if got := g.u64(atResult); got != 1 {
			t.Errorf("resolution of clock %d = %d, want 1", id, got)
		}
	}
}

// Two runs one after the other must not tell how long the host, or the process, has been up.
func TestClock_MonotonicStartsAgain(t *testing.T) {
	first := newGuest(t)
	time.Sleep(20 * time.Millisecond)
	second := newGuest(t)
	first.want(ok, "clock_time_get", clockMonotonic, 0, atResult)
	second.want(ok, "clock_time_get", clockMonotonic, 0, atResult)
	if a, b := first.u64(atResult), second.u64(atResult); a < b+uint64(20*time.Millisecond)-uint64(time.Second) || a <= b {
		t.Errorf("monotonic of the older run = %d, of the younger %d", a, b)
	}
}
