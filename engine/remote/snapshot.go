package remote

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A snapshot is one that the server has: engine.State.
type snapshot struct {
	client *Client
	id     string
	memory int64
	lease  *lease
}

// Snapshot implements engine.Peer.
func (p *peer) Snapshot(ctx context.Context) (engine.State, error) {
	m, err := once(ctx, p.client.rpc.Snapshot, &sandboxv2.SnapshotRequest{SessionId: p.id})
	if err != nil {
		return nil, gone(err)
	}
	return p.client.snapshot(m.GetSnapshot())
}

func (c *Client) snapshot(m *sandboxv2.SnapshotInfo) (*snapshot, error) {
	if m.GetSnapshotId() == "" {
		return nil, errNoName
	}
	s := &snapshot{client: c, id: m.GetSnapshotId(), memory: m.GetMemoryBytes()}
	idle := wire.ToTimestamp(m.GetIdleAt()).Sub(wire.ToTimestamp(m.GetCreatedAt())) // by the server's clock alone
	s.lease = keepUsed(idle, func(ctx context.Context) error {
		_, err := again(ctx, c.rpc.RenewSnapshot, &sandboxv2.RenewSnapshotRequest{SnapshotId: s.id})
		return err
	})
	return s, nil
}

// ReadSnapshot sends what Snapshot.WriteTo has written to the server, which keeps it for this program. Limit bounds what it may
// unpack to, as for engine.ReadSnapshot; 0: the server's maximum. The caller closes the snapshot.
func (c *Client) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	if limit < 0 {
		return nil, &engine.InvalidError{Field: "limit", Problem: "is negative"}
	}
	m, err := c.put(ctx, r, limit)
	if err != nil {
		return nil, err
	}
	s, err := c.snapshot(m)
	if err != nil {
		return nil, err
	}
	return engine.PeerSnapshot(s), nil
}

func (c *Client) put(ctx context.Context, r io.Reader, limit int64) (*sandboxv2.SnapshotInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a stream that is given up is no snapshot
	stream := c.rpc.PutSnapshot(ctx)
	buf := make([]byte, piece)
	for {
		n, err := io.ReadFull(r, buf)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return nil, err
		}
		if err := stream.Send(&sandboxv2.PutSnapshotRequest{LimitBytes: limit, Data: buf[:n]}); err != nil || ended {
			break
		}
	}
	m, err := stream.CloseAndReceive() // when the server has ended the call, this has the reason
	if err != nil {
		return nil, wire.FromError(err)
	}
	return m.Msg.GetSnapshot(), nil
}

// sent is the id of a snapshot on the server, where it is sent if it is not there. Done removes it again then.
func (c *Client) sent(ctx context.Context, from *engine.Snapshot) (id string, done func() error, err error) {
	if s, ok := from.Peer().(*snapshot); ok && s.client.endpoint == c.endpoint {
		return s.id, func() error { return nil }, nil
	}
	r, w := io.Pipe()
	go func() {
		_, err := from.WriteTo(w)
		_ = w.CloseWithError(err) // it returns nil
	}()
	m, err := c.put(ctx, r, 0)
	_ = r.CloseWithError(io.ErrClosedPipe) // ends WriteTo, if the server did not want it all
	if err != nil {
		return "", nil, err
	}
	return m.GetSnapshotId(), func() error { return c.removeSnapshot(m.GetSnapshotId()) }, nil
}

// Size implements engine.State.
func (s *snapshot) Size() int64 { return s.memory }

// WriteTo implements io.WriterTo.
func (s *snapshot) WriteTo(w io.Writer) (int64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := s.client.rpc.GetSnapshot(ctx, connect.NewRequest(&sandboxv2.GetSnapshotRequest{SnapshotId: s.id}))
	if err != nil {
		return 0, wire.FromError(err)
	}
	defer stream.Close() //nolint:errcheck // what it finds, Receive has told
	var total int64
	for stream.Receive() {
		n, err := w.Write(stream.Msg().GetData())
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, wire.FromError(stream.Err())
}

// Close implements engine.State.
func (s *snapshot) Close() error {
	s.lease.end()
	return errors.Join(s.client.removeSnapshot(s.id), s.client.rest())
}

func (c *Client) removeSnapshot(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_, err := once(ctx, c.rpc.RemoveSnapshot, &sandboxv2.RemoveSnapshotRequest{SnapshotId: id})
	if errors.Is(err, engine.ErrNoSession) {
		return nil
	}
	return err
}
