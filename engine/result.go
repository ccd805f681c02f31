package engine

import "time"

// Tier is the kind of isolation that a run had.
type Tier string

// The tiers.
const (
	TierWasm   Tier = "wasm"
	TierNative Tier = "native"

	// TierAuto is for Options.PythonTier alone: the script decides.
	TierAuto Tier = "auto"
)

// Reason says how a run ended.
type Reason string

// The reasons. A run has exactly one.
const (
	ReasonExited    Reason = "exited"    // it ended by itself, with any exit code
	ReasonSignaled  Reason = "signaled"  // a signal that was not ours ended it
	ReasonTimeout   Reason = "timeout"   // its timeout passed
	ReasonCancelled Reason = "cancelled" // its context ended, Kill was called or the session was closed
	ReasonMemory    Reason = "memory"    // it reached the memory limit; exit code 137
	ReasonOutput    Reason = "output"    // it reached Limits.Output
	ReasonCPU       Reason = "cpu"       // it reached Limits.CPU
	ReasonDenied    Reason = "denied"    // the policy ended it
	ReasonLost      Reason = "lost"      // its end is not known
)

// Unknown is the value of a figure that was not measured. No figure is zero for want of a measurement.
const Unknown = -1

// Result is what is known of a run that has ended.
type Result struct {
	// ExitCode is the exit status of the script, and 128+n for death by signal n. A run that was ended has
	// the code of its Reason instead, whatever the script did when it was told to stop: 124 for
	// ReasonTimeout, as of timeout(1); 137 for ReasonCancelled, ReasonOutput and ReasonMemory. It is
	// Unknown for ReasonLost.
	ExitCode int
	// Signal is the number of the signal that ended the run, or 0.
	Signal int
	Reason Reason
	Tier   Tier
	// Backend is how the native tier isolated the run; empty in the wasm tier.
	Backend string
	// Route says why the run went to this tier.
	Route string
	// Advice is one line for the user about a limit of the tier that the script met; usually empty.
	Advice string

	// The figures mean the same in every tier. DriverInfo.Unmeasured names those that a tier cannot measure here.

	// WallTime is from the start of the script, when the tier is ready for it, to its end; with
	// RunOptions.Background to the end of its last process.
	WallTime time.Duration
	// CPUTime is the processor time, user and system, that the script took and all that it started; Unknown where
	// it was not measured. It is what counts against Limits.CPU. The work of the tier itself before and after the
	// script is not in it. Without a control group, processes that no other one waited for are not in it either.
	CPUTime time.Duration
	// PeakMemory is the most memory, in bytes, that counted against Limits.Memory at one time in the run; Unknown
	// where it was not measured. In the wasm tier that is the linear memory: the whole interpreter, some 40 MiB
	// from the beginning. In a cell it is what its control group is charged with: the memory of all processes, the init's
	// few MiB included, files in /tmp and in a work directory in memory, and what the kernel holds for them.
	PeakMemory int64

	// StdoutBytes and StderrBytes count what the script wrote, whether it was kept or not. In a terminal both
	// streams are stdout.
	StdoutBytes, StderrBytes int64
	// Truncated is set when output was dropped, from either stream: past MaxOutput, past Limits.Output, or
	// what a script went on writing when it had been told to stop.
	Truncated bool

	// Value is the repr of the last statement of a run in the live interpreter, when that is an expression
	// whose value is not None; else empty. Past 1 MiB it is cut, and Truncated is set.
	Value string
	// InterpreterLost is set when the run has ended the live interpreter: by its timeout, by being cancelled,
	// by os._exit or by a crash. Its variables are gone, and the next such run starts a fresh one.
	InterpreterLost bool
}
