package wasm

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// interpreter is the compiled CPython, and what its instances start from. It is safe for concurrent use.
type interpreter struct {
	opts    Options
	runtime wazero.Runtime
	code    wazero.CompiledModule
	// pool has the instances of the standard image.
	pool *pool
	// taken counts what pools gave.
	taken taken
	// bare is the file system without anything of a user's, for making the image.
	bare *guestfs.Session
}

// fresh makes an instance that starts from a base. Who calls it holds the base until the instance is closed.
func (p *interpreter) fresh(ctx context.Context, b *base) (*instance, error) {
	in, err := instantiate(ctx, p.runtime, p.code, b.image)
	if err != nil {
		return nil, err
	}
	in.top = b.stack
	in.stack.Set(b.stack)
	return in, nil
}

func (p *interpreter) closeRuntime(ctx context.Context) error {
	if p.runtime == nil {
		return nil
	}
	err := p.runtime.Close(ctx)
	p.runtime, p.code = nil, nil
	return err
}

// close releases everything. No run may be under way.
func (p *interpreter) close(ctx context.Context) error {
	var err error
	if p.pool != nil {
		err = p.pool.close(ctx)
		p.pool = nil
	}
	return errors.Join(err, p.closeRuntime(ctx), p.bare.Close())
}

// wazeroVersion is the version that this program was built with.
var wazeroVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/tetratelabs/wazero" {
			return m.Version
		}
	}
	return "unknown"
})
