package main

import (
	"context"
	"errors"
	"os"

	"github.com/sandbar-dev/sandbar/wasm"
)

// prepare is what the first run in a process waits for.
func prepare(ctx context.Context, s *settings, r *report) (err error) {
	dir, err := os.MkdirTemp("", "sandbar-bench-*")
	if err != nil {
		return err
	}
	defer also(&err, func() error { return os.RemoveAll(dir) })
	none := &competitor{name: "nothing cached", run: func() error { return prepareOnce(ctx, &wasm.Options{NoCache: true}) }}
	if err := compare(ctx, 0, max(1, s.rounds/30), []*competitor{none}); err != nil {
		return err
	}
	cached := &competitor{name: "from the cache", run: func() error { return prepareOnce(ctx, &wasm.Options{CacheDir: dir}) }}
	if err := compare(ctx, 1, max(3, s.rounds/5), []*competitor{cached}); err != nil {
		return err
	}
	r.table(quantiles("Getting the interpreter ready, once a process", []*competitor{cached, none}))
	return nil
}

func prepareOnce(ctx context.Context, opts *wasm.Options) error {
	d := wasm.New(opts)
	return errors.Join(d.Prepare(ctx), d.Close())
}
