package sandbar

import (
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// Names that most programs need, so that one import is enough. They are those of the packages that document
// them; errors, and what is needed less often, are there alone.
type (
	// Options are for Open: engine.Options.
	Options = engine.Options
	// Limits are in Options.
	Limits = engine.Limits
	// Session is what Open opens.
	Session = engine.Session
	// RunOptions are for one run.
	RunOptions = engine.RunOptions
	// Process is a run under way.
	Process = engine.Process
	// Output is what a run wrote, with its Result.
	Output = engine.Output
	// Result is how a run ended and what it took.
	Result = engine.Result
	// Usage is what the runs of a session took together.
	Usage = engine.Usage
	// Snapshot is a copy of a session, for Options.From.
	Snapshot = engine.Snapshot
	// ExitError is the error of Session.RunCode for a script that failed.
	ExitError = engine.ExitError
	// Backend is how the native tier isolates: for OpenWith.
	Backend = native.Backend
)

// The script types, for RunOptions.Type. The zero value is Python.
const (
	Python = engine.Python
	Shell  = engine.Shell
)

// InterpreterSession is for RunOptions.Interpreter: the run uses the session's live interpreter.
const InterpreterSession = engine.InterpreterSession

// The tiers, for Options.PythonTier. The zero value is TierAuto.
const (
	TierAuto   = engine.TierAuto
	TierWasm   = engine.TierWasm
	TierNative = engine.TierNative
)

// The backends. What each one isolates is said at native.Backend.
const (
	Bubblewrap  = native.Bubblewrap
	Userns      = native.Userns
	None        = native.None
	SandboxExec = native.SandboxExec
)

// The network modes, for Options.Network and RunOptions.Network. The zero value of Options is NetworkBlocked.
const (
	NetworkBlocked = netpolicy.Blocked
	NetworkOpen    = netpolicy.Open
)

// NoTimeout is a Timeout for a run that may go on until it is cancelled.
const NoTimeout = engine.NoTimeout
