package engine

import "fmt"

// Signal is what can be sent to a run.
type Signal string

// The signals.
const (
	// SignalInterrupt is what Ctrl-C in a terminal is: SIGINT to all processes of the run, or with a terminal to those in
	// its foreground, and KeyboardInterrupt in the wasm tier. The run goes on if the script wants it to.
	SignalInterrupt Signal = "interrupt"
	// SignalTerminate is what Kill does: an orderly stop, and after the tier's grace force.
	SignalTerminate Signal = "terminate"
	// SignalKill ends the run by force, at once.
	SignalKill Signal = "kill"
)

// Signal sends a signal to the run. It does not wait for what the script makes of it.
//
// A run that SignalTerminate or SignalKill ends has ReasonCancelled. One that an interrupt ends has the Result of its own
// end: exit code 130, of ReasonSignaled in the native tier and of ReasonExited in the wasm tier. Interrupts that follow one
// another faster than the script takes them may count as one.
//
// It does nothing when the run has ended, and an interrupt does nothing either when the run is being stopped. An interrupt
// leaves the live interpreter as it is. A run that waits for its turn in it ends by an interrupt, and nothing of it is
// executed.
//
// Errors: ErrInvalid for an unknown signal; ErrNotAvailable for an interrupt where the tier knows none.
func (p *Process) Signal(sig Signal) error {
	switch sig {
	case SignalInterrupt:
		return p.interrupt()
	case SignalTerminate:
		p.stop(ReasonCancelled)
	case SignalKill:
		p.stopNow(ReasonCancelled)
	default:
		return &InvalidError{"Signal", fmt.Sprintf("%q is unknown", shorten(string(sig)))}
	}
	return nil
}

// interrupt hands an interrupt on to the driver. While the run is being started it is kept for it, wherever it then runs:
// see started.
func (p *Process) interrupt() error {
	p.mu.Lock()
	run, name, over := p.run, p.route.tier.name, p.ended || p.reason != ""
	if run == nil && !over {
		p.interrupted = true
	}
	p.mu.Unlock()
	if run == nil || over {
		return nil
	}
	r, ok := run.(Interrupter)
	if !ok {
		return fmt.Errorf("interrupt run: %w: the %s tier cannot", ErrNotAvailable, name)
	}
	return r.Interrupt()
}
