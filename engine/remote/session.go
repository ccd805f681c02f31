package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/netpolicy"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// SessionOptions are for Client.Open. Nil and the zero value mean the defaults.
type SessionOptions struct {
	// Options are as for engine.Open. Paths are of the server's host, and allowed by its policy. Logger is for this side. From
	// may be a snapshot of this server, which stays there, or another one, which is sent.
	engine.Options
	// Backend is how native runs are isolated. Empty: the server's default.
	Backend string
	// Label is a name for people, of at most 128 bytes.
	Label string
	// IdleTimeout is after how long the server closes the session when this program is gone. Zero: the server's default.
	IdleTimeout time.Duration
	// Lifetime is after how long it closes it in any case. Zero: the server's maximum.
	Lifetime time.Duration
}

// Options are for Open.
type Options struct {
	ClientOptions
	SessionOptions
}

// Open opens a session of the server at a URL, as NewClient and Client.Open do. Its Close closes the connection too.
func Open(ctx context.Context, endpoint string, opts *Options) (*engine.Session, error) {
	if opts == nil {
		opts = &Options{}
	}
	c, err := NewClient(endpoint, &opts.ClientOptions)
	if err != nil {
		return nil, err
	}
	c.alone = true
	return c.open(ctx, &opts.SessionOptions, c.rest)
}

// Attach is a session that is open already, by the Reference of the Session that opened it. Its Close only ends this side: the
// session stays until its opener closes it or nobody uses it any more.
func Attach(ctx context.Context, ref engine.Reference, opts *ClientOptions) (*engine.Session, error) {
	c, err := NewClient(ref.Endpoint, opts)
	if err != nil {
		return nil, err
	}
	c.alone = true
	return c.attach(ctx, ref.Name, c.rest)
}

// Open opens a session. The caller closes it; after Close nothing of it is left on the server. Errors are those of engine.Open,
// and engine.ErrDenied, ErrLimit, ErrUnauthenticated and ErrDraining.
func (c *Client) Open(ctx context.Context, opts *SessionOptions) (*engine.Session, error) {
	return c.open(ctx, opts, nil)
}

// Attach is as the function Attach, for the session of this name.
func (c *Client) Attach(ctx context.Context, name string) (*engine.Session, error) {
	return c.attach(ctx, name, nil)
}

func (c *Client) open(ctx context.Context, opts *SessionOptions, closed func() error) (*engine.Session, error) {
	if opts == nil {
		opts = &SessionOptions{}
	}
	s, err := engine.OpenPeer(ctx, &opts.Options, func(ctx context.Context, o *engine.Options) (engine.Peer, error) {
		m, err := c.openSession(ctx, o, opts)
		if err != nil {
			return nil, err
		}
		if m.GetSessionId() == "" {
			return nil, errNoName
		}
		return newPeer(c, m, true, closed), nil
	})
	if err != nil && closed != nil {
		err = errors.Join(err, closed())
	}
	return s, err
}

func (c *Client) attach(ctx context.Context, name string, closed func() error) (*engine.Session, error) {
	s, err := engine.OpenPeer(ctx, nil, func(ctx context.Context, _ *engine.Options) (engine.Peer, error) {
		m, err := again(ctx, c.rpc.GetSession, &sandboxv2.GetSessionRequest{SessionId: name})
		if err != nil {
			return nil, err
		}
		if m.GetSession().GetSessionId() != name {
			return nil, errNoName
		}
		return newPeer(c, m.GetSession(), false, closed), nil
	})
	if err != nil && closed != nil {
		err = errors.Join(err, closed())
	}
	return s, err
}

// openSession opens the session on the server.
func (c *Client) openSession(ctx context.Context, o *engine.Options, opts *SessionOptions) (*sandboxv2.Session, error) {
	options, err := wire.Options(o, opts.Backend)
	if err != nil {
		return nil, err
	}
	idle, life := spanOf(opts.IdleTimeout), spanOf(opts.Lifetime)
	if o.From == nil {
		m, err := once(ctx, c.rpc.OpenSession, &sandboxv2.OpenSessionRequest{Options: options, IdleTimeout: idle, Lifetime: life, Label: opts.Label})
		return m.GetSession(), err
	}
	id, done, err := c.sent(ctx, o.From)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done() }() // a session that was opened stays; what is not removed ends when nobody uses it
	m, err := once(ctx, c.rpc.OpenFrom, &sandboxv2.OpenFromRequest{SnapshotId: id, Options: options, IdleTimeout: idle, Lifetime: life, Label: opts.Label})
	return m.GetSession(), err
}

// errNoName is for an answer that is not one to the question.
var errNoName = errors.New("the server's answer does not name what was asked for")

func spanOf(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// A peer is a session of the server.
type peer struct {
	client *Client
	id     string
	info   engine.Info
	ref    engine.Reference
	owner  bool
	closed func() error // nil: nothing more
	lease  *lease
}

func newPeer(c *Client, m *sandboxv2.Session, owner bool, closed func() error) *peer {
	info, _ := wire.ToInfo(m.GetInfo())
	info.ID = m.GetSessionId()
	p := &peer{client: c, id: m.GetSessionId(), info: info, owner: owner, closed: closed}
	p.ref = engine.Reference{
		Name:             p.id,
		Endpoint:         c.endpoint,
		CreatedAt:        wire.ToTimestamp(m.GetCreatedAt()),
		NetworkMode:      netpolicy.Mode(info.Network),
		NetworkAllowlist: append([]string{}, m.GetInfo().GetNetworkAllowlist()...),
	}
	if owner {
		p.lease = keepUsed(m.GetIdleTimeout().AsDuration(), func(ctx context.Context) error {
			_, err := again(ctx, soon(c, c.rpc.RenewSession), &sandboxv2.RenewSessionRequest{SessionId: p.id})
			return err
		})
	}
	return p
}

// ID implements engine.Peer.
func (p *peer) ID() string { return p.id }

// Info implements engine.Peer.
func (p *peer) Info() engine.Info { return p.info }

// Reference implements engine.Peer.
func (p *peer) Reference() engine.Reference { return p.ref }

// gone makes engine.ErrClosed of the error for a session that is not there: it was, so it has been closed.
func gone(err error) error {
	if err != nil && errors.Is(err, engine.ErrNoSession) && !errors.Is(err, engine.ErrClosed) {
		return fmt.Errorf("%w by the server, or with it: %w", engine.ErrClosed, err)
	}
	return err
}

// closeTime is how long the server may take to end a session. It kills what does not end by itself after some seconds.
const closeTime = 60 * time.Second

// Close implements engine.Peer.
func (p *peer) Close() error {
	var err error
	if p.owner {
		p.lease.end()
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_, err = once(ctx, p.client.rpc.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: p.id})
		if errors.Is(err, engine.ErrNoSession) {
			err = nil // it is closed
		}
	}
	if p.closed != nil {
		err = errors.Join(err, p.closed())
	}
	return err
}

// Mark implements engine.Peer.
func (p *peer) Mark(ctx context.Context) error {
	_, err := once(ctx, p.client.rpc.MarkFiles, &sandboxv2.MarkFilesRequest{SessionId: p.id})
	return gone(err)
}

// ResetInterpreter implements engine.Peer.
func (p *peer) ResetInterpreter(ctx context.Context) error {
	_, err := once(ctx, p.client.rpc.ResetInterpreter, &sandboxv2.ResetInterpreterRequest{SessionId: p.id})
	return gone(err)
}
