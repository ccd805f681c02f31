package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// A half is a call that ends in its middle: it calls begun there, and then waits for what does not come before ctx ends.
type half func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func())

// fixture is what the halves work on.
type fixture struct{ session, run, snapshot string }

// halves are the calls that last.
var halves = map[string]half{
	"Run": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream, err := c.Run(ctx, connectRequest(shellRun(has.session, "echo begun; sleep 600")))
		waitAll(stream, err, begun)
	},
	"Run, python": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream, err := c.Run(ctx, connectRequest(&sandboxv2.RunRequest{SessionId: has.session, Script: "import time; time.sleep(600)"}))
		waitAll(stream, err, begun)
	},
	"Run, torrent": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		m := shellRun(has.session, "yes")
		m.StreamOutput = true
		stream, err := c.Run(ctx, connectRequest(m))
		if err == nil && stream.Receive() {
			begun()
			<-ctx.Done()
			stream.Close()
		}
	},
	"RunInteractive": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream := c.RunInteractive(ctx)
		_ = stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Start{Start: shellRun(has.session, "read line; read line")}})
		if _, err := stream.Receive(); err == nil {
			_ = stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: []byte("line\n")}})
			begun()
		}
		// Net/http sees the end of ctx when it does not wait for the request.
		context.AfterFunc(ctx, func() { _ = stream.CloseRequest() })
		_, _ = stream.Receive()
	},
	"AttachRun": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream, err := c.AttachRun(ctx, connectRequest(&sandboxv2.AttachRunRequest{SessionId: has.session, RunId: has.run}))
		waitAll(stream, err, begun)
	},
	"WaitRun": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		begun()
		_, _ = c.WaitRun(ctx, connectRequest(&sandboxv2.WaitRunRequest{SessionId: has.session, RunId: has.run}))
	},
	"WriteStdin": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		begun()
		_, _ = c.WriteStdin(ctx, connectRequest(&sandboxv2.WriteStdinRequest{SessionId: has.session, RunId: has.run, Data: make([]byte, 1<<20)}))
	},
	"PutFile": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream := c.PutFile(ctx)
		_ = stream.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: has.session, Path: "half"}}})
		_ = stream.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: make([]byte, 1<<20)}})
		begun()
		<-ctx.Done()
		_, _ = stream.CloseAndReceive()
	},
	"GetFile": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream, err := c.GetFile(ctx, connectRequest(&sandboxv2.GetFileRequest{SessionId: has.session, Path: "large"}))
		if err == nil && stream.Receive() {
			begun()
			<-ctx.Done()
			stream.Close()
		}
	},
	"PutSnapshot": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, _ *fixture, begun func()) {
		stream := c.PutSnapshot(ctx)
		_ = stream.Send(&sandboxv2.PutSnapshotRequest{})
		begun()
		<-ctx.Done()
		_, _ = stream.CloseAndReceive()
	},
	"GetSnapshot": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		stream, err := c.GetSnapshot(ctx, connectRequest(&sandboxv2.GetSnapshotRequest{SnapshotId: has.snapshot}))
		if err == nil && stream.Receive() {
			begun()
			<-ctx.Done()
			stream.Close()
		}
	},
	"Snapshot": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		begun()
		_, _ = c.Snapshot(ctx, connectRequest(&sandboxv2.SnapshotRequest{SessionId: has.session}))
	},
	"OpenSession": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, _ *fixture, begun func()) {
		begun()
		_, _ = c.OpenSession(ctx, connectRequest(&sandboxv2.OpenSessionRequest{Options: &sandboxv2.SessionOptions{Warm: "import json"}}))
	},
	"DiffFiles": func(ctx context.Context, c sandboxv2connect.SandboxServiceClient, has *fixture, begun func()) {
		begun()
		stream, err := c.DiffFiles(ctx, connectRequest(&sandboxv2.DiffFilesRequest{SessionId: has.session}))
		waitAll(stream, err, func() {})
	},
}

// waitAll reads a stream to its end.
func waitAll(stream interface {
	Receive() bool
	Close() error
}, err error, begun func(),
) {
	if err != nil {
		return
	}
	if stream.Receive() {
		begun()
	}
	for stream.Receive() {
	}
	stream.Close()
}

// giveUp makes each half several times, and cancels it in the middle. What the calls have opened meanwhile is closed.
func giveUp(t *testing.T, url string) {
	t.Helper()
	client, err := remote.NewClient(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := client.RPC()
	s, err := client.Open(t.Context(), &remote.SessionOptions{Backend: "userns"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	has := prepare(t, c, s)
	var names []string
	for name := range halves {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), patience/3)
			ran := false
			halves[name](ctx, c, has, func() { ran = true; go cancel() })
			cancel()
			if !ran {
				t.Errorf("%s has not come to its middle", name)
			}
		}
	}
	if _, err := s.Stat(t.Context(), "half"); err == nil {
		t.Error("half a file is there")
	}
	closeAll(t, c)
}

func prepare(t *testing.T, c sandboxv2connect.SandboxServiceClient, s *engine.Session) *fixture {
	t.Helper()
	if err := s.PutBytes(t.Context(), "large", make([]byte, 32<<20), nil); err != nil {
		t.Fatal(err)
	}
	has := &fixture{session: s.ID()}
	snap, err := c.Snapshot(t.Context(), connectRequest(&sandboxv2.SnapshotRequest{SessionId: s.ID()}))
	if err != nil {
		t.Fatal(err)
	}
	has.snapshot = snap.Msg.GetSnapshot().GetSnapshotId()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := shellRun(s.ID(), "sleep 600") // reads nothing
	m.Detach, m.StdinPipe = true, true
	stream, err := c.Run(ctx, connectRequest(m))
	if err != nil || !stream.Receive() {
		t.Fatal(err)
	}
	has.run = stream.Msg().GetEvent().GetStarted().GetRunId()
	return has
}

// closeAll closes what a cancelled call may have left to its principal: sessions and snapshots whose ids nobody was told.
func closeAll(t *testing.T, c sandboxv2connect.SandboxServiceClient) {
	t.Helper()
	sessions, err := c.ListSessions(t.Context(), connectRequest(&sandboxv2.ListSessionsRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions.Msg.GetSessions() {
		_, _ = c.CloseSession(t.Context(), connectRequest(&sandboxv2.CloseSessionRequest{SessionId: s.GetSessionId()}))
	}
	snapshots, err := c.ListSnapshots(t.Context(), connectRequest(&sandboxv2.ListSnapshotsRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snapshots.Msg.GetSnapshots() {
		_, _ = c.RemoveSnapshot(t.Context(), connectRequest(&sandboxv2.RemoveSnapshotRequest{SnapshotId: s.GetSnapshotId()}))
	}
}

// TestCancelled_Process: a server process has afterwards what it had before.
func TestCancelled_Process(t *testing.T) {
	p := launch(t, setup{})
	giveUp(t, p.url()) // what a server makes once is made
	count := func() string {
		return fmt.Sprintf("%d descriptors, %d processes, %d groups", descriptors(t, p.pid()), descendants(t, p.pid()), groups(p.pid()))
	}
	var before string
	until(t, "the server is at rest", func() bool {
		last := before
		before = count()
		return before == last
	})
	giveUp(t, p.url())
	giveUp(t, p.url())
	var after string
	defer func() { t.Logf("before: %s; after: %s", before, after) }()
	until(t, "the server has what it had", func() bool { after = count(); return after == before })
}

// TestCancelled_Goroutines: nor does a goroutine stay, in a server of this process.
func TestCancelled_Goroutines(t *testing.T) {
	serve := func(f func(url string)) {
		c := &setup{}
		log := slog.New(slog.DiscardHandler)
		s, handler, err := c.open(log)
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h := c.http(handler, log)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = h.Serve(l)
		}()
		f(urlOf(l.Addr()))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.Close()
		<-done
	}
	serve(func(url string) { giveUp(t, url) }) // what is made once for the process
	before := goleak.IgnoreCurrent()
	serve(func(url string) { giveUp(t, url) })
	until(t, "no goroutine is left", func() bool { return goleak.Find(before) == nil })
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
