package sandbar

import (
	"context"
	"io"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// Open opens a session with both tiers: Python in this process, and shell scripts and native programs by
// the backend bubblewrap. Nil options mean the defaults. The caller closes the session.
//
// A session that only runs Python in the wasm tier needs no backend and pays nothing for it: the native tier is
// looked at with its first run. What is not available here, or cannot hold a limit that was asked for, that run
// says: ErrNotAvailable or ErrNotEnforceable of package engine. There are two exceptions. With Limits.Disk the native
// tier makes the work directory, in memory, and where it cannot, its runs are refused. With PythonTier native
// the session has no wasm tier, and Open says what the native one cannot hold.
//
// The first run in a process waits until the interpreter is ready: some seconds on a machine where it
// has not run before, some tens of milliseconds on others. Prepare does that ahead.
//
// A program that wants its own settings makes its drivers with wasm.New and native.New, and opens sessions with
// engine.Open.
func Open(ctx context.Context, opts *Options) (*Session, error) {
	return OpenWith(ctx, Bubblewrap, opts)
}

// OpenWith is Open with another backend of the native tier. No other one is ever used in its place. An unknown one is
// engine.ErrInvalid. The empty one is Bubblewrap.
func OpenWith(ctx context.Context, backend Backend, opts *Options) (*Session, error) {
	processes, err := shared.native(backend)
	if err != nil {
		return nil, err
	}
	if opts != nil && opts.PythonTier == engine.TierNative {
		return processes.Open(ctx, opts)
	}
	return engine.Open(ctx, []engine.Driver{shared.wasm(), engine.Deferred(processes)}, opts)
}

// ReadSnapshot reads what Snapshot.WriteTo has written, to the end of r. Limit bounds what it may unpack to, in bytes of memory
// and files together. The caller closes the snapshot. Errors are those of engine.ReadSnapshot.
func ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*Snapshot, error) {
	return engine.ReadSnapshot(ctx, []engine.Driver{shared.wasm()}, r, limit)
}

// Prepare gets the interpreter ready, so that the first run does not wait for it.
func Prepare(ctx context.Context) error { return shared.wasm().Prepare(ctx) }

// shared are the drivers that the sessions of this process use. They stay for the life of the process, as
// http.DefaultTransport does: compiled code and image are worth keeping, and an idle driver has no goroutines.
var shared = &drivers{wasm: sync.OnceValue(func() *wasm.Driver { return wasm.New(nil) })}

// drivers are one for the wasm tier, and one for each backend that was asked for.
type drivers struct {
	wasm func() *wasm.Driver

	mu       sync.Mutex
	backends map[Backend]*native.Driver
}

func (d *drivers) native(b Backend) (*native.Driver, error) {
	if b == "" {
		b = Bubblewrap
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if made := d.backends[b]; made != nil {
		return made, nil
	}
	made, err := native.New(&native.Options{Backend: b})
	if err != nil {
		return nil, err
	}
	if d.backends == nil {
		d.backends = map[Backend]*native.Driver{}
	}
	d.backends[b] = made
	return made, nil
}
