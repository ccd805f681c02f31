package wasm

import (
	"context"
	"time"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// freshPlace is an interpreter of the run's own: place.
type freshPlace struct {
	pool     *pool
	instance *instance
}

func (f freshPlace) enter(_ context.Context, e *execution) (*seat, error) {
	in, s := f.instance, e.spec
	io := &stdio{stdin: s.Stdin, stdout: s.Stdout, stderr: s.Stderr}
	files := guestfs.RunConfig{ScriptName: s.Name, Script: s.Script, TmpBytes: s.Limits.Tmp, TmpFiles: s.Limits.TmpFiles}
	w := newWorld(in, e.session.files, files, wasi.Config{
		Args: []string{s.Name}, MaxFiles: s.Limits.OpenFiles, CPUClock: e.control.cpuClock(),
	}, io)
	w.use(e.control, in)
	in.memory.SetLimit(uint64(s.Limits.Memory))
	return &seat{instance: in, world: w, stdio: io}, nil
}

func (f freshPlace) call(ctx context.Context, e *execution, s *seat) (uint32, error) {
	scan := e.verdict.ask(f.pool.interpreter, e, s)
	result, err := s.instance.call(ctx, s.instance.run, runRequest(e.spec, scan, e.shadow))
	e.verdict.end(s)
	return result, err
}

func (f freshPlace) leave(ctx context.Context, e *execution, s *seat, clean bool) {
	e.protect(s.world.close)
	f.pool.giveSoon(ctx, s.instance, clean)
}

// cpuClock gives the guest's process_time; nil where the thread's clock is not known.
func (c *control) cpuClock() func() time.Duration {
	if threadCPU() < 0 {
		return nil
	}
	return func() time.Duration { return c.cpu() }
}
