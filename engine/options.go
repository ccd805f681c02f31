package engine

import (
	"io"
	"log/slog"
	"time"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// ScriptType says what a script is written in.
type ScriptType string

// The script types. The zero value of RunOptions.Type is Python.
const (
	Python ScriptType = "python"
	Shell  ScriptType = "shell"
)

// Options are for Open. Nil and the zero value mean the defaults.
type Options struct {
	// WorkDir is a host directory that becomes the session's work directory. It must be absolute and
	// exist; it may be reached through a symbolic link. It stays after Close. Empty: a new directory
	// in the system's temporary directory, or in memory where that is how Limits.Disk holds, removed by Close.
	WorkDir string
	// Overlay is a host directory over which the session lies: the work directory has what is in it when the session
	// is opened, and what scripts change stays in the session until Session.Commit. It must be absolute and exist, it may
	// be reached through a symbolic link, and it must not hold the system's temporary directory. WorkDir must be empty.
	//
	// Open copies it, which takes time and room as large as the directory. Permission bits, times, links,
	// hard links and holes are as on the host; owners, extended attributes and set-user-ID bits are not, and FIFOs,
	// sockets and devices are left out. What may not be read is ErrInvalid. Nobody should change the directory
	// meanwhile: each file is then as it was at some moment. More than 1,048,576 entries are ErrTooLarge. Empty: none.
	//
	// For a program that is not root, with Limits.Disk or DiskFiles and a native tier that makes cells, it is an overlayfs
	// instead where that can be had: Info.OverlayKind. Nothing is copied then, and nobody should change the directory as
	// long as the session is open, since scripts may see it. To rename a directory that the host has is EXDEV.
	Overlay string
	// ReadOnly and ReadWrite are absolute host paths, of files or directories, that scripts see at
	// the same path. None may be "/", lie inside another or in the work directory or Overlay, or cover it. None may
	// cover or lie in what the tier provides itself (/dev, /proc, /sys, /tmp, ...). File calls do not
	// reach them.
	ReadOnly, ReadWrite []string
	// Network is the most that a run may have of the network. Zero: netpolicy.Blocked. The wasm tier has no
	// network whatever this says. An unknown mode is ErrInvalid; netpolicy.Allowlist is ErrNotAvailable.
	Network netpolicy.Mode
	// PythonTier is where Python scripts run: TierAuto, TierWasm or TierNative. Zero: TierAuto.
	//
	// With TierAuto a script goes to the wasm tier if all that it imports can be had there, and else to the native one;
	// Result.Route says why. That is decided before the first statement runs, from the syntax tree: imports that are
	// not guarded by try/except ImportError, those of the modules that they lead to, and uses of threads, processes and
	// sockets. With TierWasm a script that surely needs more is ErrNeedsNative, and another takes its chance. A session
	// that has one tier alone uses that.
	PythonTier Tier
	// Warm is Python source that is run once for the session, in the wasm tier, before its first Python run: all Python
	// runs of the session there then start with what it has imported and computed. The modules that it imports are found
	// as a script in the work directory finds them, and stay as they are then. An exception in it fails each run with
	// ErrNotStarted. It has the session's Timeout.
	Warm string
	// From opens the session on a snapshot: its work directory has the snapshot's files, and its live interpreter
	// starts as the snapshot's was. WorkDir and Warm must be empty. The snapshot may be closed when Open has returned.
	From *Snapshot
	// GPU gives native runs the host's NVIDIA devices and driver libraries. It is ErrNotAvailable where there
	// are none. The driver of such a device is part of the host's kernel and takes orders from the script.
	GPU bool
	// Venv gives native runs a Python virtual environment of the session's own, in VenvDir: what one run installs, with
	// pip or uv, the next one imports. It shows the packages of the host's Python and never changes them. It is made before
	// the first native run, by uv where the host has it and else by Python's venv, in some tenths of a second; one that is
	// there already is used. An installation from an index needs a network.
	Venv bool
	// Env is added to every run's environment. A run's own Env wins over it.
	Env map[string]string
	// Timeout ends each run that gives none of its own. Zero: 60 seconds; NoTimeout: none.
	Timeout time.Duration
	Limits  Limits
	// BestEffort accepts limits that cannot be enforced here; Session.Info tells which.
	BestEffort bool
	// MaxOutput caps each of stdout and stderr of a run, in bytes. Zero: 8 MiB; negative: no cap.
	// Output past the cap is dropped and Result.Truncated is set; the script does not notice. A
	// stream that is read while the run goes on (Process.Stdout, StdoutLines) has no cap: there the
	// script waits for the reader.
	MaxOutput int64
	// Logger gets steps and warnings, never script text, output or environment. Nil: none.
	Logger *slog.Logger
}

// NoTimeout is a Timeout for a run that may go on until it is cancelled.
const NoTimeout time.Duration = 1<<63 - 1

// Limits bound each run, except Disk and DiskFiles, which bound the work directory. Zero means the
// default that the field names; negative values are refused.
type Limits struct {
	// Memory is in bytes. Zero: 512 MiB. In the wasm tier it bounds the linear memory, which holds
	// the whole interpreter: the least is 64 MiB, the most 4 GiB.
	Memory int64
	// CPU is processor time. Zero: none.
	CPU time.Duration
	// Output is the sum of stdout and stderr in bytes after which a run is stopped. Zero: none.
	Output int64
	// OpenFiles is the number of descriptors that a run may hold. Zero: 256.
	OpenFiles int
	// FileSize is the size in bytes that a file may grow to. Zero: none. A write past it is EFBIG or SIGXFSZ for
	// the script. The wasm tier does not have it.
	FileSize int64
	// Tmp is the size of /tmp in bytes, TmpFiles the number of files and directories in it.
	// Zero: 64 MiB and 4096. In the wasm tier /tmp is memory of the embedding process.
	Tmp      int64
	TmpFiles int64
	// Disk is the size of all files in the work directory in bytes, DiskFiles the number of files and
	// directories. Zero: none.
	//
	// In a session with a native tier that makes cells, the work directory then lies in memory: a file system that
	// holds the limits for every tier, and that Info gives no HostDir for. Files there take whole pages (4 KiB on
	// most machines): Disk is rounded down to them, and less than one is ErrNotEnforceable. A hard link counts as
	// one more file. What a run adds counts as its memory too, so that it cannot be more than Memory, and takes
	// the host's memory or swap until it is removed or the session is closed; DiskFiles without Disk leaves the
	// size to that. Such a tier cannot bound a WorkDir that is given: that is ErrNotEnforceable.
	//
	// In other sessions the work directory is an ordinary one, and file calls and the tier count.
	//
	// What a session with Overlay has copied counts, at Open or (OverlayFS) when it is changed. When there is no room for it, Open returns ErrNoSpace.
	Disk      int64
	DiskFiles int64
	// Processes is the number of processes and threads. Zero: 256 in the native tier. The wasm tier
	// has one.
	Processes int
}

// RunOptions are for one run. Nil and the zero value mean the defaults.
type RunOptions struct {
	// Type is what the script is written in. Zero: Python.
	Type ScriptType
	// Name is the base name of the script's file, as tracebacks and argv[0] show it. Zero: "main.py"
	// or "main.sh". It must be a plain file name.
	Name string
	// Args follow the script's name in argv.
	Args []string
	// Env is added to the session's environment, and wins over it.
	Env map[string]string
	// Cwd is a directory in the work directory: relative to it, or absolute and inside it. Zero: the
	// work directory.
	Cwd string
	// Timeout ends the run. Zero: the session's; NoTimeout: none.
	Timeout time.Duration
	// MaxOutput is as in Options. Zero: the session's.
	MaxOutput int64
	// Stdin is read as the script reads. Nil: end of file at once. If a Read blocks for ever, the
	// goroutine that does it is left until it returns, as with os/exec.
	Stdin io.Reader
	// StdinPipe gives the run a Process.Stdin to write to. Stdin must be nil.
	StdinPipe bool
	// Background keeps what the script started alive when the script itself has ended: the run goes on until
	// the last process has ended by itself or the run is stopped, and its exit code is the script's. It has
	// no effect in the wasm tier, where a script starts nothing.
	Background bool
	// Interpreter chooses the interpreter of a Python run. Zero: InterpreterFresh.
	Interpreter Interpreter
	// Network is what this run has of the network. Zero: the session's; more than that is ErrInvalid.
	Network netpolicy.Mode
	// Terminal gives the run a terminal of this size as its stdin, stdout and stderr, and as its controlling
	// terminal. What it writes comes on stdout, as a terminal makes it (a newline is "\r\n"). Nil: none. It needs
	// the native tier. Process.Resize changes the size.
	Terminal *TerminalSize
}

// Interpreter is how long the interpreter of a Python run lives.
type Interpreter string

const (
	// InterpreterFresh is an interpreter of the run's own.
	InterpreterFresh Interpreter = "fresh"
	// InterpreterSession is the live interpreter of the session, in the wasm tier: what one run defines and imports, the next
	// one finds, and so its open files and its /tmp. A session has one, made by the first such run; runs that overlap take
	// turns, and the time that one waits counts as its own. Result.Value has the value of the last expression. An exception,
	// sys.exit too, leaves the interpreter as it is; a timeout, a cancellation, os._exit or a crash ends it, and
	// Result.InterpreterLost says so. Args, Stdin, Timeout and the output are each run's own. Env and Cwd are applied
	// where they differ from what the run before had. Limits.Memory and OpenFiles hold over its life, CPU and Output for each run.
	InterpreterSession Interpreter = "session"
)

// TerminalSize is the size of a terminal in characters, from 1 to 65535 each.
type TerminalSize struct{ Rows, Cols int }
