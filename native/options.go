package native

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// Backend is how the native tier isolates.
type Backend string

// The backends.
const (
	// Bubblewrap: namespaces and mounts are made by bwrap, the confinement is ours. The default.
	Bubblewrap Backend = "bubblewrap"
	// Userns: namespaces and mounts are made by this program. It needs no other.
	Userns Backend = "userns"
	// None: no isolation. A script is a child of this program with all its rights, in a session and a process group of
	// its own; OpenFiles and FileSize hold. Who wants that has to say so: Network must be netpolicy.Open and ReadOnly
	// empty, unless BestEffort.
	//
	// There is no engine.WorkDir: the script is in Info.HostDir. HOME, PATH, PWD and VIRTUAL_ENV lead there where they
	// name WorkDir, and TMPDIR to a directory of the run's own where it is /tmp; arguments and other variables stay as they
	// are. When a run ends, its session is killed. What has made another one (setsid(2)) goes on, and so does a script
	// whose embedding program is killed.
	None Backend = "none"
	// SandboxExec: as None, under a profile of sandbox-exec(1) of macOS. A script reads and executes the system's programs,
	// writes to the work directory, to TMPDIR and to what was granted, and has no network or the host's; it signals its own
	// processes alone. It may learn of other processes of the same user. Apple calls the program deprecated.
	SandboxExec Backend = "sandbox-exec"
)

// Backends are all backends.
func Backends() []Backend { return []Backend{Bubblewrap, Userns, None, SandboxExec} }

// Options are for New. Nil and the zero value mean the defaults.
type Options struct {
	// Backend is the only one that is used. Zero: Bubblewrap.
	Backend Backend
	// Bubblewrap is the path of bwrap. Zero: /usr/bin/bwrap, or else one in /usr/local/bin or /bin. PATH is
	// not asked.
	Bubblewrap string
	// StartTimeout bounds the making of a cell, and without cells the start of a script. Zero: 10 seconds.
	StartTimeout time.Duration
	// Logger gets steps and warnings. Nil: none.
	Logger *slog.Logger
}

// OutsideID is the user and group on the host that scripts have when the embedding program is root: nobody
// else's, and without any right. It is far above what systems hand out to users, services and containers.
const OutsideID = 0x7ffe_5bad

// bwrapPaths are where bwrap is looked for. Not in PATH: who sets it must not choose what isolates.
var bwrapPaths = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"}

// errNoBwrap: bubblewrap is not installed.
var errNoBwrap = errors.New("bubblewrap is not installed")

const defaultStartTimeout = 10 * time.Second

// withDefaults checks the options and fills in the defaults.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	switch c.Backend {
	case "":
		c.Backend = Bubblewrap
	case Bubblewrap, Userns, None, SandboxExec:
	default:
		return c, &engine.InvalidError{Field: "Backend", Problem: fmt.Sprintf("%q is not a backend; there are %v", c.Backend, Backends())}
	}
	if c.StartTimeout < 0 {
		return c, &engine.InvalidError{Field: "StartTimeout", Problem: "is negative"}
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = defaultStartTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
