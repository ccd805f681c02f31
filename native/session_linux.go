package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// session is one session in cells: engine.DriverSession.
type session struct {
	driver *Driver
	spec   *engine.SessionSpec
	shell  program
	python program
	venv   venv

	mu     sync.Mutex
	idle   map[netpolicy.Mode]*cell // at most one per network posture
	cells  int                      // made so far: names their groups
	closed bool
	// live counts the cells that are being made, that serve or that are being ended.
	live sync.WaitGroup
	errs []error
}

// openCells opens a session of a backend that makes cells. It makes none yet.
func openCells(d *Driver, spec *engine.SessionSpec) (engine.DriverSession, error) {
	if err := enforceable(d, spec); err != nil {
		return nil, err
	}
	if spec.Network == netpolicy.Open && d.host.landlock() < abiScopes && !spec.BestEffort {
		return nil, fmt.Errorf("%w: network mode open: this kernel's Landlock (ABI %d) cannot keep a script from the host's abstract Unix sockets; Linux 6.12 can (ABI %d)",
			engine.ErrNotAvailable, d.host.landlock(), abiScopes)
	}
	if spec.GPU {
		if _, _, err := findGPU(os.DirFS("/")); err != nil {
			return nil, err
		}
	}
	return &session{driver: d, spec: spec, shell: findShell(), python: findPython(), idle: map[netpolicy.Mode]*cell{}}, nil
}

// abiScopes is the version of Landlock's interface that has scopes for signals and abstract sockets.
const abiScopes = 6

// enforceable refuses what the engine cannot know to be out of reach.
func enforceable(d *Driver, spec *engine.SessionSpec) error {
	if spec.BestEffort {
		return nil
	}
	if _, err := d.host.groups(); err != nil && spec.Limits.CPU > 0 {
		return fmt.Errorf("%w: Limits.CPU: %w", engine.ErrNotEnforceable, err)
	}
	return nil
}

// Start implements engine.DriverSession.
func (s *session) Start(ctx context.Context, rs *engine.RunSpec) (engine.DriverRun, error) {
	p, err := s.program(rs)
	if err != nil {
		return nil, err
	}
	if err := s.readyVenv(ctx); err != nil {
		return nil, err
	}
	return s.startIn(ctx, p, rs)
}

// startIn starts a program in a cell that is idle or new.
func (s *session) startIn(ctx context.Context, p program, rs *engine.RunSpec) (*run, error) {
	for {
		c, fresh, err := s.take(ctx, rs.Network)
		if err != nil {
			return nil, err
		}
		r, err := s.begin(c, p, rs)
		if err == nil {
			return r, nil
		}
		s.end(c)
		// A cell that was idle may have died meanwhile: then nothing was sent to it.
		if fresh || !errors.Is(err, errNotSent) {
			return nil, err
		}
	}
}

// take gives an idle cell, or makes one.
func (s *session) take(ctx context.Context, mode netpolicy.Mode) (c *cell, fresh bool, err error) {
	s.mu.Lock()
	if c = s.idle[mode]; c != nil {
		delete(s.idle, mode)
		s.mu.Unlock()
		return c, false, nil
	}
	s.cells++
	name := fmt.Sprintf("%s-%d", s.spec.ID[:min(len(s.spec.ID), 12)], s.cells)
	s.mu.Unlock()
	s.live.Add(1)
	if c, err = s.make(ctx, name, mode); err != nil {
		s.live.Done()
		return nil, true, err
	}
	return c, true, nil
}

// make makes a cell in a group of its own.
func (s *session) make(ctx context.Context, name string, mode netpolicy.Mode) (*cell, error) {
	group, err := s.newGroup(name)
	if err != nil {
		return nil, err
	}
	c, err := s.driver.makeCell(ctx, s.spec, mode, group)
	if err != nil {
		if group != nil {
			err = errors.Join(err, group.Close())
		}
		return nil, err
	}
	c.group, c.mode = group, mode
	return c, nil
}

// newGroup makes a cgroup with the session's limits. Where there are none, limits that were asked for have
// been refused before.
func (s *session) newGroup(name string) (*cgroup.Group, error) {
	parent, err := s.driver.host.groups()
	if err != nil {
		return nil, nil //nolint:nilerr // the engine and enforceable have decided that it can do without
	}
	// The init and its threads are in the group as well.
	limits := cgroup.Limits{Memory: s.spec.Limits.Memory, Processes: s.spec.Limits.Processes + initThreads}
	for _, name := range s.driver.host.missing() { // the defaults, which nobody asked for
		switch name {
		case "Memory":
			limits.Memory = 0
		case "Processes":
			limits.Processes = 0
		}
	}
	return parent.New(name, limits)
}

// initThreads is what the init's own threads take of the limit of processes.
const initThreads = 16

// give takes a cell back after a run.
func (s *session) give(c *cell, clean bool) {
	clean = clean && !s.burdened(c)
	s.mu.Lock()
	keep := clean && !s.closed && s.idle[c.mode] == nil
	if keep {
		s.idle[c.mode] = c
	}
	s.mu.Unlock()
	if !keep {
		s.end(c)
	}
}

// end ends a cell, without making anybody wait for it but Close.
func (s *session) end(c *cell) {
	c.kill()
	go func() {
		defer s.live.Done()
		if err := c.close(); err != nil {
			s.mu.Lock()
			s.errs = append(s.errs, err)
			s.mu.Unlock()
		}
	}()
}

// Close implements engine.DriverSession.
func (s *session) Close() error {
	s.mu.Lock()
	s.closed = true
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, c := range idle {
		s.end(c)
	}
	s.live.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}
