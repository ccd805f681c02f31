package engine

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// WorkDir is the path of a session's work directory as a script sees it, in every tier.
const WorkDir = "/tmp/sandbox-work"

// VenvDir is where a session's Python virtual environment lies, as a script sees it: see Options.Venv.
const VenvDir = WorkDir + "/.venv"

// Driver is one tier: the narrow interface under Session. A driver gets validated input, starts runs
// and says how they ended. Deadlines, output caps, file calls and error codes are Session's.
//
// A driver is shared by many sessions and safe for concurrent use. Who made it closes it, after the
// sessions that use it.
type Driver interface {
	// Tier names the tier.
	Tier() Tier
	// Info describes the tier on this host: versions, and what it enforces.
	Info() DriverInfo
	// OpenSession prepares what the runs of one session share. It must not be slow: work that costs
	// more than a few milliseconds waits for the first run. It returns ErrNotEnforceable for a limit
	// that it cannot hold, unless spec.BestEffort.
	OpenSession(ctx context.Context, spec *SessionSpec) (DriverSession, error)
}

// WorkspaceMaker is a Driver that can make work directories whose file system holds a disk limit. One is asked
// for when a session has such a limit and no directory of its own. Every tier of the session then works in it,
// and nothing has to be counted.
type WorkspaceMaker interface {
	Driver
	// MakeWorkspace makes an empty directory that holds limits.Disk and limits.DiskFiles; zero is no limit. The
	// ctx bounds the making alone. ErrNotAvailable: the tier cannot run here. ErrNotEnforceable: it could, but
	// not with these limits.
	MakeWorkspace(ctx context.Context, limits Limits) (Workspace, error)
}

// Workspace is a work directory that a WorkspaceMaker has made.
type Workspace interface {
	// Dir is the directory. It stays open until Close, and has no path: /proc/self/fd leads to it. Who has the
	// rights of this process can read and write in it.
	Dir() *os.File
	// Close takes the directory away with all that is in it. Session calls it once, after every
	// DriverSession has been closed.
	Close() error
}

// OverlayMaker is a WorkspaceMaker that can lay a work directory over a directory of the host by an overlayfs. One is
// asked for when a session with Options.Overlay has its work directory made by the tier. After any error the session has
// an empty one made and copies the directory.
type OverlayMaker interface {
	WorkspaceMaker
	// MakeOverlay makes a directory that shows what is in dir, an absolute path without links to the directory that
	// info describes, and takes what is changed. The limits hold for that. Nothing is ever written to dir, and what is
	// mounted in it is an error.
	MakeOverlay(ctx context.Context, limits Limits, dir string, info fs.FileInfo) (OverlayWorkspace, error)
}

// OverlayWorkspace is a work directory that an OverlayMaker has made.
type OverlayWorkspace interface {
	Workspace
	// Upper is the upper layer, as the kernel's documentation of overlayfs describes it with userxattr and without
	// redirect_dir, metacopy and index. No script can reach it but through Dir. It stays open until Close.
	Upper() *os.File
}

// Janitor is a Driver that can take away what a killed program leaves on the file system.
type Janitor interface {
	Driver
	// TidyUp is called before a work directory is made, each time. When this program is killed, directories in
	// dir whose names begin with prefix are to be removed.
	TidyUp(dir, prefix string) error
}

// DriverInfo describes a tier. All fields are for people and logs, except Unenforced and Unmeasured.
type DriverInfo struct {
	Tier    Tier
	Backend string
	// Versions holds the versions of what the tier is made of, by name ("python", "wazero").
	Versions map[string]string
	// Enforced says what isolates a run and with what strength, by name ("landlock": "ABI 7").
	Enforced map[string]string
	// Unenforced names the fields of Limits that the tier cannot enforce on this host. Disk and DiskFiles are meant
	// for a directory that no WorkspaceMaker has made: in one that it has, they always hold.
	Unenforced []string
	// Unmeasured names the figures of Result that the tier cannot measure on this host: in some runs they are Unknown,
	// or in all.
	Unmeasured []string
	// Warnings are one line each about loosened isolation.
	Warnings []string
}

// SessionSpec is what a driver learns of a session. It is valid until DriverSession.Close returns.
type SessionSpec struct {
	// ID is unguessable and unique; it is safe in file names.
	ID string
	// Root is the work directory; the session owns it.
	Root *os.Root
	// HostDir is the path of Root on the host. It is empty when there is a Workspace.
	HostDir string
	// Workspace is what Root lies in when a WorkspaceMaker has made it: this driver or another one. Nil: none
	// has.
	Workspace Workspace
	// Network is the most that a run may have of the network.
	Network netpolicy.Mode
	// GPU asks for the host's devices.
	GPU bool
	// Venv asks for a virtual environment in VenvDir. Environments have it already.
	Venv bool
	// Grants are host paths that the session may use beside the work directory.
	Grants []Grant
	// Limits has no zero value left: defaults are filled in.
	Limits Limits
	// BestEffort accepts limits that cannot be enforced.
	BestEffort bool
	// Quota counts what exists in the work directory; nil when there is no disk limit, or Workspace holds it.
	Quota Quota
	// Warm is as in Options.
	Warm string
	// From is what the session's live interpreter starts from; nil: nothing. Session holds it until the
	// DriverSession is closed.
	From State
}

// Grant is one host path that scripts see at the same path.
type Grant struct {
	Path     string
	Writable bool
}

// Quota counts what exists in a work directory against the session's disk limit. It is safe for
// concurrent use.
type Quota interface {
	// Charge adds bytes and files, or gives them back when negative. It reports false and changes
	// nothing when the limit would be passed. Giving back always succeeds.
	Charge(bytes, files int64) bool
}

// DriverSession is one session in one tier. Start may be called concurrently.
type DriverSession interface {
	// Start begins a run, or refuses it with a *NeedsNativeError: see RunSpec.Refuse. An error means that nothing of the run was executed. The ctx bounds the start
	// alone: it ends when the caller's does and when the session is closed meanwhile, and a run that has
	// begun is then ended by Stop.
	Start(ctx context.Context, spec *RunSpec) (DriverRun, error)
	// Close ends what is left of the session in this tier and waits for it. Session calls it once,
	// after every run has ended.
	Close() error
}

// LiveSession is a DriverSession that can keep an interpreter from run to run (RunSpec.Live).
type LiveSession interface {
	DriverSession
	// ResetInterpreter ends the live interpreter, when the run that has it has ended. The next such run starts a
	// fresh one.
	ResetInterpreter(ctx context.Context) error
	// Snapshot copies the live interpreter, when the run that has it has ended. It gives nil when there is none, and
	// ErrBusy for one that cannot be copied now. The caller closes the State.
	Snapshot(ctx context.Context) (State, error)
}

// Snapshotter is a Driver whose sessions are LiveSessions, and that can read what State.WriteTo has written.
type Snapshotter interface {
	Driver
	// ReadState reads a State to the end of r. It trusts nothing in it: ErrSnapshot.
	ReadState(ctx context.Context, r io.Reader) (State, error)
}

// State is a copy of a live interpreter. It does not change, and is safe for concurrent use.
type State interface {
	io.WriterTo
	// Size is the size of the interpreter's memory in bytes.
	Size() int64
	// Close releases it. Sessions that have started from it go on.
	Close() error
}

// Refuse says which scripts a driver is not to run. Each step refuses more.
type Refuse int

// The steps. A driver that cannot tell refuses nothing.
const (
	RefuseNone       Refuse = iota
	RefuseImpossible        // what surely needs something that the tier lacks
	RefuseDoubtful          // what may need something that the tier lacks
)

// RunSpec is one run, validated.
type RunSpec struct {
	ID   string
	Type ScriptType
	// Script is the source. A driver must not change it or keep it past the run's end.
	Script []byte
	// Name is the base name of the script's file: what a traceback and argv[0] show.
	Name string
	// Args follow the script's own name in argv.
	Args []string
	// Env is the whole environment, sorted, as KEY=VALUE: the variables of the base, PWD, the session's
	// and the run's.
	Env []string
	// Cwd is the working directory: WorkDir or a directory below it. It existed when it was checked.
	Cwd    string
	Limits Limits
	// Network is within SessionSpec.Network.
	Network netpolicy.Mode
	// Background is as in RunOptions.
	Background bool
	// Refuse has Start look at the script first: a *NeedsNativeError says that nothing of it was executed.
	Refuse Refuse
	// Timeout is what Session gives the run, for a driver whose Start takes long over the script itself.
	Timeout time.Duration
	// Live runs the script in the session's live interpreter. The DriverSession is a LiveSession then.
	Live bool
	// Terminal is nil for a run without a terminal. With one, Stdin is what is typed and Stdout what is shown;
	// the DriverRun is a Resizer.
	Terminal *TerminalSize
	// Stdin is never nil.
	Stdin Stdin
	// Stdout and Stderr accept every byte: Write returns len(p) and no error, but can block while a
	// reader is behind. It stops blocking once the run is being stopped. Write does not keep p.
	Stdout, Stderr io.Writer
}

// Stdin is a run's standard input. It is for one reader at a time. One that has a method AtEnd() bool which
// returns true is at its end from the start.
type Stdin interface {
	// Read gives at least one byte, or io.EOF at the end, or the error of the caller's reader, which is an
	// input/output error (EIO) for the script. When cancel is closed while it waits, it returns
	// ErrInterrupted and no byte is lost.
	Read(p []byte, cancel <-chan struct{}) (int, error)
	// Wait blocks until Read would not: nil, or ErrInterrupted.
	Wait(cancel <-chan struct{}) error
}

// DriverRun is a started run.
type DriverRun interface {
	// Stop ends the run: first in an orderly way (SIGTERM, or KeyboardInterrupt in Python), and after
	// grace by force. It returns at once and may be called again: the shortest grace counts, and 0 is
	// force at once. After the run has ended it does nothing.
	Stop(grace time.Duration)
	// Wait blocks until the run has ended, nothing of it is left and all its output has been written,
	// and returns the same Exit each time.
	Wait() Exit
}

// Interrupter is a DriverRun that an interrupt can reach.
type Interrupter interface {
	// Interrupt does what Ctrl-C in a terminal does: SIGINT, or KeyboardInterrupt in Python. It forces nothing, and the run
	// goes on if the script wants it to. It returns at once and may be called again: while one is pending, another may be
	// dropped. One that comes before the script has begun reaches it then, or keeps it from being begun. When the run has
	// ended or is being stopped it does nothing; it never reaches another run.
	Interrupt() error
}

// Resizer is a DriverRun that has a terminal.
type Resizer interface {
	// Resize changes the size of the terminal and tells the run (SIGWINCH).
	Resize(size TerminalSize) error
}

// Exit is how a run ended, in the driver's eyes.
type Exit struct {
	// Code is the exit code: 128+n for death by signal n.
	Code int
	// Signal is the number of the signal that ended the run, or 0.
	Signal int
	// Reason is ReasonExited, ReasonSignaled, ReasonMemory, ReasonCPU or ReasonDenied. When Session asked
	// for the stop it puts its own reason in the place of all but ReasonMemory.
	Reason Reason
	// Forced is set when the run did not end in the orderly way that Stop asked for.
	Forced     bool
	Backend    string
	Advice     string
	WallTime   time.Duration
	CPUTime    time.Duration // Unknown where not measured
	PeakMemory int64         // Unknown where not measured
	// Result is the whole of it when a Session elsewhere has made it. Then nothing else is looked at but Err.
	Result *Result
	// Value and InterpreterLost are as in Result.
	Value           string
	InterpreterLost bool
	// Err is set instead of a code when the run's end is not known (ErrLost).
	Err error
}
