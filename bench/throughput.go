package main

import (
	"context"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar"
)

// slot is how long a case of the throughput section runs in each round.
const slot = 500 * time.Millisecond

// contest is a case of the throughput section: a competitor for several workers. times has one value a
// round, the time that passed for each run.
type contest struct {
	competitor
	workers, runs int
}

// throughput is how many fresh interpreters a second can have. The processor time of each says what a core
// could do that had nothing else to do, also when this one had.
func throughput(ctx context.Context, s *settings, r *report) (err error) {
	session, err := sandbar.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer also(&err, session.Close)
	run := func() error { return execute(ctx, session) }
	cases := []*contest{{competitor: competitor{name: "wasm tier, 1 worker", run: run}, workers: 1}}
	if runtime.NumCPU() > 1 {
		cases = append(cases, &contest{competitor: competitor{name: "wasm tier, 2 workers", run: run}, workers: 2})
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		box, err := bubblewrap(ctx, s.python)
		if err != nil {
			return err
		}
		run := command(ctx, "4\n", bwrap, with(box, s.python, "-I", "-c", trivial)...)
		cases = append(cases, &contest{competitor: competitor{name: "bwrap python3, 1 worker", away: true, run: run}, workers: 1})
	}
	for round := range 1 + max(2, s.rounds/10) {
		for _, c := range cases {
			if err := c.measure(ctx, round > 0); err != nil {
				return err
			}
		}
	}
	t := table{Title: "Fresh Pythons a second: print(2+2)", Header: []string{"runs", "runs/s", "runs/s, best", "CPU ms", "runs per CPU second"}}
	for _, c := range cases {
		each := c.cpuEach(c.runs)
		t.Rows = append(t.Rows, row{c.name, []figure{figure(c.runs), perSecond(c.times.at(0.5)), perSecond(c.times.at(0)), each, 1000 / each}})
	}
	r.table(t)
	return nil
}

func perSecond(each time.Duration) figure { return figure(float64(time.Second) / float64(each)) }

// measure runs the case on as many processors as it has workers, for one slot.
func (c *contest) measure(ctx context.Context, counts bool) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.workers))
	cpu, begin := processorTime(), time.Now()
	runs, err := c.hammer(ctx, begin.Add(slot))
	if err != nil || !counts {
		return err
	}
	c.times = append(c.times, time.Since(begin)/time.Duration(runs))
	c.cpu += processorTime() - cpu
	c.runs += runs
	return nil
}

// hammer runs the case from all workers until then, at least once, and counts.
func (c *contest) hammer(ctx context.Context, until time.Time) (int, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total int
		first error
	)
	for range c.workers {
		wg.Go(func() {
			n, err := 0, ctx.Err()
			for err == nil && (n == 0 || time.Now().Before(until)) {
				err = c.run()
				n++
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return total, first
}
