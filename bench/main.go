// Command bench compares the tiers of Sandbar with each other and with what people use instead, side by
// side in one run: each round measures every case, so that a machine whose speed drifts slows all of them.
// Ratios are the figures to quote. README.md says how to read them.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// settings are the flags.
type settings struct {
	python, native string
	rounds         int
	only           string
	json, markdown string
}

// section makes one table of the report, or more.
type section struct {
	name string
	run  func(ctx context.Context, s *settings, r *report) error
}

// sections in their order. memory is the first: later there is more in this process that could move.
var sections = []section{
	{"memory", memory},
	{"fresh", fresh},
	{"throughput", throughput},
	{"shell", shell},
	{"cells", cells},
	{"idle", idle},
	{"server", serve},
	{"cpu", cpuSuite},
	{"metering", metering},
	{"cli", commandLine},
	{"prepare", prepare},
}

// errSkip: this machine lacks what a section needs. The report says so.
var errSkip = errors.New("left out")

func main() {
	var s settings
	flag.StringVar(&s.python, "python", "python3", "a native Python, for start-up times")
	flag.StringVar(&s.native, "native", "", "a native CPython of the same version and -O3, for the cpu section (default: that of -python)")
	flag.IntVar(&s.rounds, "rounds", 100, "rounds of the fresh section; the others take a part of it")
	flag.StringVar(&s.only, "only", "", "comma-separated sections (default: all)")
	flag.StringVar(&s.json, "json", "", "write the figures to this file as well")
	flag.StringVar(&s.markdown, "markdown", "", "write the report to this file as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *settings, out io.Writer) error {
	chosen, err := choose(s.only)
	if err != nil {
		return err
	}
	if err := s.findPythons(ctx); err != nil {
		return err
	}
	var text bytes.Buffer
	r := &report{out: io.MultiWriter(out, &text), Machine: machine(ctx, s)}
	r.begin()
	for _, sec := range chosen {
		err := sec.run(ctx, s, r)
		if errors.Is(err, errSkip) {
			r.note("\n%s: %v", sec.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", sec.name, err)
		}
	}
	if s.markdown != "" {
		if err := os.WriteFile(s.markdown, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if s.json == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.json, append(b, '\n'), 0o644)
}

// also is for defer: it calls f and adds its error to what the function returns.
func also(err *error, f func() error) { *err = errors.Join(*err, f()) }

// choose gives the sections of a comma-separated list; all for an empty one.
func choose(only string) ([]section, error) {
	if only == "" {
		return sections, nil
	}
	var chosen []section
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(sections, func(sec section) bool { return sec.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no section %q", name)
		}
		chosen = append(chosen, sections[i])
	}
	return chosen, nil
}
