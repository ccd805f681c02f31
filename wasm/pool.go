package wasm

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// pool gives instances that start from one base, and keeps some ready. It is safe for concurrent use.
type pool struct {
	interpreter *interpreter
	base        *base
	ahead       int // how many are made ahead
	most        int // how many are kept that were used: more runs than ahead came at once, and may again

	mu     sync.Mutex
	idle   []*instance
	closed bool
	making sync.WaitGroup
	giving atomic.Int64 // instances that are being put back
}

// keptPerIdle is how many instances that were used are kept for each that is made ahead.
const keptPerIdle = 8

// newPool makes a pool, which holds the base until it is closed.
func newPool(p *interpreter, b *base, ahead int) *pool {
	return &pool{interpreter: p, base: b.hold(), ahead: ahead, most: keptPerIdle * ahead}
}

// fresh makes an instance.
func (o *pool) fresh(ctx context.Context) (*instance, error) {
	return o.interpreter.fresh(ctx, o.base)
}

// take gives an instance to run one script in.
func (o *pool) take(ctx context.Context) (*instance, error) {
	o.mu.Lock()
	if n := len(o.idle); n > 0 {
		in := o.idle[n-1]
		o.idle = o.idle[:n-1]
		o.mu.Unlock()
		o.interpreter.taken.ready.Add(1)
		return in, nil
	}
	o.mu.Unlock()
	o.interpreter.taken.made.Add(1)
	return o.fresh(ctx)
}

// give takes an instance back and reports whether it serves again. One that is not as it was, or that
// there is no room for, is closed.
func (o *pool) give(ctx context.Context, in *instance, clean bool) bool {
	if !clean || in.memory.Grown() || o.has(o.most) || in.reset() != nil {
		in.close(ctx)
		return false
	}
	o.mu.Lock()
	kept := !o.closed && len(o.idle) < o.most
	if kept {
		o.idle = append(o.idle, in)
	}
	o.mu.Unlock()
	if !kept {
		in.close(ctx)
	}
	return kept
}

// giveSoon is give, and refill where the instance does not serve again. The caller does not wait for it unless as many others are
// given as there are processors: then more are taken than can be put back, and to wait is what makes fewer.
func (o *pool) giveSoon(ctx context.Context, in *instance, clean bool) {
	give := func() {
		defer o.giving.Add(-1)
		defer func() {
			if v := recover(); v != nil { // of the code that puts memory back: the run has its result
				o.interpreter.opts.Logger.Error("instance not put back", "err", fmt.Sprint(v))
			}
		}()
		if !o.give(ctx, in, clean) {
			o.refill(ctx)
		}
	}
	if o.giving.Add(1) > int64(runtime.GOMAXPROCS(0)) {
		give()
		return
	}
	o.making.Go(give)
}

// has reports whether so many are ready, or no more is wanted.
func (o *pool) has(n int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed || len(o.idle) >= n
}

// refill makes instances ahead, on a goroutine of its own.
func (o *pool) refill(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.idle) >= o.ahead {
		return
	}
	o.making.Go(func() {
		for !o.has(o.ahead) {
			in, err := o.fresh(ctx)
			if err != nil {
				o.interpreter.opts.Logger.Warn("make instance ahead", "err", err)
				return
			}
			o.give(ctx, in, true)
		}
	})
}

// close closes what is idle and lets the base go. No run may be under way.
func (o *pool) close(ctx context.Context) error {
	o.mu.Lock()
	o.closed = true
	idle := o.idle
	o.idle = nil
	o.mu.Unlock()
	o.making.Wait()
	for _, in := range idle {
		in.close(ctx)
	}
	return o.base.release()
}
