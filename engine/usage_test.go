package engine

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// measured are scripts with figures, and without.
var measured = map[string]func(*guest) Exit{
	"small": func(g *guest) Exit {
		_, _ = io.WriteString(g.Stdout, "out")
		_, _ = io.WriteString(g.Stderr, "no")
		return Exit{WallTime: time.Second, CPUTime: 10 * time.Millisecond, PeakMemory: 100}
	},
	"large":   func(*guest) Exit { return Exit{WallTime: 2 * time.Second, CPUTime: time.Minute, PeakMemory: 5000} },
	"unknown": func(*guest) Exit { return Exit{WallTime: time.Second, CPUTime: Unknown, PeakMemory: Unknown} },
	"lost": func(*guest) Exit {
		return Exit{Err: errors.New("gone"), WallTime: Unknown, CPUTime: Unknown, PeakMemory: Unknown}
	},
	"wait": func(g *guest) Exit {
		<-g.stop
		return Exit{CPUTime: time.Millisecond, PeakMemory: 1}
	},
}

func wantUsage(t *testing.T, what string, got, want Usage) {
	t.Helper()
	for _, m := range []*Usage{&got, &want} {
		m.ByTier, m.ByReason, m.Unmeasured = cloned(m.ByTier), cloned(m.ByReason), cloned(m.Unmeasured)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage of %s (-want +got):\n%s", what, diff)
	}
}

func TestUsage_Sums(t *testing.T) {
	s := openWith(t, newFake(measured), nil)
	wantUsage(t, "nothing", s.Usage(), Usage{}) // zero is the truth
	exec(t, s, "small", nil)
	exec(t, s, "large", nil)
	want := Usage{
		Runs: 2, ByTier: map[Tier]int{TierWasm: 2}, ByReason: map[Reason]int{ReasonExited: 2},
		WallTime: 3 * time.Second, CPUTime: time.Minute + 10*time.Millisecond, PeakMemory: 5000, StdoutBytes: 3, StderrBytes: 2,
	}
	wantUsage(t, "two runs", s.Usage(), want)

	p := start(t, s, "wait", nil)
	want.Running = 1
	wantUsage(t, "one under way", s.Usage(), want)
	p.Kill()
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	want.Running, want.Runs, want.ByTier[TierWasm], want.ByReason[ReasonCancelled] = 0, 3, 3, 1
	want.CPUTime += time.Millisecond
	u := s.Usage()
	wantUsage(t, "one cancelled", u, want)
	if !u.Complete() {
		t.Error("it is not complete")
	}

	// What was given is the caller's.
	u.ByTier[TierWasm], u.ByReason[ReasonExited], u.Unmeasured["x"] = 99, 99, 99
	wantUsage(t, "the same", s.Usage(), want)

	// What has not been started is no run.
	if _, err := s.Run(t.Context(), "no such script", nil); !errors.Is(err, ErrNotStarted) {
		t.Errorf("Run = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, "a closed session", s.Usage(), want)
}

func TestUsage_Unknown(t *testing.T) {
	s := openWith(t, newFake(measured), nil)
	exec(t, s, "unknown", nil)
	want := Usage{
		Runs: 1, ByTier: map[Tier]int{TierWasm: 1}, ByReason: map[Reason]int{ReasonExited: 1},
		WallTime: time.Second, CPUTime: Unknown, PeakMemory: Unknown, Unmeasured: map[string]int{"CPUTime": 1, "PeakMemory": 1},
	}
	wantUsage(t, "a run without figures", s.Usage(), want)

	exec(t, s, "small", nil)
	want.Runs, want.ByTier[TierWasm], want.ByReason[ReasonExited] = 2, 2, 2
	want.WallTime, want.CPUTime, want.PeakMemory, want.StdoutBytes, want.StderrBytes = 2*time.Second, 10*time.Millisecond, 100, 3, 2
	wantUsage(t, "one with them too", s.Usage(), want)

	if _, err := s.Exec(t.Context(), "lost", nil); !errors.Is(err, ErrLost) {
		t.Errorf("Exec = %v", err)
	}
	want.Runs, want.ByTier[TierWasm], want.ByReason[ReasonLost] = 3, 3, 1
	want.Unmeasured = map[string]int{"WallTime": 1, "CPUTime": 2, "PeakMemory": 2}
	u := s.Usage()
	wantUsage(t, "a lost one", u, want)
	if u.Complete() {
		t.Error("it is complete")
	}
}

func TestUsage_Tiers(t *testing.T) {
	native := newFake(measured)
	native.tier = TierNative
	s := openTiers(t, nil, newFake(measured), native)
	exec(t, s, "small", nil)
	for range 2 {
		exec(t, s, "large", &RunOptions{Type: Shell})
	}
	want := map[Tier]int{TierWasm: 1, TierNative: 2}
	if u := s.Usage(); !cmp.Equal(u.ByTier, want) || u.PeakMemory != 5000 {
		t.Errorf("usage %+v, want by tier %v", u, want)
	}
}

// A run is always under way or ended, never both and never neither; and who has waited for it finds it counted.
func TestUsage_Hammer(t *testing.T) {
	s := openWith(t, newFake(measured), nil)
	const workers, each = 8, 50
	var wg, watch sync.WaitGroup
	quit := make(chan struct{})
	watch.Go(func() {
		last := 0
		for {
			u := s.Usage()
			sum := 0
			for _, n := range u.ByReason {
				sum += n
			}
			if sum != u.Runs || u.Running < 0 || u.Running > workers || u.Runs < last || u.WallTime != time.Duration(u.Runs)*time.Second {
				t.Errorf("usage %+v", u)
				return
			}
			last = u.Runs
			select {
			case <-quit:
				return
			default:
			}
		}
	})
	for range workers {
		wg.Go(func() {
			for i := range each {
				exec(t, s, "small", nil)
				if u := s.Usage(); u.Runs <= i {
					t.Errorf("%d runs after %d of one worker", u.Runs, i+1)
				}
			}
		})
	}
	wg.Wait()
	close(quit)
	watch.Wait()
	if u := s.Usage(); u.Runs != workers*each || u.Running != 0 {
		t.Errorf("usage %+v", u)
	}
}
