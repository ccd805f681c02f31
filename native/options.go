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
	// None: a process group and resource limits, and no isolation.
	None Backend = "none"
	// SandboxExec: sandbox-exec(1) of macOS.
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
	// StartTimeout bounds the making of a cell. Zero: 10 seconds.
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
