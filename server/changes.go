package server

import (
	"context"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// changesPiece is how many changes are in one message.
const changesPiece = 1000

// inSession does what calls on a session have in common.
func (h *handler) inSession(ctx context.Context, id string, f func(*session) error) error {
	se, done, err := h.session(ctx, id)
	if err == nil {
		defer done()
		err = f(se)
	}
	if err != nil {
		return h.fail(ctx, err)
	}
	return nil
}

// eachPiece sends changes in messages.
func eachPiece(list []engine.Change, send func([]*sandboxv2.Change) error) error {
	for len(list) > 0 {
		n := min(len(list), changesPiece)
		var out []*sandboxv2.Change
		for i := range list[:n] {
			out = append(out, wire.Change(&list[i]))
		}
		if err := send(out); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// MarkFiles implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) MarkFiles(ctx context.Context, req *connect.Request[sandboxv2.MarkFilesRequest]) (*connect.Response[sandboxv2.MarkFilesResponse], error) {
	if err := h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error { return se.Mark(ctx) }); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.MarkFilesResponse{}), nil
}

// DiffFiles implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) DiffFiles(ctx context.Context, req *connect.Request[sandboxv2.DiffFilesRequest], stream *connect.ServerStream[sandboxv2.DiffFilesResponse]) error {
	return h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error {
		list, err := se.Diff(ctx)
		if err != nil {
			return err
		}
		return eachPiece(list, func(cs []*sandboxv2.Change) error { return stream.Send(&sandboxv2.DiffFilesResponse{Changes: cs}) })
	})
}

// CommitFiles implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) CommitFiles(ctx context.Context, req *connect.Request[sandboxv2.CommitFilesRequest], stream *connect.ServerStream[sandboxv2.CommitFilesResponse]) error {
	return h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error {
		list, err := se.Commit(ctx)
		// What was applied is told, also when something failed after it.
		sendErr := eachPiece(list, func(cs []*sandboxv2.Change) error { return stream.Send(&sandboxv2.CommitFilesResponse{Changes: cs}) })
		if err != nil {
			return err
		}
		return sendErr
	})
}

// ResetInterpreter implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ResetInterpreter(ctx context.Context, req *connect.Request[sandboxv2.ResetInterpreterRequest]) (*connect.Response[sandboxv2.ResetInterpreterResponse], error) {
	if err := h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error { return se.ResetInterpreter(ctx) }); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.ResetInterpreterResponse{}), nil
}
