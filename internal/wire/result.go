package wire

import (
	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// Result makes the message of r. A figure that was not measured is not set, and neither is the exit code of a run that is
// lost. Text that is not UTF-8 is mended.
func Result(r *engine.Result) *sandboxv2.Result {
	m := &sandboxv2.Result{
		Signal:          clampInt32(r.Signal),
		Reason:          Reason(r.Reason),
		Tier:            Tier(r.Tier),
		Backend:         valid(r.Backend),
		Route:           valid(r.Route),
		Advice:          valid(r.Advice),
		WallTime:        setTime(r.WallTime),
		CpuTime:         setTime(r.CPUTime),
		PeakMemoryBytes: setFigure(r.PeakMemory),
		StdoutBytes:     r.StdoutBytes,
		StderrBytes:     r.StderrBytes,
		Truncated:       r.Truncated,
		Value:           valid(r.Value),
		InterpreterLost: r.InterpreterLost,
	}
	if r.Reason != engine.ReasonLost && r.ExitCode != engine.Unknown {
		code := clampInt32(r.ExitCode)
		m.ExitCode = &code
	}
	return m
}

// ToResult is the twin of Result.
func ToResult(m *sandboxv2.Result) engine.Result {
	r := engine.Result{
		ExitCode:        engine.Unknown,
		Signal:          int(m.GetSignal()),
		Reason:          ToReason(m.GetReason()),
		Tier:            ToTier(m.GetTier()),
		Backend:         m.GetBackend(),
		Route:           m.GetRoute(),
		Advice:          m.GetAdvice(),
		WallTime:        toTime(m.GetWallTime()),
		CPUTime:         toTime(m.GetCpuTime()),
		PeakMemory:      engine.Unknown,
		StdoutBytes:     m.GetStdoutBytes(),
		StderrBytes:     m.GetStderrBytes(),
		Truncated:       m.GetTruncated(),
		Value:           m.GetValue(),
		InterpreterLost: m.GetInterpreterLost(),
	}
	if m != nil && m.ExitCode != nil && r.Reason != engine.ReasonLost {
		r.ExitCode = int(*m.ExitCode)
	}
	if m != nil {
		r.PeakMemory = toFigure(m.PeakMemoryBytes)
	}
	return r
}
