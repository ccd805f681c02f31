package wasm

import (
	"io"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
)

// verdict is whether a run's script may run in this tier. It is found when the guest has parsed the script and before it
// executes anything; what the parser warns of is held back till then.
type verdict struct {
	open    bool // it is not known from an earlier run
	settled chan struct{}
	once    sync.Once
	needs   *engine.NeedsNativeError // set before settled is closed
	dropped bool                     // nobody waits for it any more: the script must not run
	late    bool                     // because its time has passed
	held    heldOutput
	stderr  io.Writer
}

// init makes the verdict one that has to be found.
func (v *verdict) init(find bool) {
	v.open = find
	v.settled = make(chan struct{})
	if !find {
		v.settle(nil)
	}
}

// settle notes the verdict, the first time that it is called.
func (v *verdict) settle(needs *engine.NeedsNativeError) {
	v.once.Do(func() {
		v.needs = needs
		close(v.settled)
	})
}

// drop settles that the script must not run, and reports false when the verdict was there before.
func (v *verdict) drop(late bool) (dropped bool) {
	v.once.Do(func() {
		v.dropped, v.late, dropped = true, late, true
		close(v.settled)
	})
	return dropped
}

// ask has the guest tell what the script imports, where that is not known.
func (v *verdict) ask(p *interpreter, e *execution, s *seat) bool {
	if !v.open {
		return false
	}
	v.stderr, s.stdio.stderr = s.stdio.stderr, &v.held
	s.world.run.found = func(findings []byte) bool {
		needs := e.session.judge(p, e.spec, findings, e.control)
		v.settle(needs)
		if v.dropped {
			panic(stopped{errKilled})
		}
		if v.needs != nil {
			v.held.b = nil
			return false
		}
		v.end(s)
		return true
	}
	return true
}

// end lets through what was held back. A script that could not be parsed belongs here, where its error is told.
func (v *verdict) end(s *seat) {
	if v.stderr == nil {
		return
	}
	s.stdio.stderr = v.stderr
	v.held.flush(v.stderr)
	v.stderr, v.held.b = nil, nil
	v.settle(nil)
}
