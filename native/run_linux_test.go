package native

import (
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// The init knows when the script ended, and the host how long the whole took: what the init says is not trusted
// beyond that.
func TestRun_WallTime(t *testing.T) {
	for _, tt := range []struct{ host, init, want time.Duration }{
		{5 * time.Second, time.Second, time.Second},
		{5 * time.Second, time.Hour, 5 * time.Second},
	} {
		r := &run{cell: &cell{}}
		r.exit.WallTime = tt.host
		r.figures(&spec.Exited{Wall: tt.init, CPU: time.Minute})
		if r.exit.WallTime != tt.want || r.exit.CPUTime != time.Minute {
			t.Errorf("%v, of which the init says %v: wall time %v, processor time %v", tt.host, tt.init, r.exit.WallTime, r.exit.CPUTime)
		}
	}
}

func TestProcessorTime(t *testing.T) {
	for name, tt := range map[string]struct {
		group time.Duration
		end   *spec.Exited
		want  time.Duration
	}{
		"the init's own is not the run's": {5 * time.Second, &spec.Exited{Own: time.Second}, 4 * time.Second},
		"a cell that ended":               {5 * time.Second, nil, 5 * time.Second},
		"no group":                        {cgroup.Unknown, &spec.Exited{Own: time.Second}, engine.Unknown},
	} {
		if got := processorTime(tt.group, tt.end); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
