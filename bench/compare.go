package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// sample is the times of one case.
type sample []time.Duration

// at is a quantile, by the nearest rank: 0.5 is the median, 0 the least.
func (s sample) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// competitor is one case of a comparison.
type competitor struct {
	name string
	// turn is how often it runs in a row in each round. Zero: once. What takes less than a millisecond
	// runs more often: its first run in a turn finds the caches full of the other cases' things.
	turn int
	run  func() error
	// away says that the work is done by processes that are nobody's children in the end, so that their
	// processor time is not known: bwrap does not wait for the init of its namespace.
	away bool

	times sample
	cpu   time.Duration // processor time of all runs
}

// compare measures each case in each round, after some rounds that do not count.
func compare(ctx context.Context, warm, rounds int, cases []*competitor) error {
	for round := range warm + rounds {
		for _, c := range cases {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.measure(round >= warm); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}

// measure is one turn.
func (c *competitor) measure(counts bool) error {
	before := processorTime()
	for range max(c.turn, 1) {
		begin := time.Now()
		if err := c.run(); err != nil {
			return err
		}
		if counts {
			c.times = append(c.times, time.Since(begin))
		}
	}
	if counts {
		c.cpu += processorTime() - before
	}
	return nil
}

// cpuEach is the mean processor time of so many runs in milliseconds.
func (c *competitor) cpuEach(runs int) figure {
	if c.away || processorTime() < 0 {
		return unknown
	}
	return ms(c.cpu) / figure(runs)
}

// quantiles makes a table of a comparison; ratio is each median against the first case's.
func quantiles(title string, cases []*competitor) table {
	t := table{Title: title, Header: []string{"runs", "p50 ms", "p90 ms", "p99 ms", "min ms", "CPU ms", "ratio"}}
	base := float64(cases[0].times.at(0.5))
	for _, c := range cases {
		values := []figure{figure(len(c.times))}
		for _, q := range []float64{0.5, 0.9, 0.99, 0} {
			values = append(values, ms(c.times.at(q)))
		}
		values = append(values, c.cpuEach(len(c.times)), figure(float64(c.times.at(0.5))/base))
		t.Rows = append(t.Rows, row{c.name, values})
	}
	return t
}
