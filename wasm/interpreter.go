package wasm

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

// interpreter is the compiled CPython with its image, and the instances that are ready. It is safe for
// concurrent use.
type interpreter struct {
	opts    Options
	runtime wazero.Runtime
	code    wazero.CompiledModule
	image   *cow.Image
	stack   uint64
	// bare is the file system without anything of a user's, for making the image.
	bare *guestfs.Session

	mu     sync.Mutex
	idle   []*instance
	closed bool
	making sync.WaitGroup
}

// fresh makes an instance.
func (p *interpreter) fresh(ctx context.Context) (*instance, error) {
	in, err := instantiate(ctx, p.runtime, p.code, p.image)
	if err != nil {
		return nil, err
	}
	in.top = p.stack
	in.stack.Set(p.stack)
	return in, nil
}

// take gives an instance to run one script in.
func (p *interpreter) take(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		in := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return in, nil
	}
	p.mu.Unlock()
	return p.fresh(ctx)
}

// give takes an instance back and reports whether it serves again. One that is not as it was, or that
// there is no room for, is closed.
func (p *interpreter) give(ctx context.Context, in *instance, clean bool) bool {
	if !clean || in.memory.Grown() || p.full() || in.reset() != nil {
		in.close(ctx)
		return false
	}
	p.mu.Lock()
	kept := !p.closed && len(p.idle) < p.opts.Idle
	if kept {
		p.idle = append(p.idle, in)
	}
	p.mu.Unlock()
	if !kept {
		in.close(ctx)
	}
	return kept
}

func (p *interpreter) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed || len(p.idle) >= p.opts.Idle
}

// refill makes instances ahead, up to Options.Idle, on a goroutine of its own.
func (p *interpreter) refill(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.opts.Idle {
		return
	}
	p.making.Go(func() {
		for !p.full() {
			in, err := p.fresh(ctx)
			if err != nil {
				p.opts.Logger.Warn("make instance ahead", "err", err)
				return
			}
			p.give(ctx, in, true)
		}
	})
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
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	p.making.Wait()
	for _, in := range idle {
		in.close(ctx)
	}
	err := p.closeRuntime(ctx)
	if p.image != nil {
		err = errors.Join(err, p.image.Close())
		p.image = nil
	}
	return errors.Join(err, p.bare.Close())
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
