package wasm

import "sync/atomic"

// Stats are figures of a driver, from when its interpreter was loaded on. A closed driver has none.
type Stats struct {
	// Loaded says that the interpreter is there: a run does not wait for it.
	Loaded bool
	// Ready and Made count the instances that fresh interpreters were given, for a run or for a look at a file: those that had
	// been kept ready, and those that had to be made on demand. Live interpreters are not among them.
	Ready, Made int64
	// Idle is how many instances of the standard image are kept ready now.
	Idle int
}

// taken is what all pools of an interpreter gave.
type taken struct{ ready, made atomic.Int64 }

// Stats gives the figures as they are now. It does not load the interpreter, nor wait for one that is being loaded. It may be
// called while Close is.
func (d *Driver) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.interpreter
	if p == nil {
		return Stats{}
	}
	return Stats{Loaded: true, Ready: p.taken.ready.Load(), Made: p.taken.made.Load(), Idle: p.pool.length()}
}

// length is how many instances are idle.
func (o *pool) length() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.idle)
}
