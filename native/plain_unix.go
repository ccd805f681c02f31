//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/starter"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// plainSession is one session without cells: engine.DriverSession. A run is a child of this program in a session
// and a process group of its own.
type plainSession struct {
	driver *Driver
	spec   *engine.SessionSpec
	shell  program
	python program
	wrap   wrapper

	mu   sync.Mutex
	errs []error // of what could not be taken away
}

func openPlain(d *Driver, spec *engine.SessionSpec, wrap wrapper) (engine.DriverSession, error) {
	if spec.HostDir == "" {
		return nil, fmt.Errorf("%w: backend %s needs a work directory that has a path on the host", engine.ErrNotAvailable, d.opts.Backend)
	}
	if spec.Venv {
		return nil, fmt.Errorf("%w: Options.Venv with backend %s", engine.ErrNotAvailable, d.opts.Backend)
	}
	return &plainSession{driver: d, spec: spec, shell: findShell(), python: findPython(), wrap: wrap}, nil
}

// Start implements engine.DriverSession.
func (s *plainSession) Start(ctx context.Context, rs *engine.RunSpec) (engine.DriverRun, error) {
	p := s.shell
	if rs.Type == engine.Python {
		p = s.python
	}
	if p.path == "" {
		return nil, notThere(rs.Type)
	}
	if s.driver.opts.Backend == None && rs.Network != netpolicy.Open && !s.spec.BestEffort {
		return nil, networkNone("RunOptions", rs.Network)
	}
	if rs.Background {
		if _, err := sessionMembers(os.Getpid()); err != nil {
			return nil, fmt.Errorf("%w: Background: processes cannot be listed here: %w", engine.ErrNotAvailable, err)
		}
	}
	dirs, err := makeRunDirs(rs)
	if err != nil {
		return nil, err
	}
	r, err := s.begin(ctx, p, dirs, rs)
	if err != nil {
		return nil, errors.Join(err, dirs.remove())
	}
	return r, nil
}

// begin starts a run whose directories are there. On an error they are the caller's.
func (s *plainSession) begin(ctx context.Context, p program, dirs *runDirs, rs *engine.RunSpec) (*plainRun, error) {
	r := &plainRun{session: s, spec: rs, dirs: dirs, done: make(chan struct{})}
	ends, err := r.connect()
	if err != nil {
		return nil, err
	}
	defer ends.close()
	if s.wrap != nil {
		p = s.wrap(p, dirs, rs)
	}
	cwd, env := hostPath(rs.Cwd, s.spec.HostDir), hostEnv(rs.Env, s.spec.HostDir, dirs.tmp)
	if rs.Type == engine.Python {
		env = withPythonPath(env, cwd)
	}
	command := starter.Command{
		Path: p.path, Argv: append(append([]string{}, p.args...), append([]string{dirs.scriptFile(rs)}, rs.Args...)...),
		Env: env, Dir: cwd, Stdin: ends.in, Stdout: ends.out, Stderr: ends.err,
		Terminal: rs.Terminal != nil, Limits: plainLimits(&rs.Limits), Timeout: s.driver.opts.StartTimeout,
	}
	if err := r.start(ctx, &command); err != nil {
		r.streams.close()
		return nil, err
	}
	return r, nil
}

// plainLimits are limits of each process.
func plainLimits(l *engine.Limits) []starter.Limit {
	all := []starter.Limit{
		{Resource: unix.RLIMIT_CORE, Value: 0},
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
	}
	if l.FileSize > 0 {
		all = append(all, starter.Limit{Resource: unix.RLIMIT_FSIZE, Value: uint64(l.FileSize)})
	}
	return all
}

// left notes what could not be taken away; Close tells.
func (s *plainSession) left(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// Close implements engine.DriverSession. All runs have ended.
func (s *plainSession) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}
