package remote

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// strange is a server that says what a test wants it to say. Without a word, it has one session.
type strange struct {
	sandboxv2connect.UnimplementedSandboxServiceHandler
	session *sandboxv2.Session
	run     func(context.Context, *sandboxv2.RunRequest, func(*sandboxv2.RunEvent) error) error
	files   []*sandboxv2.GetFileResponse
	list    func(*sandboxv2.ListFilesRequest) (*sandboxv2.ListFilesResponse, error)
	snap    *sandboxv2.SnapshotInfo

	renewed, renewedSnapshots, listed, ran, closed atomic.Int32
	renewErr                                       atomic.Pointer[connect.Error]
}

func newStrange() *strange {
	return &strange{session: &sandboxv2.Session{SessionId: "s", CreatedAt: timestamppb.Now(), IdleTimeout: durationpb.New(time.Hour)}}
}

func (s *strange) OpenSession(context.Context, *connect.Request[sandboxv2.OpenSessionRequest]) (*connect.Response[sandboxv2.OpenSessionResponse], error) {
	return connect.NewResponse(&sandboxv2.OpenSessionResponse{Session: s.session}), nil
}

func (s *strange) CloseSession(context.Context, *connect.Request[sandboxv2.CloseSessionRequest]) (*connect.Response[sandboxv2.CloseSessionResponse], error) {
	s.closed.Add(1)
	return connect.NewResponse(&sandboxv2.CloseSessionResponse{}), nil
}

func (s *strange) RenewSession(context.Context, *connect.Request[sandboxv2.RenewSessionRequest]) (*connect.Response[sandboxv2.RenewSessionResponse], error) {
	s.renewed.Add(1)
	if err := s.renewErr.Load(); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.RenewSessionResponse{}), nil
}

func (s *strange) Run(ctx context.Context, req *connect.Request[sandboxv2.RunRequest], stream *connect.ServerStream[sandboxv2.RunResponse]) error {
	s.ran.Add(1)
	return s.run(ctx, req.Msg, func(ev *sandboxv2.RunEvent) error { return stream.Send(&sandboxv2.RunResponse{Event: ev}) })
}

func (s *strange) RunInteractive(ctx context.Context, stream *connect.BidiStream[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse]) error {
	s.ran.Add(1)
	m, err := stream.Receive()
	if err != nil {
		return err
	}
	return s.run(ctx, m.GetStart(), func(ev *sandboxv2.RunEvent) error {
		return stream.Send(&sandboxv2.RunInteractiveResponse{Event: ev})
	})
}

func (s *strange) GetFile(_ context.Context, _ *connect.Request[sandboxv2.GetFileRequest], stream *connect.ServerStream[sandboxv2.GetFileResponse]) error {
	for _, m := range s.files {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *strange) ListFiles(_ context.Context, req *connect.Request[sandboxv2.ListFilesRequest]) (*connect.Response[sandboxv2.ListFilesResponse], error) {
	s.listed.Add(1)
	m, err := s.list(req.Msg)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(m), nil
}

func (s *strange) Snapshot(context.Context, *connect.Request[sandboxv2.SnapshotRequest]) (*connect.Response[sandboxv2.SnapshotResponse], error) {
	return connect.NewResponse(&sandboxv2.SnapshotResponse{Snapshot: s.snap}), nil
}

func (s *strange) RenewSnapshot(context.Context, *connect.Request[sandboxv2.RenewSnapshotRequest]) (*connect.Response[sandboxv2.RenewSnapshotResponse], error) {
	s.renewedSnapshots.Add(1)
	return connect.NewResponse(&sandboxv2.RenewSnapshotResponse{}), nil
}

func (s *strange) RemoveSnapshot(context.Context, *connect.Request[sandboxv2.RemoveSnapshotRequest]) (*connect.Response[sandboxv2.RemoveSnapshotResponse], error) {
	return connect.NewResponse(&sandboxv2.RemoveSnapshotResponse{}), nil
}

// serveStrange serves it over HTTP/2 without TLS.
func serveStrange(t *testing.T, s *strange) (url string) {
	t.Helper()
	_, handler := sandboxv2connect.NewSandboxServiceHandler(s)
	return serveHandler(t, handler)
}

func serveHandler(t *testing.T, handler http.Handler) (url string) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: handler, Protocols: &protocols, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = web.Serve(l) }) // it is closed
	t.Cleanup(func() {
		web.Close()
		serving.Wait()
	})
	return "http://" + l.Addr().String()
}

// openStrange opens the session of a strange server.
func openStrange(t *testing.T, s *strange) *engine.Session {
	t.Helper()
	se, err := Open(t.Context(), serveStrange(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = se.Close() }) // a test that wants to know closes it itself
	return se
}
