package main

import (
	"context"
	"errors"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

// A sandbox is a session with the driver that it runs in.
type sandbox struct {
	*engine.Session
	driver *wasm.Driver
}

// open opens a session and gets the interpreter ready. progress is called meanwhile: on a machine where
// nothing is cached it takes seconds. The options are checked before that. The caller closes the sandbox.
func open(ctx context.Context, opts *engine.Options, progress func(step string, done, total int)) (*sandbox, error) {
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

// Close closes the session and then the driver.
func (s *sandbox) Close() error { return errors.Join(s.Session.Close(), s.driver.Close()) }
