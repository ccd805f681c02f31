package engine

import (
	"errors"
	"fmt"
	"strings"
)

// Exit codes of runs that were ended, not of scripts that exited.
const (
	codeTimeout = 124 // as of timeout(1)
	codeKilled  = 137 // as of a death by SIGKILL
)

// resultOf makes the Result of how the driver saw the end and of why Session asked for it, if it did.
func (p *Process) resultOf(exit Exit, asked Reason) Result {
	if exit.Result != nil && exit.Err == nil {
		r := *exit.Result
		_, out := p.stdout.written()
		_, errs := p.stderr.written()
		r.Truncated = r.Truncated || out || errs
		return r
	}
	r := Result{
		ExitCode:   exit.Code,
		Signal:     exit.Signal,
		Reason:     exit.Reason,
		Tier:       p.route.tier.name,
		Backend:    exit.Backend,
		Route:      p.route.why,
		Advice:     exit.Advice,
		WallTime:   exit.WallTime,
		CPUTime:    exit.CPUTime,
		PeakMemory: exit.PeakMemory,

		InterpreterLost: exit.InterpreterLost,
	}
	if asked != "" && r.Reason != ReasonMemory {
		r.Reason = asked
	}
	switch r.Reason {
	case ReasonTimeout:
		r.ExitCode = codeTimeout
	case ReasonCancelled, ReasonMemory, ReasonOutput:
		r.ExitCode = codeKilled
	}
	if exit.Err != nil {
		r.Reason, r.ExitCode, r.Signal = ReasonLost, Unknown, 0
	}
	var cut [2]bool
	r.StdoutBytes, cut[0] = p.stdout.written()
	r.StderrBytes, cut[1] = p.stderr.written()
	r.Value = exit.Value
	r.Truncated = cut[0] || cut[1] || len(r.Value) > MaxValue
	if len(r.Value) > MaxValue {
		r.Value = strings.ToValidUTF8(r.Value[:MaxValue], "")
	}
	return r
}

func lost(err error) error {
	if errors.Is(err, ErrLost) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}
