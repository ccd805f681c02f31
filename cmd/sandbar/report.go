package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// A report is the object of --json: engine.Result. Names stay as they are, and more may be added. Figures that were
// not measured, and the exit code of a run whose end is not known, are null, never 0.
type report struct {
	ExitCode *int          `json:"exit_code"`
	Signal   int           `json:"signal"`
	Reason   engine.Reason `json:"reason"`
	Tier     engine.Tier   `json:"tier"`
	Backend  string        `json:"backend"`
	Route    string        `json:"route"`
	Advice   string        `json:"advice"`

	Wall        *int64 `json:"wall_ns"`
	CPU         *int64 `json:"cpu_ns"`
	PeakMemory  *int64 `json:"peak_memory_bytes"`
	StdoutBytes int64  `json:"stdout_bytes"`
	StderrBytes int64  `json:"stderr_bytes"`
	Truncated   bool   `json:"truncated"`
}

func newReport(res *engine.Result) *report {
	return &report{
		ExitCode: known(res.ExitCode), Signal: res.Signal, Reason: res.Reason,
		Tier: res.Tier, Backend: res.Backend, Route: res.Route, Advice: res.Advice,
		Wall: known(int64(res.WallTime)), CPU: known(int64(res.CPUTime)), PeakMemory: known(res.PeakMemory),
		StdoutBytes: res.StdoutBytes, StderrBytes: res.StderrBytes, Truncated: res.Truncated,
	}
}

// known is nil for what was not measured.
func known[T int | int64](v T) *T {
	if v == engine.Unknown {
		return nil
	}
	return &v
}

// write writes one line.
func (r *report) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// writeStats prints one line on what the run took, and why it ran where it did.
func writeStats(w io.Writer, res *engine.Result, exitCode int) {
	cpu, peak, tier := "unknown", "unknown", string(res.Tier)
	if res.CPUTime != engine.Unknown {
		cpu = formatMilliseconds(res.CPUTime)
	}
	if res.PeakMemory != engine.Unknown {
		peak = formatSize(res.PeakMemory)
	}
	if res.Backend != "" {
		tier += ", backend " + res.Backend
	}
	fmt.Fprintf(w, "sandbar: reason %s, exit code %d, wall %s, cpu %s, peak memory %s, stdout %s, stderr %s, tier %s, route: %s\n",
		res.Reason, exitCode, formatMilliseconds(res.WallTime), cpu, peak,
		formatSize(res.StdoutBytes), formatSize(res.StderrBytes), tier, oneLine(res.Route))
}

func formatMilliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// explain says why a run that did not end by itself ended; it is empty for one that did.
func explain(res *engine.Result, opts *engine.Options) string {
	switch res.Reason {
	case engine.ReasonTimeout:
		if opts.Timeout == 0 {
			return "stopped: the timeout passed (see --timeout)"
		}
		return fmt.Sprintf("stopped: the timeout of %s passed", opts.Timeout)
	case engine.ReasonMemory:
		return "stopped: the memory limit was reached (see --memory)"
	case engine.ReasonCPU:
		return fmt.Sprintf("stopped: the processor time of %s was used up", opts.Limits.CPU)
	case engine.ReasonDenied:
		return "stopped: the policy does not allow what the script did"
	}
	return ""
}
