package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// liveWorld is what the scripts of a live interpreter find around them, as a run asks for it.
type liveWorld struct {
	cwd string
	env []string
}

// codeFlush is the shim's result when only the last flush of sys.stdout has failed.
const codeFlush = 120

func (l *live) call(ctx context.Context, e *execution, s *seat) (uint32, error) {
	l.runs++
	label := fmt.Sprintf("<cell %d>", l.runs)
	if result, err := l.ready(ctx, e, s, label); err != nil || result != 0 {
		return result, err
	}
	if errors.Is(e.control.unbegun(), errUnbegun) {
		return e.interruptedBefore(), nil
	}
	result, err := s.instance.call(ctx, s.instance.live, liveRequest(e.spec, label, false, e.shadow, e.spec.Script))
	if err == nil {
		l.settle(ctx, e, s)
	}
	return result, err
}

// ready makes the interpreter ready for the run, where the run before has asked for something else. It is a call of its own
// because an interrupt in the middle of it would leave the next run a directory, an environment or randomness that nobody
// has asked for: the shim's part of the script's own call then changes nothing of these.
func (l *live) ready(ctx context.Context, e *execution, s *seat, label string) (result uint32, err error) {
	if w := l.world; w != nil && !l.renew && w.cwd == e.spec.Cwd && slices.Equal(w.env, e.spec.Env) {
		return 0, nil
	}
	renew := l.renew
	l.renew, l.world = false, nil
	var problem heldOutput
	defer e.quietly(s, io.Discard, &problem)()
	result, err = s.instance.call(ctx, s.instance.live, liveRequest(e.spec, label, renew, e.shadow, nil))
	switch {
	case err != nil:
	case result == 0, result == codeFlush: // the script's own call tells that again
		l.world = &liveWorld{e.spec.Cwd, e.spec.Env}
		result = 0
	default:
		problem.flush(e.spec.Stderr)
	}
	return result, err
}

// settle takes an interrupt from the interpreter that came when the script had nothing left to execute: it must not reach the
// next one. A handler of the script for it is called, if there is one; what it writes is not the run's any more.
func (l *live) settle(ctx context.Context, e *execution, s *seat) {
	if !e.control.raised {
		return
	}
	defer e.quietly(s, io.Discard, io.Discard)()
	_, err := s.instance.call(ctx, s.instance.warm, warmRequest("", "", nil, nil))
	if err != nil {
		e.spoilt = true
		e.session.driver.opts.Logger.Debug("interrupt not settled", "run", e.spec.ID, "err", firstLineOf(err))
	}
}

// quietly holds interrupts back and gives the interpreter other streams, until the function that it returns is called.
func (e *execution) quietly(s *seat, stdout, stderr io.Writer) (restore func()) {
	e.control.held = true
	s.stdio.stdin, s.stdio.stdout, s.stdio.stderr = nil, stdout, stderr
	return func() {
		s.stdio.stdin, s.stdio.stdout, s.stdio.stderr = e.spec.Stdin, e.spec.Stdout, e.spec.Stderr
		e.control.held = false
	}
}
