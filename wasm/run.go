package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// The result of the shim's sandbar_run.
const (
	resultCode   = 0xff
	resultMemory = 0x100
)

// Exit codes of ends that are not the script's own, as a shell gives them for signals.
const (
	codeAbort  = 134 // SIGABRT
	codeKilled = 137 // SIGKILL
	codeFault  = 139 // SIGSEGV
	codeCPU    = 152 // SIGXCPU
)

// execution is one run: engine.DriverRun.
type execution struct {
	interpreter *interpreter
	instance    *instance
	world       *world
	spec        *engine.RunSpec
	done        chan struct{}
	exit        engine.Exit
}

// Stop implements engine.DriverRun.
func (e *execution) Stop(grace time.Duration) { e.world.run.control.stop(grace) }

// Wait implements engine.DriverRun.
func (e *execution) Wait() engine.Exit {
	<-e.done
	return e.exit
}

// request is what sandbar_run reads.
func request(name, cwd string, args, env []string) []byte {
	b := appendField(make([]byte, 0, 512), path.Join(guestfs.ScriptDir, name))
	b = appendField(b, cwd)
	b = appendFields(b, args)
	return appendFields(b, env)
}

// start runs the script on a goroutine of its own.
func start(p *interpreter, in *instance, session *guestfs.Session, spec *engine.RunSpec) *execution {
	e := &execution{interpreter: p, instance: in, spec: spec, done: make(chan struct{})}
	files := guestfs.RunConfig{
		ScriptName: spec.Name, Script: spec.Script,
		TmpBytes: spec.Limits.Tmp, TmpFiles: spec.Limits.TmpFiles,
	}
	e.world = newWorld(in, session, files, wasi.Config{
		Args: []string{spec.Name}, Environ: nil,
		Stdin: spec.Stdin, Stdout: spec.Stdout, Stderr: spec.Stderr,
		MaxFiles: spec.Limits.OpenFiles, CPUClock: e.cpuClock(),
	})
	in.memory.SetLimit(uint64(spec.Limits.Memory))
	go e.main()
	return e
}

// cpuClock gives the guest's process_time; nil where the thread's clock is not known.
func (e *execution) cpuClock() func() time.Duration {
	if threadCPU() < 0 {
		return nil
	}
	return func() time.Duration { return e.world.run.control.cpu() }
}

// main is the run's goroutine.
func (e *execution) main() {
	defer close(e.done)
	ctx := context.Background() // nothing but stop ends a guest: see control
	began := time.Now()
	clean := e.measured(func() bool { return e.execute(ctx) })
	e.exit.WallTime = time.Since(began)
	e.exit.PeakMemory = int64(e.instance.memory.Size())
	e.exit.Advice = e.world.run.advice
	e.protect(e.world.close)
	if !e.interpreter.give(ctx, e.instance, clean) {
		e.interpreter.refill(ctx)
	}
}

// measured calls f on a thread of its own, whose clock is the run's.
func (e *execution) measured(f func() bool) (clean bool) {
	guests.Add(1)
	defer guests.Add(-1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	c := e.world.run.control
	c.cpu = func() time.Duration { return threadCPU() - before }
	if before >= 0 {
		c.cpuLimit = e.spec.Limits.CPU
	}
	e.protect(func() { clean = f() })
	e.exit.CPUTime = engine.Unknown
	if before >= 0 {
		e.exit.CPUTime = c.cpu()
	}
	return clean
}

// protect calls f. A panic in it ends this run only, as one in a host function does, which wazero recovers.
func (e *execution) protect(f func()) {
	defer func() {
		if v := recover(); v != nil {
			e.panicked(fmt.Errorf("%v", v))
		}
	}()
	f()
}

// panicked notes that code of the host did what it must not: how the script would have ended is not known.
func (e *execution) panicked(err error) {
	e.exit.Err = fmt.Errorf("host function: %s", firstLine(err))
	e.interpreter.opts.Logger.Error("host function panicked", "run", e.spec.ID, "err", err)
}

// execute calls the guest and reports whether the instance ended in an orderly way.
func (e *execution) execute(parent context.Context) bool {
	ctx := e.world.context(parent)
	s := e.spec
	result, err := e.instance.call(ctx, e.instance.run, request(s.Name, s.Cwd, s.Args, s.Env))
	var left exited
	switch {
	case err == nil:
		e.exit.Code, e.exit.Reason = int(result&resultCode), engine.ReasonExited
		if result&resultMemory != 0 && e.instance.memory.Refused() {
			e.exit.Code, e.exit.Reason = codeKilled, engine.ReasonMemory
		}
		return !e.world.run.control.delivered
	case errors.As(err, &left):
		// os._exit: what is buffered is lost, as it is natively.
		e.exit.Code, e.exit.Reason = int(left.code&resultCode), engine.ReasonExited
		return false
	}
	e.drain(ctx)
	e.exit.Forced = true
	e.failed(err)
	return false
}

// failed fills in the end of a run that a stop, a trap or a panic ended.
func (e *execution) failed(err error) {
	switch {
	case errors.Is(err, errKilled):
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeKilled, 9, engine.ReasonSignaled
	case errors.Is(err, errCPU):
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeCPU, 24, engine.ReasonCPU
	case strings.Contains(err.Error(), recovered):
		e.panicked(err)
	case e.instance.memory.Refused():
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeKilled, 9, engine.ReasonMemory
	default:
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeAbort, 6, engine.ReasonSignaled
		trap := firstLine(err)
		if strings.Contains(trap, "stack overflow") || strings.Contains(trap, "out of bounds") {
			e.exit.Code, e.exit.Signal = codeFault, 11
		}
		_, _ = io.WriteString(e.spec.Stderr, "sandbar: the interpreter crashed: "+trap+"\n")
	}
}

// drain gets out what Python had buffered when it was stopped. The interpreter may be in any state: it is
// given a bounded number of loops, and its failure does not matter.
func (e *execution) drain(ctx context.Context) {
	e.world.run.control.draining = drainTicks
	e.instance.counter.Set(tickBudget)
	stack := e.instance.stack.Get()
	if stack < redZone || stack > math.MaxUint32 {
		return
	}
	e.instance.stack.Set(stack - redZone)
	_ = e.instance.drain.CallWithStack(ctx, nil)
}

// recovered is what wazero adds to a panic of a host function, and not to a trap.
const recovered = " (recovered by wazero)"

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, recovered)
}
