package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// as is the context of a call of a principal.
func as(ctx context.Context, name string) context.Context {
	return withPrincipal(ctx, &Principal{Name: name, Policy: DefaultPolicy()})
}

// The sweeper closes a session when it was not used for its idle time, or at the end of its life, and a snapshot likewise.
func TestServer_Sweeps(t *testing.T) {
	sharedDriver()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, wasmHost{}, &Options{IdleTimeout: time.Minute, Lifetime: time.Hour})
		h := &handler{s}
		ctx := as(t.Context(), "a")
		m := must(t, wrap(ctx, h.OpenSession), &sandboxv2.OpenSessionRequest{Label: "x"}).GetSession()
		idle := must(t, wrap(ctx, h.OpenSession), &sandboxv2.OpenSessionRequest{IdleTimeout: durationpb.New(10 * time.Second)}).GetSession()
		if life := m.GetExpiresAt().AsTime().Sub(m.GetCreatedAt().AsTime()); life != time.Hour {
			t.Errorf("lifetime %v, want an hour", life)
		}
		snap := must(t, wrap(ctx, h.Snapshot), &sandboxv2.SnapshotRequest{SessionId: m.GetSessionId()}).GetSnapshot().GetSnapshotId()
		for range 9 {
			time.Sleep(59 * time.Second)
			must(t, wrap(ctx, h.RenewSession), &sandboxv2.RenewSessionRequest{SessionId: m.GetSessionId()})
			must(t, wrap(ctx, h.RenewSnapshot), &sandboxv2.RenewSnapshotRequest{SnapshotId: snap})
		}
		if n := s.sessions.length(); n != 1 {
			t.Errorf("%d sessions, want the one that was renewed", n)
		}
		wantNoSession(t, "the idle one", wrap(ctx, h.GetSession), &sandboxv2.GetSessionRequest{SessionId: idle.GetSessionId()})
		_, done, err := s.session(ctx, m.GetSessionId()) // a call that goes on
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		wantNoSession(t, "the snapshot", wrap(ctx, h.RenewSnapshot), &sandboxv2.RenewSnapshotRequest{SnapshotId: snap})
		if n := s.sessions.length(); n != 1 {
			t.Errorf("%d sessions, want the one that is in use", n)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if n := s.sessions.length(); n != 0 {
			t.Errorf("%d sessions after their lifetime", n)
		}
		done()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// wrap gives a method of the handler another context.
func wrap[Q, A any](ctx context.Context, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error)) func(context.Context, *connect.Request[Q]) (*connect.Response[A], error) {
	return func(_ context.Context, req *connect.Request[Q]) (*connect.Response[A], error) { return call(ctx, req) }
}

func wantNoSession[Q, A any](t *testing.T, what string, call func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), m *Q) {
	t.Helper()
	if _, err := call(t.Context(), connect.NewRequest(m)); !errors.Is(wire.FromError(err), engine.ErrNoSession) {
		t.Errorf("%s: %v, want %v", what, err, engine.ErrNoSession)
	}
}

// slowHost opens sessions when it is let, whatever the caller's context says.
type slowHost struct {
	wasmHost
	opening, let chan struct{}
	open         *atomic.Int32
}

func (h slowHost) Open(_ context.Context, backend string, opts *engine.Options) (*engine.Session, error) {
	h.opening <- struct{}{}
	<-h.let
	se, err := h.wasmHost.Open(context.Background(), backend, opts)
	if err == nil {
		h.open.Add(1)
	}
	return se, err
}

// Close waits for a session that is being opened, and closes it: the program closes the host next.
func TestServer_CloseWaitsForOpen(t *testing.T) {
	host := slowHost{opening: make(chan struct{}), let: make(chan struct{}), open: new(atomic.Int32)}
	s := newServer(t, host, nil)
	opened := make(chan error, 1)
	go func() {
		_, err := s.open(as(t.Context(), "a"), &opening{})
		opened <- err
	}()
	<-host.opening
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	<-s.life.Done()
	select {
	case err := <-closed:
		t.Error(err, "Close has returned while a session is being opened")
	case <-time.After(20 * time.Millisecond):
	}
	close(host.let)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if n := s.sessions.length(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if err := <-opened; !errors.Is(err, engine.ErrDraining) {
		t.Errorf("open = %v, want %v", err, engine.ErrDraining)
	}
	if _, err := s.open(as(t.Context(), "a"), &opening{}); !errors.Is(err, engine.ErrDraining) {
		t.Errorf("open after Close = %v, want %v", err, engine.ErrDraining)
	}
}

// A session whose client has gone while it was opened is closed: nobody knows its name.
func TestServer_ClientGoneDuringOpen(t *testing.T) {
	host := slowHost{opening: make(chan struct{}), let: make(chan struct{}), open: new(atomic.Int32)}
	s := newServer(t, host, nil)
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() {
		_, err := s.open(as(ctx, "a"), &opening{})
		opened <- err
	}()
	<-host.opening
	cancel()
	close(host.let)
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("open = %v, want %v", err, context.Canceled)
	}
	if n := s.sessions.length(); n != 0 || host.open.Load() != 1 {
		t.Errorf("%d sessions are left of %d, want none of 1", n, host.open.Load())
	}
}

// panicHost fails in a way that it should not.
type panicHost struct{ wasmHost }

func (panicHost) Open(context.Context, string, *engine.Options) (*engine.Session, error) {
	panic("secret")
}

// A panic in a call is Internal for its client, who learns no more. The server goes on, and has lost nothing by it.
func TestServer_Panic(t *testing.T) {
	s := launch(t, panicHost{}, &Options{Limits: Limits{Sessions: 1}})
	c := s.client(t, "a")
	for range 3 {
		_, err := c.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
		if e := new(connect.Error); !errors.As(err, &e) || e.Code() != connect.CodeInternal || e.Message() != "internal error" {
			t.Errorf("open = %v, want an internal error and nothing else", err)
		}
	}
	if n := s.sessions.length(); n != 0 {
		t.Errorf("%d sessions are counted", n)
	}
	must(t, c.ListSessions, &sandboxv2.ListSessionsRequest{})
}

func TestServer_SessionLimits(t *testing.T) {
	policy := DefaultPolicy()
	policy.MaxSessions, policy.MaxSnapshots = 2, 1
	s := launch(t, wasmHost{}, &Options{Authenticator: byName{policy}, Limits: Limits{Sessions: 3, Snapshots: 1}})
	a, b := s.client(t, "a"), s.client(t, "b")
	first := openOne(t, a)
	openOne(t, a)
	check := func(what string, err error, want *engine.LimitError) {
		t.Helper()
		if got, _ := errors.AsType[*engine.LimitError](wire.FromError(err)); got == nil || *got != *want {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	_, err := a.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
	check("a third session of a", err, &engine.LimitError{What: "sessions", Max: 2, OfPrincipal: true})
	foreign := openOne(t, b)
	_, err = b.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
	check("a fourth session", err, &engine.LimitError{What: "sessions", Max: 3})
	snap := must(t, a.Snapshot, &sandboxv2.SnapshotRequest{SessionId: first}).GetSnapshot()
	_, err = a.Snapshot(t.Context(), connect.NewRequest(&sandboxv2.SnapshotRequest{SessionId: first}))
	check("a second snapshot", err, &engine.LimitError{What: "snapshots", Max: 1})
	must(t, a.RemoveSnapshot, &sandboxv2.RemoveSnapshotRequest{SnapshotId: snap.GetSnapshotId()})
	must(t, b.Snapshot, &sandboxv2.SnapshotRequest{SessionId: foreign})
	must(t, a.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: first})
	openOne(t, a)
	wantNoSession(t, "close a foreign session", a.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: foreign})
	must(t, s.client(t, "admin").CloseSession, &sandboxv2.CloseSessionRequest{SessionId: foreign})
}

// Drain and Close while everything is under way: every call ends, with an error that says why or none, and nothing is left.
func TestServer_CloseHammer(t *testing.T) {
	s := launch(t, wasmHost{}, &Options{Limits: Limits{Runs: 4, Snapshots: 4}})
	c := s.client(t, "a")
	warm := openOne(t, c)
	if out := runScript(t, c, &sandboxv2.RunRequest{SessionId: warm, Script: "print(1)"}); out.text() != "1\n" {
		t.Fatalf("%q", out.text())
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for ctx.Err() == nil {
				hammerOnce(ctx, t, s)
			}
		})
	}
	time.Sleep(300 * time.Millisecond)
	drain, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	_ = s.Drain(drain) // or its time is over
	stop()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	cancel()
	all.Wait()
	if taken, queued := s.runs.lengths(); s.sessions.length()+s.snapshots.length()+taken+queued != 0 {
		t.Errorf("%d sessions, %d snapshots, %d runs and %d in the queue are left", s.sessions.length(), s.snapshots.length(), taken, queued)
	}
}

// hammerOnce uses a session in every way.
func hammerOnce(ctx context.Context, t *testing.T, s *testServer) {
	c := s.client(t, "a")
	m, err := c.OpenSession(ctx, connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
	if err != nil {
		wantTyped(t, err)
		return
	}
	id := m.Msg.GetSession().GetSessionId()
	var all sync.WaitGroup
	all.Go(func() {
		stream, err := c.Run(ctx, connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Script: "import time\ntime.sleep(0.02)\nprint(1)"}))
		if err == nil {
			for stream.Receive() {
				continue
			}
			err = stream.Err()
			stream.Close()
		}
		wantTyped(t, err)
	})
	all.Go(func() {
		put := c.PutFile(ctx)
		_ = put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: id, Path: "f"}}})
		for range 20 {
			_ = put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: make([]byte, 64<<10)}})
		}
		_, err := put.CloseAndReceive()
		wantTyped(t, err)
	})
	all.Go(func() {
		m, err := c.Snapshot(ctx, connect.NewRequest(&sandboxv2.SnapshotRequest{SessionId: id}))
		wantTyped(t, err)
		if err == nil {
			_, err = c.RemoveSnapshot(ctx, connect.NewRequest(&sandboxv2.RemoveSnapshotRequest{SnapshotId: m.Msg.GetSnapshot().GetSnapshotId()}))
			wantTyped(t, err)
		}
	})
	all.Wait()
	_, err = c.CloseSession(ctx, connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: id}))
	wantTyped(t, err)
}

// wantTyped takes no error, and those that a call may end with while the server ends.
func wantTyped(t *testing.T, err error) {
	t.Helper()
	err = wire.FromError(err)
	for _, known := range []error{nil, engine.ErrDraining, engine.ErrClosed, engine.ErrNoSession, engine.ErrLimit, context.Canceled} {
		if errors.Is(err, known) {
			return
		}
	}
	t.Errorf("%T: %v", err, err)
}
