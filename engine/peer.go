package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// Peer is a session that another process holds. A Session over one (OpenPeer) checks what it is asked, has the streams
// and the ends of runs, and leaves everything else to the peer: there are no tiers and there is no work directory here.
//
// Its methods are safe for concurrent use, and their errors are those of the methods of Session. An error of the
// connection is passed on as it is, except that of a run that has begun, which is ErrLost.
type Peer interface {
	// ID is that of the session.
	ID() string
	// Info describes the session as it was opened.
	Info() Info
	// Reference is what another program needs to find the session.
	Reference() Reference
	// Start begins a run. Its errors are all that those of Session.Run are: ErrNotStarted too, and ErrLost when it is not known
	// whether the run has begun.
	Start(ctx context.Context, spec *PeerSpec) (PeerRun, error)

	// Put makes what r gives the content of a file.
	Put(ctx context.Context, path string, r io.Reader, opts PutOptions) error
	// Get writes a file to w, after it has told sized how large it says to be.
	Get(ctx context.Context, path string, w io.Writer, most int64, sized func(int64)) error
	List(ctx context.Context, path string) ([]FileInfo, error)
	Stat(ctx context.Context, path string) (FileInfo, error)
	// Remove removes a file, or with all a directory with what is in it.
	Remove(ctx context.Context, path string, all bool) error

	Diff(ctx context.Context) ([]Change, error)
	Mark(ctx context.Context) error
	Commit(ctx context.Context) ([]Change, error)
	ResetInterpreter(ctx context.Context) error
	// Snapshot copies the session. The caller closes the State.
	Snapshot(ctx context.Context) (State, error)

	// Close ends the session, or this side of it. Session calls it once, after every call and every run has ended.
	Close() error
}

// PeerSpec is a run for a Peer.
type PeerSpec struct {
	Script string
	// Options are as the caller gave them, with Stdin and StdinPipe taken out. Zero is the session's default.
	Options RunOptions
	// Stdin is never nil. Type and AtEnd are as in RunSpec.
	Stdin Stdin
	// Stdout and Stderr are as in RunSpec.
	Stdout, Stderr io.Writer
	// Stopped is to be called when the run has been ended by something else than itself while Stdout or Stderr block: what then
	// comes is kept or dropped, and nobody waits. It may be called at any time.
	Stopped func()
	// Kept is set when nobody reads the output while the run goes on: what is past MaxOutput need not come.
	Kept bool
}

// PeerRun is a run that a Peer has started. Resize, and Interrupt where there is one, are as those of a driver's run.
type PeerRun interface {
	DriverRun
	Resizer
	// Route is where the run went, and why.
	Route() (tier Tier, why string)
}

// Reference says where a session is. It has no secret but the name: to use it takes the credentials of the session's
// principal too.
type Reference struct {
	// Name is the session's ID.
	Name string `json:"name"`
	// Endpoint is the URL of its server.
	Endpoint  string    `json:"endpoint"`
	CreatedAt time.Time `json:"created_at"`
	// NetworkMode is the most that a run may have of the network, NetworkAllowlist the list of that mode.
	NetworkMode      netpolicy.Mode `json:"network_mode"`
	NetworkAllowlist []string       `json:"network_allowlist"`
}

// OpenPeer makes a Session over the Peer that open opens. It checks of opts what needs nothing of the other side, before
// open is called. Open gets the options with nothing filled in, and is to leave Logger alone; Options.From is open for as long as it runs.
func OpenPeer(ctx context.Context, opts *Options, open func(context.Context, *Options) (Peer, error)) (*Session, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.From != nil {
		done, err := o.From.use()
		if err != nil {
			return nil, &InvalidError{"From", "is closed"}
		}
		defer done()
	}
	peer, err := open(ctx, &o)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	o.From = nil
	return newSession(&o, nil, peer), nil
}

// Reference is what another program, or this one at another time, needs to find a session of a server. A session in this
// process has none: ErrNotAvailable.
func (s *Session) Reference() (Reference, error) {
	if s.peer == nil {
		return Reference{}, fmt.Errorf("reference: %w: the session is in this process and ends with it", ErrNotAvailable)
	}
	return s.peer.Reference(), nil
}

// peerCall is a call of the peer, which Close ends.
func peerCall[T any](ctx context.Context, s *Session, call func(context.Context, Peer) (T, error)) (T, error) {
	var zero T
	if err := s.enter(); err != nil {
		return zero, err
	}
	defer s.leave()
	ctx, cancel := s.untilClosing(ctx)
	defer cancel()
	v, err := call(ctx, s.peer)
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) && !errors.Is(err, ErrClosed) {
		err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return v, err
}

// peerDo is peerCall for what gives nothing.
func peerDo(ctx context.Context, s *Session, call func(context.Context, Peer) error) error {
	_, err := peerCall(ctx, s, func(ctx context.Context, p Peer) (struct{}, error) { return struct{}{}, call(ctx, p) })
	return err
}

// preparePeer checks the options of a run for the peer, and joins its streams to a Process.
func (s *Session) preparePeer(script string, o *RunOptions, kept bool) (*Process, starter, error) {
	sent := *o
	filled := o.filled(&s.opts)
	if err := filled.check(script); err != nil {
		return nil, nil, err
	}
	if err := checkNetwork(filled.Network); err != nil {
		return nil, nil, err
	}
	var streams RunSpec
	p := newProcess(newID(), &filled)
	p.connect(&streams, &filled)
	sent.Stdin, sent.StdinPipe = nil, false
	sent.Type, sent.Name = filled.Type, filled.Name
	spec := &PeerSpec{Script: script, Options: sent, Stdin: streams.Stdin, Stdout: streams.Stdout, Stderr: streams.Stderr, Stopped: p.loosen, Kept: kept}
	return p, func(ctx context.Context) error { return s.startPeer(ctx, spec, p) }, nil
}

// startPeer has the peer start the run.
func (s *Session) startPeer(ctx context.Context, spec *PeerSpec, p *Process) error {
	p.goes(route{tier: &tier{grace: graceNative}})
	if err := context.Cause(ctx); err != nil {
		return notStarted(err)
	}
	run, err := s.peer.Start(ctx, spec)
	switch {
	case err != nil && s.closing.Err() != nil && errors.Is(err, ErrLost): // it may have begun
		return fmt.Errorf("%w: %w", ErrClosed, err)
	case err != nil && s.closing.Err() != nil:
		return fmt.Errorf("%w: %w: %w", ErrClosed, ErrNotStarted, err)
	case err != nil:
		return err
	}
	name, why := run.Route()
	p.goes(route{tier: &tier{name: name, grace: graceNative}, why: why})
	p.started(run)
	return nil
}
