package main

import (
	"context"
	"errors"
	"io"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// A sandbox is a session with the driver that it runs in.
type sandbox struct {
	*engine.Session
	driver io.Closer
}

// openWasm opens a session in the wasm tier and gets the interpreter ready. progress is called meanwhile: on a
// machine where nothing is cached it takes seconds. The options are checked before that. The caller closes
// the sandbox.
func openWasm(ctx context.Context, opts *engine.Options, progress func(step string, done, total int)) (*sandbox, error) {
	// No instances are made ahead: this process runs one script.
	driver := wasm.New(&wasm.Options{Progress: progress, Idle: -1})
	session, err := driver.Open(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	if err := driver.Prepare(ctx); err != nil {
		// The driver stays open: its Close would wait for a compiler at work, which ends with the process.
		return nil, errors.Join(err, session.Close())
	}
	return &sandbox{session, driver}, nil
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
	return &sandbox{session, driver}, nil
}

// Close closes the session and then the driver.
func (s *sandbox) Close() error { return errors.Join(s.Session.Close(), s.driver.Close()) }
