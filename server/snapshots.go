package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A snapshot is one of a principal's.
type snapshot struct {
	id        string
	principal *Principal
	snap      *engine.Snapshot
	use       *usage
}

func (s *snapshot) key() string   { return s.id }
func (s *snapshot) owner() string { return s.principal.Name }
func (s *snapshot) usage() *usage { return s.use }

// snapshot finds a snapshot of the caller, and has it in use until done.
func (s *Server) snapshot(ctx context.Context, id string) (sn *snapshot, done func(), err error) {
	sn, done, err = s.snapshots.use(id, principalOf(ctx).Name)
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot: %w", err)
	}
	return sn, done, nil
}

// keep makes a snapshot of the caller's of what take gives.
func (s *Server) keep(ctx context.Context, uploaded bool, take func(context.Context) (*engine.Snapshot, error)) (*snapshot, error) {
	p := principalOf(ctx)
	if err := s.admit(); err != nil {
		return nil, err
	}
	use, err := s.lease(p, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := s.snapshots.reserve(p.Name, most(p.Policy.MaxSnapshots, s.opts.Limits.Snapshots)); err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept { // also after a panic, which ends this call alone
			s.snapshots.unreserve(p.Name)
		}
	}()
	done, err := s.work()
	if err != nil {
		return nil, err
	}
	defer done()
	taking, cancel := s.untilClose(ctx)
	defer cancel()
	snap, err := take(taking)
	if err != nil {
		return nil, err
	}
	kept = true
	sn := &snapshot{id: strings.ToLower(rand.Text()), principal: p, snap: snap, use: use}
	s.snapshots.add(sn)
	s.opts.Observer.SnapshotKept(uploaded)
	if taking.Err() != nil { // Close may have missed it, or nobody is there any more to learn its name
		if sn, err := s.snapshots.take(sn.id, p.Name, false); err == nil {
			return nil, errors.Join(context.Cause(taking), s.closeSnapshot(sn))
		}
		return nil, context.Cause(taking)
	}
	return sn, nil
}

func (s *Server) removeSnapshot(id, owner string) error {
	done, err := s.work()
	if err != nil {
		return err
	}
	defer done()
	sn, err := s.snapshots.take(id, owner, false)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	return s.closeSnapshot(sn)
}

// closeSnapshot ends a snapshot that was taken out of the table.
func (s *Server) closeSnapshot(sn *snapshot) error {
	defer s.opts.Observer.SnapshotRemoved()
	defer s.snapshots.unreserve(sn.owner())
	return sn.snap.Close()
}

func (s *snapshot) describe() *sandboxv2.SnapshotInfo {
	return &sandboxv2.SnapshotInfo{
		SnapshotId:  s.id,
		MemoryBytes: s.snap.Memory(),
		CreatedAt:   timestamppb.New(s.use.created),
		IdleAt:      timestamppb.New(s.use.idleAt()),
	}
}

// Snapshot implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) Snapshot(ctx context.Context, req *connect.Request[sandboxv2.SnapshotRequest]) (*connect.Response[sandboxv2.SnapshotResponse], error) {
	out := &sandboxv2.SnapshotResponse{}
	err := h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error {
		sn, err := h.keep(ctx, false, func(ctx context.Context) (*engine.Snapshot, error) { return se.Snapshot(ctx) })
		if err == nil {
			out.Snapshot = sn.describe()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

// ListSnapshots implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ListSnapshots(ctx context.Context, _ *connect.Request[sandboxv2.ListSnapshotsRequest]) (*connect.Response[sandboxv2.ListSnapshotsResponse], error) {
	out := &sandboxv2.ListSnapshotsResponse{}
	for _, sn := range h.snapshots.list(principalOf(ctx).Name, false) {
		out.Snapshots = append(out.Snapshots, sn.describe())
	}
	return connect.NewResponse(out), nil
}

// RenewSnapshot implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) RenewSnapshot(ctx context.Context, req *connect.Request[sandboxv2.RenewSnapshotRequest]) (*connect.Response[sandboxv2.RenewSnapshotResponse], error) {
	sn, done, err := h.snapshot(ctx, req.Msg.GetSnapshotId())
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	done()
	return connect.NewResponse(&sandboxv2.RenewSnapshotResponse{IdleAt: sn.describe().GetIdleAt()}), nil
}

// RemoveSnapshot implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) RemoveSnapshot(ctx context.Context, req *connect.Request[sandboxv2.RemoveSnapshotRequest]) (*connect.Response[sandboxv2.RemoveSnapshotResponse], error) {
	if err := h.removeSnapshot(req.Msg.GetSnapshotId(), principalOf(ctx).Name); err != nil {
		return nil, h.fail(ctx, err)
	}
	return connect.NewResponse(&sandboxv2.RemoveSnapshotResponse{}), nil
}

// GetSnapshot implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) GetSnapshot(ctx context.Context, req *connect.Request[sandboxv2.GetSnapshotRequest], stream *connect.ServerStream[sandboxv2.GetSnapshotResponse]) error {
	sn, done, err := h.snapshot(ctx, req.Msg.GetSnapshotId())
	if err != nil {
		return h.fail(ctx, err)
	}
	defer done()
	defer hurry(ctx, sn.use.gone)()
	if _, err := sn.snap.WriteTo(snapshotWriter{ctx, stream}); err != nil {
		return h.fail(ctx, err)
	}
	return nil
}

// snapshotWriter sends what is written.
type snapshotWriter struct {
	ctx    context.Context //nolint:containedctx // a writer has no other way to end
	stream *connect.ServerStream[sandboxv2.GetSnapshotResponse]
}

func (w snapshotWriter) Write(p []byte) (int, error) {
	total := 0
	for len(p) > 0 {
		if w.ctx.Err() != nil {
			return total, context.Cause(w.ctx)
		}
		n := min(len(p), filePiece)
		if err := w.stream.Send(&sandboxv2.GetSnapshotResponse{Data: p[:n]}); err != nil {
			return total, err
		}
		total += n
		p = p[n:]
	}
	return total, nil
}

// PutSnapshot implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) PutSnapshot(ctx context.Context, stream *connect.ClientStream[sandboxv2.PutSnapshotRequest]) (*connect.Response[sandboxv2.PutSnapshotResponse], error) {
	if !stream.Receive() {
		return nil, h.fail(ctx, streamError(stream.Err()))
	}
	limit := h.opts.Limits.SnapshotBytes
	switch asked := stream.Msg().GetLimitBytes(); {
	case asked < 0:
		return nil, h.fail(ctx, &engine.InvalidError{Field: "limit", Problem: "is negative"})
	case asked > 0:
		limit = min(limit, asked)
	}
	sn, err := h.keep(ctx, true, func(taking context.Context) (*engine.Snapshot, error) {
		defer whenOver(taking, func() { cutBody(ctx) })() // Close does not wait for a client that is silent
		return h.host.ReadSnapshot(taking, &snapshotReader{stream: stream, left: stream.Msg().GetData()}, limit)
	})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return connect.NewResponse(&sandboxv2.PutSnapshotResponse{Snapshot: sn.describe()}), nil
}

// snapshotReader reads the messages of PutSnapshot.
type snapshotReader struct {
	stream *connect.ClientStream[sandboxv2.PutSnapshotRequest]
	left   []byte
}

func (r *snapshotReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if !r.stream.Receive() {
			if err := r.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		r.left = r.stream.Msg().GetData()
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}
