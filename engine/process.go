package engine

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// A Process is a run that was started. Its methods are safe for concurrent use; each stream is for one
// reader at a time. Nothing needs to be closed: a run ends by itself, by its timeout, by its context, by
// Kill or with the session.
type Process struct {
	id       string
	terminal bool
	timeout  time.Duration // NoTimeout for what others time

	stdout, stderr         stream
	stdoutOnce, stderrOnce sync.Once
	stdin                  *pipe // nil without StdinPipe

	// account adds the result to the session's Usage.
	account func(*Result)
	// done is closed when result and err are set.
	done   chan struct{}
	result Result
	err    error

	mu     sync.Mutex
	route  route
	run    DriverRun // nil while it is being started
	abort  func()    // gives up the start
	reason Reason    // why Session stops the run; empty while it does not
	force  bool      // it is stopped without the tier's grace
	ended  bool
	// interrupted is set when an interrupt came while the run was being started.
	interrupted bool
}

func newProcess(id string, o *RunOptions) *Process {
	return &Process{id: id, terminal: o.Terminal != nil, timeout: NoTimeout, done: make(chan struct{})}
}

// Output is what a run wrote, and how it ended.
type Output struct {
	// Stdout and Stderr are what was kept, byte for byte: at most MaxOutput each. They are nil for a stream
	// that was claimed by Process.Stdout or Process.Stderr.
	Stdout, Stderr []byte
	Result         Result
}

// TextOutput is an Output as text. Bytes that are not UTF-8 are replaced by U+FFFD.
type TextOutput struct {
	Stdout, Stderr string
	Result         Result
}

// ID is unguessable and unique; it is in the logs of the run.
func (p *Process) ID() string { return p.id }

// Route tells in which tier the run is, and why, from the start on; Result has both as well.
func (p *Process) Route() (tier Tier, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.route.tier.name, p.route.why
}

// Done is closed when the run has ended: Wait and Communicate then do not block. To wait for Done alone
// claims no stream: a script that writes more than MaxOutput then waits for someone who reads.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the run: first in an orderly way, after the tier's grace by force. It does not wait. It does
// nothing when the run has ended.
func (p *Process) Kill() { p.stop(ReasonCancelled) }

// Resize changes the size of the run's terminal. Errors: ErrInvalid for a size that no terminal has, and for
// a run without a terminal. It does nothing when the run has ended.
func (p *Process) Resize(size TerminalSize) error {
	if err := size.check(); err != nil {
		return err
	}
	p.mu.Lock()
	run, ended := p.run, p.ended
	p.mu.Unlock()
	r, ok := run.(Resizer)
	if !ok || !p.terminal {
		return &InvalidError{"Terminal", "the run has none"}
	}
	if ended {
		return nil
	}
	return r.Resize(size)
}

// Stdin writes to the script's stdin, if RunOptions.StdinPipe was set. A Write blocks while 64 KiB are
// unread, and returns io.ErrClosedPipe when the run has ended. Close ends the script's stdin.
func (p *Process) Stdin() io.WriteCloser {
	if p.stdin == nil {
		return noPipe{}
	}
	return p.stdin
}

// Wait waits for the end of the run. When ctx ends first it returns ctx's error, and the run goes on.
// Any other error is ErrLost; how the script ended is in the Result, not in the error.
//
// Output that nobody streams is kept up to MaxOutput meanwhile, and then dropped.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	p.stdout.keep()
	p.stderr.keep()
	select {
	case <-p.done: // first of all: the end is known, whatever ctx says
		return p.result, p.err
	default:
	}
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for run: %w", context.Cause(ctx))
	}
}

// Communicate gives input to the script as the rest of its stdin, waits for the end of the run and
// returns what it wrote. Input needs RunOptions.StdinPipe, and must not change before the run has ended.
// Output is given once: a second call returns none. Errors are those of Wait; what the script wrote
// before its end was lost comes with ErrLost.
func (p *Process) Communicate(ctx context.Context, input []byte) (*Output, error) {
	switch {
	case p.stdin != nil:
		p.stdin.finish(input)
	case len(input) > 0:
		return nil, &InvalidError{"input", "the run was started without StdinPipe"}
	}
	result, err := p.Wait(ctx)
	select {
	case <-p.done:
	default:
		return nil, err
	}
	return &Output{Stdout: p.stdout.take(), Stderr: p.stderr.take(), Result: result}, err
}

// CommunicateText is Communicate for text.
func (p *Process) CommunicateText(ctx context.Context, input string) (*TextOutput, error) {
	out, err := p.Communicate(ctx, []byte(input))
	if out == nil {
		return nil, err
	}
	return &TextOutput{Stdout: text(out.Stdout), Stderr: text(out.Stderr), Result: out.Result}, err
}

func (p *Process) claim(s, other *stream, once *sync.Once) io.ReadCloser {
	once.Do(s.claim)
	// Who reads one stream to its end does not read the other meanwhile: it must not fill up.
	other.keep()
	return streamReader{s}
}

// stop ends the run: first in an orderly way. The first reason counts.
func (p *Process) stop(reason Reason) { p.halt(reason, false) }

// stopNow ends the run by force. The first reason counts.
func (p *Process) stopNow(reason Reason) { p.halt(reason, true) }

func (p *Process) halt(reason Reason, force bool) {
	p.mu.Lock()
	p.force = p.force || force
	run, abort, ended, grace := p.run, p.abort, p.ended, p.grace()
	if p.reason == "" && !ended {
		p.reason = reason
	}
	p.mu.Unlock()
	if ended {
		return
	}
	p.loosen()
	switch {
	case run != nil:
		run.Stop(grace)
	case reason == ReasonCancelled:
		abort()
	default:
		// A script that has begun before its start has returned: started stops it.
	}
}

// loosen lets what the run still writes go on without its reader.
func (p *Process) loosen() {
	p.stdout.stop()
	p.stderr.stop()
}

// goes notes where the run is about to be started.
func (p *Process) goes(r route) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.route = r
}

// grace is what a stop leaves the run. The caller holds mu.
func (p *Process) grace() time.Duration {
	if p.force {
		return 0
	}
	return p.route.tier.grace
}

// started notes the driver's run, and stops or interrupts it if that was asked for meanwhile.
func (p *Process) started(run DriverRun) {
	p.mu.Lock()
	p.run = run
	stopping, grace, interrupted := p.reason != "", p.grace(), p.interrupted
	p.mu.Unlock()
	switch {
	case stopping:
		run.Stop(grace)
	case interrupted && p.interrupt() != nil:
		// Who asked has been told nothing, as the tier was not known yet: the run must not go on as if nothing had been.
		p.stop(ReasonCancelled)
	}
}

// finish makes the result of the run's end and lets everybody who waits go on.
func (p *Process) finish(exit Exit) {
	p.mu.Lock()
	p.ended = true
	asked := p.reason
	p.mu.Unlock()
	p.stdout.end()
	p.stderr.end()
	if p.stdin != nil {
		p.stdin.end()
	}
	p.result = p.resultOf(exit, asked)
	if exit.Err != nil {
		p.err = lost(exit.Err)
	}
	p.account(&p.result)
	close(p.done)
}
