package engine

import (
	"errors"
	"fmt"
)

// Exit codes of runs that were ended, not of scripts that exited.
const (
	codeTimeout = 124 // as of timeout(1)
	codeKilled  = 137 // as of a death by SIGKILL
)

// resultOf makes the Result of how the driver saw the end and of why Session asked for it, if it did.
func (p *Process) resultOf(exit Exit, asked Reason) Result {
	r := Result{
		ExitCode:   exit.Code,
		Signal:     exit.Signal,
		Reason:     exit.Reason,
		Tier:       p.tier,
		Backend:    exit.Backend,
		Route:      p.route,
		Advice:     exit.Advice,
		WallTime:   exit.WallTime,
		CPUTime:    exit.CPUTime,
		PeakMemory: exit.PeakMemory,
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
	r.Truncated = cut[0] || cut[1]
	return r
}

func lost(err error) error {
	if errors.Is(err, ErrLost) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}
