package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sandbar-dev/sandbar/engine"
)

// A report is what --json prints. Figures that were not measured are null, never 0.
type report struct {
	// Stdout and Stderr are the output as text: bytes that are not UTF-8 are shown as U+FFFD. Only then
	// the exact bytes follow in the _base64 fields.
	Stdout       string `json:"stdout"`
	StdoutBase64 string `json:"stdout_base64,omitempty"`
	Stderr       string `json:"stderr"`
	StderrBase64 string `json:"stderr_base64,omitempty"`
	// ExitCode is also the exit code of sandbar itself.
	ExitCode int           `json:"exit_code"`
	Reason   engine.Reason `json:"reason"`
	Tier     engine.Tier   `json:"tier"`
	Backend  string        `json:"backend"`
	Route    string        `json:"route"`
	WallMS   float64       `json:"wall_ms"`
	CPUMS    *float64      `json:"cpu_ms"`
	PeakMem  *int64        `json:"peak_memory_bytes"`
	// Truncated is set when the output was longer than what is kept, 8 MiB for each stream.
	Truncated bool   `json:"truncated"`
	Advice    string `json:"advice"`
}

func newReport(out *engine.Output, exitCode int) *report {
	res := &out.Result
	r := &report{
		ExitCode:  exitCode,
		Reason:    res.Reason,
		Tier:      res.Tier,
		Backend:   res.Backend,
		Route:     res.Route,
		WallMS:    milliseconds(res.WallTime),
		Truncated: res.Truncated,
		Advice:    res.Advice,
	}
	r.Stdout, r.StdoutBase64 = jsonText(out.Stdout)
	r.Stderr, r.StderrBase64 = jsonText(out.Stderr)
	if res.CPUTime != engine.Unknown {
		ms := milliseconds(res.CPUTime)
		r.CPUMS = &ms
	}
	if res.PeakMemory != engine.Unknown {
		r.PeakMem = &res.PeakMemory
	}
	return r
}

// jsonText returns b as text and, where that loses something, as base64 as well.
func jsonText(b []byte) (text, exact string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), base64.StdEncoding.EncodeToString(b)
}

func (r *report) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// writeStats prints one line on what the run took.
func writeStats(w io.Writer, res *engine.Result, exitCode int) {
	cpu, peak, tier := "unknown", "unknown", string(res.Tier)
	if res.CPUTime != engine.Unknown {
		cpu = formatMilliseconds(res.CPUTime)
	}
	if res.PeakMemory != engine.Unknown {
		peak = formatSize(res.PeakMemory)
	}
	if res.Backend != "" {
		tier += " (" + res.Backend + ")"
	}
	fmt.Fprintf(w, "sandbar: reason %s, exit code %d, wall %s, cpu %s, peak memory %s, tier %s\n",
		res.Reason, exitCode, formatMilliseconds(res.WallTime), cpu, peak, tier)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func formatMilliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", milliseconds(d)) }

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
