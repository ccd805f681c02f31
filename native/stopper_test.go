package native

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestStopper(t *testing.T) {
	type call struct {
		after, grace time.Duration
	}
	for _, tt := range []struct {
		name  string
		calls []call
		ends  time.Duration // after the last call; 0 means never
		want  []string      // what happens, with the second in which it does
	}{
		{"asked, then forced", []call{{0, 2 * time.Second}}, 0, []string{"ask 0", "force 2"}},
		{"at once", []call{{0, 0}}, 0, []string{"force 0"}},
		{"a second one does not put it off", []call{{0, 2 * time.Second}, {time.Second, 2 * time.Second}}, 0, []string{"ask 0", "force 2"}},
		{"a shorter one counts", []call{{0, 10 * time.Second}, {time.Second, 2 * time.Second}}, 0, []string{"ask 0", "force 3"}},
		{"force after a question", []call{{0, 10 * time.Second}, {time.Second, 0}}, 0, []string{"ask 0", "force 1", "force 10"}},
		{"it ended in between", []call{{0, 2 * time.Second}}, time.Second, []string{"ask 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var got []string
				note := func(what string) func() {
					return func() {
						got = append(got, what+" "+time.Since(began).Truncate(time.Second).String()[:len(time.Since(began).Truncate(time.Second).String())-1])
					}
				}
				s := &stopper{ask: note("ask"), force: note("force")}
				for _, c := range tt.calls {
					time.Sleep(c.after)
					s.stop(c.grace)
				}
				if tt.ends > 0 {
					time.Sleep(tt.ends)
					if asked, forced := s.end(); !asked || forced {
						t.Errorf("end = %v, %v", asked, forced)
					}
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				s.end()
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if s.stop(0) {
					t.Error("stopped after its end")
				}
			})
		})
	}
}

func TestStopper_UnlessStopping(t *testing.T) {
	calls := 0
	count := func() { calls++ }
	s := &stopper{ask: func() {}, force: func() {}}
	s.unlessStopping(count)
	s.stop(time.Hour)
	s.unlessStopping(count)
	s.end()
	s.unlessStopping(count)
	over := &stopper{}
	over.end()
	over.unlessStopping(count)
	if calls != 1 {
		t.Errorf("called %d times, want once", calls)
	}
}
