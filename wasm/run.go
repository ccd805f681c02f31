package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// The result of the shim's sandbar_run and sandbar_live.
const (
	resultCode   = 0xff
	resultMemory = 0x100
	resultAway   = 0x200
)

// Exit codes of ends that are not the script's own, as a shell gives them for signals.
const (
	codeAbort     = 134 // SIGABRT
	codeInterrupt = 130 // SIGINT
	codeKilled    = 137 // SIGKILL
	codeFault     = 139 // SIGSEGV
	codeCPU       = 152 // SIGXCPU
)

// execution is one run: engine.DriverRun and engine.Interrupter.
type execution struct {
	session *session
	spec    *engine.RunSpec
	place   place
	control *control
	verdict verdict
	shadow  []string // modules of the image in whose place the script has files of its own
	spoilt  bool     // the interpreter cannot be used any more, though the script has ended in an orderly way
	done    chan struct{}
	exit    engine.Exit
}

// place is the interpreter that a run gets.
type place interface {
	// enter gives an interpreter and what it sees, for this run alone until leave. It waits where the interpreter is
	// another run's.
	enter(ctx context.Context, e *execution) (*seat, error)
	// call executes the script.
	call(ctx context.Context, e *execution, s *seat) (result uint32, err error)
	// leave takes the interpreter back. Clean says that the script has ended in an orderly way.
	leave(ctx context.Context, e *execution, s *seat, clean bool)
}

// seat is an interpreter with what it sees.
type seat struct {
	instance *instance
	world    *world
	stdio    *stdio
}

// Stop implements engine.DriverRun.
func (e *execution) Stop(grace time.Duration) { e.control.stop(grace) }

// Interrupt implements engine.Interrupter.
func (e *execution) Interrupt() error {
	e.control.interrupt()
	return nil
}

// Wait implements engine.DriverRun.
func (e *execution) Wait() engine.Exit {
	<-e.done
	return e.exit
}

// launch runs the script on a goroutine of its own.
func launch(s *session, where place, spec *engine.RunSpec, find bool) *execution {
	e := &execution{session: s, spec: spec, place: where, control: newControl(), done: make(chan struct{})}
	e.verdict.init(find)
	if mayImport(spec.Script) {
		e.shadow = s.shadowed(spec.Cwd, spec.Env)
	}
	go e.main()
	return e
}

// main is the run's goroutine.
func (e *execution) main() {
	defer close(e.done)
	defer e.control.end()
	ctx := context.Background() // nothing but stop ends a guest: see control
	e.exit.CPUTime, e.exit.PeakMemory = engine.Unknown, engine.Unknown
	began := time.Now()
	seat, err := e.place.enter(ctx, e)
	if err != nil {
		e.notEntered(err)
		return
	}
	clean := e.measured(func() bool { return e.execute(ctx, seat) })
	e.exit.WallTime = time.Since(began)
	e.exit.PeakMemory = int64(seat.instance.memory.Size())
	e.exit.Advice = seat.world.run.advice
	if e.spec.Live {
		e.exit.Value = seat.world.run.value
	}
	e.protect(func() { e.place.leave(ctx, e, seat, clean) })
}

// notEntered fills in the end of a run that got no interpreter: it was stopped or interrupted while it waited for one.
func (e *execution) notEntered(err error) {
	switch {
	case errors.Is(err, errKilled):
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeKilled, 9, engine.ReasonSignaled
	case errors.Is(err, errUnbegun):
		e.exit.Code, e.exit.Reason = int(e.interruptedBefore()), engine.ReasonExited
	default:
		e.exit.Err = err
	}
}

// interruptedBefore is the end of a script that an interrupt has met before its first statement.
func (e *execution) interruptedBefore() (result uint32) {
	_, _ = io.WriteString(e.spec.Stderr, "KeyboardInterrupt\n")
	return codeInterrupt
}

// measured calls f on a thread of its own, whose clock is the run's.
func (e *execution) measured(f func() bool) (clean bool) {
	guests.Add(1)
	defer guests.Add(-1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	e.control.cpu = func() time.Duration { return threadCPU() - before }
	if before >= 0 {
		e.control.cpuLimit = e.spec.Limits.CPU
	}
	e.protect(func() { clean = f() })
	if before >= 0 {
		e.exit.CPUTime = e.control.cpu()
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
	e.session.driver.opts.Logger.Error("host function panicked", "run", e.spec.ID, "err", err)
}

// execute calls the guest and reports whether the script ended in an orderly way.
func (e *execution) execute(parent context.Context, seat *seat) bool {
	ctx := seat.world.context(parent)
	result, err := e.place.call(ctx, e, seat)
	var left exited
	switch {
	case err == nil:
		e.exit.Code, e.exit.Reason = int(result&resultCode), engine.ReasonExited
		if result&resultMemory != 0 && seat.instance.memory.Refused() {
			e.exit.Code, e.exit.Reason = codeKilled, engine.ReasonMemory
		}
		return !e.control.delivered && !e.spoilt
	case errors.As(err, &left):
		// os._exit: what is buffered is lost, as it is natively.
		e.exit.Code, e.exit.Reason = int(left.code&resultCode), engine.ReasonExited
		return false
	}
	e.drain(ctx, seat)
	e.exit.Forced = true
	e.failed(err, seat)
	return false
}

// failed fills in the end of a run that a stop, a trap or a panic ended.
func (e *execution) failed(err error, seat *seat) {
	switch {
	case errors.Is(err, errKilled) && e.verdict.late:
		e.exit.Code, e.exit.Reason = codeKilled, engine.ReasonTimeout
	case errors.Is(err, errKilled):
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeKilled, 9, engine.ReasonSignaled
	case errors.Is(err, errCPU):
		e.exit.Code, e.exit.Signal, e.exit.Reason = codeCPU, 24, engine.ReasonCPU
	case strings.Contains(err.Error(), recovered):
		e.panicked(err)
	case seat.instance.memory.Refused():
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
func (e *execution) drain(ctx context.Context, seat *seat) {
	in := seat.instance
	e.control.draining = drainTicks
	in.counter.Set(tickBudget)
	stack := in.stack.Get()
	if stack < redZone || stack > math.MaxUint32 {
		return
	}
	in.stack.Set(stack - redZone)
	_ = in.drain.CallWithStack(ctx, nil)
}

// recovered is what wazero adds to a panic of a host function, and not to a trap.
const recovered = " (recovered by wazero)"

func firstLineOf(err error) error { return errors.New(firstLine(err)) }

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, recovered)
}
