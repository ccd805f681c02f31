package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

const (
	// stopTime is how long the server may take to end a run that it was told to end. It kills by force after two seconds.
	stopTime = 15 * time.Second
	// endTime is how long the end of a stream may be behind the end of its run.
	endTime = time.Second
	// stuckTime is after how long with an event that the reader here does not take the server is asked to tell, on another way,
	// when the run has ended: that event cannot come past the other one.
	stuckTime = 200 * time.Millisecond
	// smallOutput is what a stream here takes before anybody reads it.
	smallOutput = 64 << 10
	// deadlineSlack is how much later than this side the server ends a run whose context ends: this side asks it to, and only if
	// that does not arrive the server does it unasked.
	deadlineSlack = 2 * time.Second
)

// events is what a run's stream of either kind has.
type events interface {
	// next waits for an event. io.EOF: the stream has ended as it should.
	next() (*sandboxv2.RunEvent, error)
	close()
}

// run is a run on the server: engine.PeerRun.
type run struct {
	peer   *peer
	stream events
	cancel context.CancelCauseFunc // of the stream
	cause  func() error            // why it was cancelled; nil: it was not
	id     string
	tier   engine.Tier
	why    string

	out, errs io.Writer
	stopped   func()
	stuck     *time.Timer   // fires when the reader here has let an event wait
	alive     *time.Timer   // ends the stream of a silent server
	over      chan struct{} // closed with the end of the stream
	exit      engine.Exit

	mu     sync.Mutex
	grace  time.Duration // the shortest so far of Stop; negative: none
	giveUp *time.Timer
}

// Start implements engine.Peer.
func (p *peer) Start(ctx context.Context, spec *engine.PeerSpec) (engine.PeerRun, error) {
	req, err := wire.RunRequest(spec.Script, &spec.Options)
	if err != nil {
		return nil, err
	}
	req.SessionId, req.StreamOutput, req.Heartbeat = p.id, !spec.Kept, durationpb.New(p.client.beat)
	if deadline, ok := ctx.Deadline(); ok {
		req.CancelAfter = durationpb.New(max(time.Until(deadline), 0) + deadlineSlack)
	}
	// The stream outlives ctx, which is for the start alone.
	streaming, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	r := &run{
		peer: p, cancel: cancel, cause: func() error { return context.Cause(streaming) }, out: spec.Stdout, errs: spec.Stderr, stopped: spec.Stopped,
		over: make(chan struct{}), grace: -1, exit: unknownExit(),
	}
	r.alive = time.AfterFunc(p.client.silence, func() { cancel(errSilent) })
	first, err := r.open(streaming, req, spec.Stdin)
	if err == nil && !unhook() {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = r.startError(err)
		r.alive.Stop()
		cancel(nil)
		close(r.over)
		if r.stream != nil {
			r.stream.close()
		}
		return nil, err
	}
	r.stuck = time.AfterFunc(stuckTime, sync.OnceFunc(r.watch))
	if first.GetExited() != nil && len(first.GetStdout())+len(first.GetStderr()) <= smallOutput { // there is room for it
		r.follow(first)
	} else {
		go r.follow(first)
	}
	return r, nil
}

func unknownExit() engine.Exit {
	return engine.Exit{Reason: engine.ReasonLost, Code: engine.Unknown, WallTime: engine.Unknown, CPUTime: engine.Unknown, PeakMemory: engine.Unknown}
}

// startError is why a run has not been started, or that this is not known.
func (r *run) startError(err error) error {
	switch {
	case r.cause() != nil: // the server ends what it has begun
		return fmt.Errorf("%w: %w", engine.ErrLost, r.cause())
	case refused(err):
		return fmt.Errorf("%w: %w", engine.ErrNotStarted, err)
	case broken(err):
		return fmt.Errorf("%w: %w", engine.ErrLost, err)
	}
	return gone(wire.FromError(err))
}

// open opens the stream and waits for the first event.
func (r *run) open(ctx context.Context, req *sandboxv2.RunRequest, stdin engine.Stdin) (*sandboxv2.RunEvent, error) {
	end, ok := stdin.(interface{ AtEnd() bool })
	if ok && end.AtEnd() && req.GetTerminal() == nil {
		stream, err := r.peer.client.rpc.Run(ctx, connect.NewRequest(req))
		if err != nil {
			return nil, err
		}
		r.stream = serverEvents{stream}
	} else {
		req.StdinPipe = true
		stream := r.peer.client.rpc.RunInteractive(ctx)
		r.stream = &bidiEvents{stream}
		// The transport does not look at ctx while it waits for more of stdin to send.
		context.AfterFunc(ctx, r.stream.close)
		if err := stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Start{Start: req}}); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		go sendStdin(stream, stdin, r.over)
	}
	first, err := r.stream.next()
	for err == nil && first.GetStarted() == nil && first.GetExited() == nil { // a heartbeat: the run waits for its turn
		r.alive.Reset(r.peer.client.silence)
		first, err = r.stream.next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	case first.GetStarted() == nil:
		return nil, errors.New("the server's first message does not say that the run has started")
	}
	s := first.GetStarted()
	r.id, r.tier, r.why = s.GetRunId(), wire.ToTier(s.GetTier()), s.GetRoute()
	return first, nil
}

// Route implements engine.PeerRun.
func (r *run) Route() (engine.Tier, string) { return r.tier, r.why }

// follow hands on what the run writes, to its end.
func (r *run) follow(ev *sandboxv2.RunEvent) {
	defer close(r.over)
	var err error
	for err == nil {
		r.alive.Stop() // a reader here may be as slow as it likes
		r.stuck.Reset(stuckTime)
		r.hand(ev)
		r.stuck.Stop()
		if ev.GetExited() != nil {
			break
		}
		r.alive.Reset(r.peer.client.silence)
		ev, err = r.stream.next()
	}
	r.alive.Stop()
	r.stuck.Stop()
	r.mu.Lock()
	if r.giveUp != nil {
		r.giveUp.Stop()
	}
	r.grace = 0
	r.mu.Unlock()
	if err == nil {
		result := wire.ToResult(ev.GetExited())
		result.StdoutBytes, result.StderrBytes = max(result.StdoutBytes, 0), max(result.StderrBytes, 0)
		r.exit = engine.Exit{Result: &result}
		r.alive.Reset(endTime)
		_, _ = r.stream.next() // the end of the stream, which is here already: the connection can be used again
		r.alive.Stop()
	} else {
		r.exit.Err = r.lostError(err)
	}
	r.stream.close()
	r.cancel(nil)
}

// watch waits for the end of a run whose reader is behind. If the run did not end by itself, nobody waits for the reader.
func (r *run) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-r.over
		cancel()
	}()
	m, err := again(ctx, r.peer.client.rpc.WaitRun, &sandboxv2.WaitRunRequest{SessionId: r.peer.id, RunId: r.id})
	switch m.GetResult().GetReason() {
	case sandboxv2.Reason_REASON_EXITED, sandboxv2.Reason_REASON_SIGNALED:
		if err == nil {
			return // all that it has written is on its way
		}
	default:
	}
	r.stopped()
}

// hand gives the bytes of an event to the session.
func (r *run) hand(ev *sandboxv2.RunEvent) {
	if b := ev.GetStdout(); len(b) > 0 {
		_, _ = r.out.Write(b) // it takes everything
	}
	if b := ev.GetStderr(); len(b) > 0 {
		_, _ = r.errs.Write(b)
	}
}

// lostError is why the end of a run is not known.
func (r *run) lostError(err error) error {
	switch cause := r.cause(); {
	case cause != nil:
		err = cause
	case errors.Is(err, io.EOF):
		err = errors.New("the stream has ended without a result")
	}
	return fmt.Errorf("%w: %w", engine.ErrLost, wire.FromError(err))
}

// Wait implements engine.DriverRun.
func (r *run) Wait() engine.Exit {
	<-r.over
	return r.exit
}

// errNotStopped is why a stream is given up.
var errNotStopped = errors.New("the server does not stop the run")

// Stop implements engine.DriverRun.
func (r *run) Stop(grace time.Duration) {
	sig := engine.SignalTerminate
	if grace <= 0 {
		sig = engine.SignalKill
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.grace == 0 || r.grace > 0 && grace >= r.grace {
		return
	}
	r.grace = max(grace, 0)
	if r.giveUp == nil {
		// The server then sees that its client has gone.
		r.giveUp = time.AfterFunc(stopTime, func() { r.cancel(errNotStopped) })
	}
	go func() {
		if err := r.signal(sig); err != nil && !errors.Is(err, engine.ErrNoSession) {
			r.cancel(fmt.Errorf("stop the run: %w", err))
		}
	}()
}

// Interrupt implements engine.Interrupter.
func (r *run) Interrupt() error {
	err := r.signal(engine.SignalInterrupt)
	if errors.Is(err, engine.ErrNoSession) {
		return nil // it has ended
	}
	return err
}

func (r *run) signal(sig engine.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, err := once(ctx, r.peer.client.rpc.SignalRun, &sandboxv2.SignalRunRequest{SessionId: r.peer.id, RunId: r.id, Signal: wire.Signal(sig)})
	return err
}

// Resize implements engine.Resizer.
func (r *run) Resize(size engine.TerminalSize) error {
	m, err := wire.TerminalSize(size)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, err = once(ctx, r.peer.client.rpc.ResizeRun, &sandboxv2.ResizeRunRequest{SessionId: r.peer.id, RunId: r.id, Size: m})
	if errors.Is(err, engine.ErrNoSession) {
		return nil // it has ended
	}
	return err
}
