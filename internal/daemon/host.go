package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// host opens the sessions of the server: server.Host. It has the tiers of the process.
type host struct {
	wasm     *wasm.Driver
	backends map[string]*native.Driver
}

// newHost makes the tiers. The cache is used when the user has none. The caller closes the host, after the server.
func newHost(backends []string, cache string, log *slog.Logger) (*host, error) {
	if _, err := os.UserCacheDir(); err == nil {
		cache = ""
	}
	h := &host{wasm: wasm.New(&wasm.Options{CacheDir: cache, Logger: log}), backends: map[string]*native.Driver{}}
	for _, b := range backends {
		d, err := native.New(&native.Options{Backend: native.Backend(b), Logger: log})
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		h.backends[b] = d
	}
	return h, nil
}

// Open implements server.Host. What sandbar.OpenWith says holds here too.
func (h *host) Open(ctx context.Context, backend string, opts *engine.Options) (*engine.Session, error) {
	processes := h.backends[backend]
	if processes == nil {
		return nil, &engine.InvalidError{Field: "Backend", Problem: "is none of this server's"}
	}
	if opts.PythonTier == engine.TierNative {
		return processes.Open(ctx, opts)
	}
	return engine.Open(ctx, []engine.Driver{h.wasm, engine.Deferred(processes)}, opts)
}

// ReadSnapshot implements server.Host.
func (h *host) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	return engine.ReadSnapshot(ctx, []engine.Driver{h.wasm}, r, limit)
}

// Close closes the tiers.
func (h *host) Close() error {
	err := h.wasm.Close()
	for _, d := range h.backends {
		err = errors.Join(err, d.Close())
	}
	return err
}
