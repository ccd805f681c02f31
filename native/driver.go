package native

import (
	"context"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// Driver is the native tier with one backend: an engine.Driver. It is safe for concurrent use and serves
// any number of sessions.
type Driver struct {
	opts Options
	host host
}

// New makes a driver. It starts nothing yet: whether the backend works here shows in the first native
// run, or in Prepare. Errors: engine.ErrInvalid. The caller closes the driver, after its sessions.
func New(opts *Options) (*Driver, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Driver{opts: o}
	d.host.init(&d.opts)
	return d, nil
}

// Open opens a session that has this tier only. The session does not close the driver.
func (d *Driver) Open(ctx context.Context, opts *engine.Options) (*engine.Session, error) {
	return engine.Open(ctx, []engine.Driver{d}, opts)
}

// Tier implements engine.Driver.
func (d *Driver) Tier() engine.Tier { return engine.TierNative }

// Info implements engine.Driver.
func (d *Driver) Info() engine.DriverInfo {
	info := engine.DriverInfo{Tier: engine.TierNative, Backend: string(d.opts.Backend), Versions: map[string]string{}, Enforced: map[string]string{}}
	switch d.opts.Backend {
	case None:
		info.Warnings = append(info.Warnings, warnNone)
		info.Unenforced, info.Unmeasured = unenforcedPlain, unmeasuredPlain
	case SandboxExec:
		sandboxExecInfo(&info)
	default:
		d.cellInfo(&info)
	}
	return info
}

// OpenSession implements engine.Driver.
func (d *Driver) OpenSession(_ context.Context, spec *engine.SessionSpec) (engine.DriverSession, error) {
	switch d.opts.Backend {
	case None:
		return openNone(d, spec)
	case SandboxExec:
		return openSandboxExec(d, spec)
	default:
		return openCells(d, spec)
	}
}

// Prepare runs an empty script, in a cell if the backend makes cells, and so tells whether the backend works here.
// The error is a *StartError, which is engine.ErrNotAvailable.
func (d *Driver) Prepare(ctx context.Context) error {
	opts := &engine.Options{}
	if d.opts.Backend == None {
		opts.Network = netpolicy.Open // it can do no less
	}
	s, err := d.Open(ctx, opts)
	if err != nil {
		return err
	}
	_, err = s.Exec(ctx, ":", &engine.RunOptions{Type: engine.Shell})
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return err
}
