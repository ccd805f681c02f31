package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

const (
	// AnyBackend stands for every backend but NoIsolation.
	AnyBackend = "*"
	// NoIsolation is the backend that isolates nothing. A policy must name it.
	NoIsolation = "none"
	// NoMaximum is a limit in Policy.Max that may have any value.
	NoMaximum = -1
)

// A Policy is what a principal may ask for. The zero value allows sessions as they are without any options, with smaller limits
// too; each field allows something in addition. A nil *Policy is the zero one. It is not changed once it is in use.
type Policy struct {
	// Backends may be asked for beside the server's default: names, and AnyBackend.
	Backends []string
	// Network are the modes that may be asked for beside blocked.
	Network []netpolicy.Mode
	// PythonTiers may be asked for. Empty: all. When it does not have auto, a session that names no tier gets the first one.
	PythonTiers []engine.Tier
	// GPU and Venv allow the options of these names.
	GPU, Venv bool

	// WorkDirs, Overlays, ReadOnly and ReadWrite are roots: absolute paths of the server's host, without links. The option of
	// the same name may name them and what is below. Empty: nothing.
	//
	// What is asked for is followed through its links first, and what that leads to must be below a root. The check is of a
	// moment: who can put a link in the place of a directory below a root afterwards gets what the link leads to, with the
	// server's rights. So nobody whom the policy binds may be able to write in a root. Scripts are such: one with a root itself
	// as its WorkDir can put links in it. Let a root of WorkDirs and ReadWrite hold directories of which each is asked for as a
	// whole, and let no root, of any principal, lie in another one that scripts can write.
	WorkDirs, Overlays, ReadOnly, ReadWrite []string

	// Max has the highest limits. Zero: the default of that limit, and any value where the default is none. NoMaximum: any
	// value. A session that asks for no limit gets the default, or the maximum when that is less, or there is no default.
	Max engine.Limits
	// MaxTimeout is the longest time of a run. Zero: engine.DefaultTimeout. engine.NoTimeout: any time, and none.
	MaxTimeout time.Duration
	// MaxIdle and MaxLifetime are the longest idle timeout and lifetime of a session. Zero: as the server has them.
	MaxIdle, MaxLifetime time.Duration
	// MaxSessions and MaxRuns are how many sessions, and runs under way, the principal may have at once, MaxQueued how many
	// runs that wait, and MaxSnapshots how many snapshots. Zero: as many as the server allows. Negative: none.
	MaxSessions, MaxRuns, MaxQueued, MaxSnapshots int
	// AllowDetach allows runs that go on without their client.
	AllowDetach bool
	// AllowBestEffort allows sessions whose limits do not hold where the host cannot enforce them: those of Max too.
	AllowBestEffort bool
}

// A DeniedError is an engine.ErrDenied: Field names what was asked for, as the Go option is called, and Problem says what is allowed.
type DeniedError struct {
	Field   string
	Problem string
}

// Error implements error.
func (e *DeniedError) Error() string {
	return fmt.Sprintf("%s: the server's policy %s", e.Field, e.Problem)
}

// Is reports that a DeniedError is engine.ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == engine.ErrDenied }

// DefaultPolicy is for a server without a file of policies: everything but what reaches the host (its paths, its GPU, the
// backend none). It sets no maximum, and the network of the host may be asked for, with all that is in reach of it.
//
// It is also for callers without credentials on a loopback port. Every user of the host reaches that port, so does every container that
// shares its network, and a page in a browser needs but one hole in the checks of its Host and Origin. With OwnerPolicy all of
// them would be the user who runs the server: read_write of a home directory, or backend none, is that.
func DefaultPolicy() *Policy {
	return &Policy{
		Backends: []string{AnyBackend},
		Network:  netpolicy.Modes(),
		Venv:     true,
		Max: engine.Limits{
			Memory: NoMaximum, CPU: NoMaximum, Output: NoMaximum, OpenFiles: NoMaximum, FileSize: NoMaximum,
			Tmp: NoMaximum, TmpFiles: NoMaximum, Disk: NoMaximum, DiskFiles: NoMaximum, Processes: NoMaximum,
		},
		MaxTimeout:      engine.NoTimeout,
		AllowDetach:     true,
		AllowBestEffort: true,
	}
}

// OwnerPolicy is everything that the user who runs the server may do. It is for this user alone: on a unix socket of mode 0600
// (see OwnerOnly), or with a token. It is not for callers without credentials on a port: see DefaultPolicy.
func OwnerPolicy() *Policy {
	p := DefaultPolicy()
	p.Backends = append(p.Backends, NoIsolation)
	p.GPU = true
	root := []string{"/"}
	p.WorkDirs, p.Overlays, p.ReadOnly, p.ReadWrite = root, root, root, root
	return p
}

func (p *Policy) orZero() *Policy {
	if p == nil {
		return &Policy{}
	}
	return p
}

// AllowsBackend reports whether the backend of this name may be asked for. The server's default may in any case, by the empty
// name.
func (p *Policy) AllowsBackend(name string) bool {
	p = p.orZero()
	return name == "" || slices.Contains(p.Backends, name) || name != NoIsolation && slices.Contains(p.Backends, AnyBackend)
}

// Apply says whether a session of these options may be opened, and fills in what the policy says in the place of what is not
// set. Backend is empty for the server's default, also when that was asked for by its name; a server whose default is none gives that
// name. An error is a *DeniedError, or an *engine.InvalidError for what no policy allows; opts are as before then.
func (p *Policy) Apply(opts *engine.Options, backend string) error {
	p = p.orZero()
	o := *opts // changed as a whole, or not at all
	if !p.AllowsBackend(backend) {
		return &DeniedError{"Backend", "allows " + spelled(slices.Concat([]string{"the server's default"}, p.Backends))}
	}
	for _, step := range []func(*engine.Options) error{p.applyNetwork, p.applyTier, p.applySwitches, p.applyPaths, p.applyTimeout, p.applyLimits} {
		if err := step(&o); err != nil {
			return err
		}
	}
	*opts = o
	return nil
}

// ApplyRun is Apply for a run in a session that the policy has allowed.
func (p *Policy) ApplyRun(opts *engine.RunOptions, detach bool) error {
	p = p.orZero()
	if detach && !p.AllowDetach {
		return &DeniedError{"Detach", "does not allow it"}
	}
	if opts.Timeout == 0 {
		return nil // the session's, which is within the maximum
	}
	timeout, err := p.timeout(opts.Timeout)
	if err != nil {
		return err
	}
	opts.Timeout = timeout
	return nil
}

func (p *Policy) applyNetwork(o *engine.Options) error {
	if o.Network == "" || o.Network == netpolicy.Blocked || slices.Contains(p.Network, o.Network) {
		return nil
	}
	allowed := []netpolicy.Mode{netpolicy.Blocked}
	for _, m := range p.Network {
		if m != netpolicy.Blocked {
			allowed = append(allowed, m)
		}
	}
	return &DeniedError{"Network", "allows " + spelled(allowed)}
}

func (p *Policy) applyTier(o *engine.Options) error {
	switch {
	case len(p.PythonTiers) == 0 || slices.Contains(p.PythonTiers, o.PythonTier):
		return nil
	case o.PythonTier != "":
		return &DeniedError{"PythonTier", "allows " + spelled(p.PythonTiers)}
	case !slices.Contains(p.PythonTiers, engine.TierAuto):
		o.PythonTier = p.PythonTiers[0]
	}
	return nil
}

func (p *Policy) applySwitches(o *engine.Options) error {
	for _, s := range []struct {
		field        string
		asked, allow bool
	}{
		{"GPU", o.GPU, p.GPU},
		{"Venv", o.Venv, p.Venv},
		{"BestEffort", o.BestEffort, p.AllowBestEffort},
	} {
		if s.asked && !s.allow {
			return &DeniedError{s.field, "does not allow it"}
		}
	}
	return nil
}

func (p *Policy) applyTimeout(o *engine.Options) error {
	timeout, err := p.timeout(o.Timeout)
	if err != nil {
		return err
	}
	o.Timeout = timeout
	return nil
}

// timeout is what is in force when this one is asked for.
func (p *Policy) timeout(asked time.Duration) (time.Duration, error) {
	most := p.MaxTimeout
	if most == 0 {
		most = engine.DefaultTimeout
	}
	err := bound("Timeout", &asked, most, engine.DefaultTimeout)
	return asked, err
}

func (p *Policy) applyLimits(o *engine.Options) error {
	l, m, def := &o.Limits, &p.Max, engine.DefaultLimits()
	for _, err := range []error{
		bound("Limits.Memory", &l.Memory, m.Memory, def.Memory),
		bound("Limits.CPU", &l.CPU, m.CPU, def.CPU),
		bound("Limits.Output", &l.Output, m.Output, def.Output),
		bound("Limits.OpenFiles", &l.OpenFiles, m.OpenFiles, def.OpenFiles),
		bound("Limits.FileSize", &l.FileSize, m.FileSize, def.FileSize),
		bound("Limits.Tmp", &l.Tmp, m.Tmp, def.Tmp),
		bound("Limits.TmpFiles", &l.TmpFiles, m.TmpFiles, def.TmpFiles),
		bound("Limits.Disk", &l.Disk, m.Disk, def.Disk),
		bound("Limits.DiskFiles", &l.DiskFiles, m.DiskFiles, def.DiskFiles),
		bound("Limits.Processes", &l.Processes, m.Processes, def.Processes),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// bound keeps what is asked for within a maximum. Of asked and def, zero is none.
func bound[T int | int64 | time.Duration](field string, asked *T, most, def T) error {
	if *asked < 0 {
		return &engine.InvalidError{Field: field, Problem: "is negative"}
	}
	if most == 0 {
		most = def
	}
	switch {
	case most <= 0: // NoMaximum, or the default is none
	case *asked > most:
		return &DeniedError{field, fmt.Sprintf("allows at most %v", most)}
	case *asked == 0 && (def == 0 || def > most):
		*asked = most
	}
	return nil
}

// lifespan is what is in force for an idle timeout or a lifetime. Asked 0 gives def, or the policy's maximum if that is less.
// More than most, the server's maximum, is an *engine.InvalidError, more than the policy's a *DeniedError. A maximum of 0 is none.
func lifespan(field string, asked, def, most, policy time.Duration) (time.Duration, error) {
	switch {
	case asked < 0:
		return 0, &engine.InvalidError{Field: field, Problem: "is negative"}
	case asked == 0 && policy > 0 && (def == 0 || def > policy):
		return policy, nil
	case asked == 0:
		return def, nil
	case most > 0 && asked > most:
		return 0, &engine.InvalidError{Field: field, Problem: fmt.Sprintf("is more than the server's maximum, %v", most)}
	case policy > 0 && asked > policy:
		return 0, &DeniedError{field, fmt.Sprintf("allows at most %v", policy)}
	}
	return asked, nil
}

// idleTimeout is the idle timeout of a session that asks for this one, on a server with this default and maximum: see lifespan.
func (p *Policy) idleTimeout(asked, def, most time.Duration) (time.Duration, error) {
	return lifespan("IdleTimeout", asked, def, most, p.orZero().MaxIdle)
}

// lifetime is idleTimeout for the lifetime.
func (p *Policy) lifetime(asked, def, most time.Duration) (time.Duration, error) {
	return lifespan("Lifetime", asked, def, most, p.orZero().MaxLifetime)
}

// spelled puts names into a sentence.
func spelled[T ~string](names []T) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return strings.Join(all, ", ")
}
