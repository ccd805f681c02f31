package wasm

import (
	"context"
	"fmt"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// warmUp runs Options.Warm in an interpreter of the standard image and makes an image of what is left. It is as a run in
// what it may do: the first run's environment, timeout and limits.
func (s *session) warmUp(starting context.Context, p *interpreter, spec *engine.RunSpec) (*pool, error) {
	ctx := context.WithoutCancel(starting)
	in, err := p.pool.fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer in.close(ctx)
	in.memory.SetLimit(uint64(spec.Limits.Memory))
	var output errorText
	files := guestfs.RunConfig{TmpBytes: spec.Limits.Tmp, TmpFiles: spec.Limits.TmpFiles}
	w := newWorld(in, s.files, files, wasi.Config{MaxFiles: spec.Limits.OpenFiles}, &stdio{stdout: &output, stderr: &output})
	defer w.close()
	defer context.AfterFunc(starting, func() { w.run.control.stop(0) })()
	defer w.run.control.stopAfter(spec.Timeout)()
	guests.Add(1)
	defer guests.Add(-1)
	shadow := s.shadowed(engine.WorkDir, spec.Env)
	snap, err := warm(w.context(ctx), in, warmRequest(s.spec.Warm, engine.WorkDir, spec.Env, shadow))
	if err != nil {
		return nil, &warmError{output.text(), firstLineOf(err)}
	}
	snap.hot = p.pool.base.image.Hot()
	b, err := newBase(snap)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.release() }()
	return newPool(p, b, min(1, p.opts.Idle)), nil
}

// warmError is that Options.Warm cannot be run.
type warmError struct {
	output string
	err    error
}

// Error implements error. It is for who wrote the source.
func (e *warmError) Error() string { return fmt.Sprintf("Options.Warm: %s: %v", e.output, e.err) }

func (e *warmError) Unwrap() error { return e.err }

// ScriptText is the part of Error that the script wrote. A log does not get it.
func (e *warmError) ScriptText() string { return e.output }
