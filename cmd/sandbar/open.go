package main

import (
	"context"
	"errors"
	"io"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// A sandbox is a session with the drivers that it runs in, or the client of the server that has it.
type sandbox struct {
	*engine.Session
	drivers []io.Closer
	client  *remote.Client // nil for a session of this process
	kept    bool           // the session stays on the server
}

// openPython opens a session for a Python script, which runs in the wasm tier, or with TierAuto perhaps in the native one,
// and gets the interpreter ready. Progress is called meanwhile: on a machine where nothing is cached it takes seconds. The
// options are checked before that. The caller closes the sandbox.
func openPython(ctx context.Context, opts *engine.Options, backend native.Backend, progress func(step string, done, total int)) (*sandbox, error) {
	// No instances are made ahead: this process runs one script.
	driver := wasm.New(&wasm.Options{Progress: progress, Idle: -1})
	box := &sandbox{drivers: []io.Closer{driver}}
	drivers := []engine.Driver{driver}
	if opts.PythonTier == engine.TierAuto {
		processes, err := native.New(&native.Options{Backend: backend})
		if err != nil {
			return nil, errors.Join(err, box.Close())
		}
		box.drivers = append(box.drivers, processes)
		drivers = append(drivers, engine.Deferred(processes))
	}
	var err error
	if box.Session, err = engine.Open(ctx, drivers, opts); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	if err := driver.Prepare(ctx); err != nil {
		// The driver stays open: its Close would wait for a compiler at work, which ends with the process.
		return nil, errors.Join(err, box.Session.Close())
	}
	return box, nil
}

// openNative opens a session in the native tier. The caller closes the sandbox.
func openNative(ctx context.Context, opts *engine.Options, backend native.Backend) (*sandbox, error) {
	driver, err := native.New(&native.Options{Backend: backend})
	if err != nil {
		return nil, err
	}
	session, err := driver.Open(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	return &sandbox{Session: session, drivers: []io.Closer{driver}}, nil
}

// Close closes the session, unless it is kept, and then the drivers.
func (s *sandbox) Close() error {
	var errs []error
	if s.Session != nil && !s.kept {
		errs = append(errs, s.Session.Close())
	}
	for _, d := range s.drivers {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}
