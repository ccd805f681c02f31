package sandbar

import (
	"context"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

// shared is the Python tier that the sessions of Open use. It stays for the life of the process, as
// http.DefaultTransport does: compiled code and image are worth keeping, and an idle one has no
// goroutines.
var shared = sync.OnceValue(func() *wasm.Driver { return wasm.New(nil) })

// Open opens a session with the tiers of this program. Nil options mean the defaults. The caller closes
// the session. The first run in a process waits until the interpreter is ready: some seconds on a
// machine where it has not run before, some tens of milliseconds on others. Prepare does that ahead.
//
// A program that wants its own settings for the interpreter makes a driver with wasm.New and opens
// sessions with it.
func Open(ctx context.Context, opts *engine.Options) (*engine.Session, error) {
	return shared().Open(ctx, opts)
}

// Prepare gets the interpreter ready, so that the first run does not wait for it.
func Prepare(ctx context.Context) error { return shared().Prepare(ctx) }
