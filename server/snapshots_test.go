package server

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// putSnapshot sends a snapshot in small pieces.
func putSnapshot(t *testing.T, c sandboxv2connect.SandboxServiceClient, data []byte, limit int64) (string, error) {
	t.Helper()
	stream := c.PutSnapshot(t.Context())
	for piece := range slices.Chunk(data, 10_000) {
		if stream.Send(&sandboxv2.PutSnapshotRequest{LimitBytes: limit, Data: piece}) != nil {
			break // the answer says why
		}
	}
	m, err := stream.CloseAndReceive()
	if err != nil {
		return "", wire.FromError(err)
	}
	return m.Msg.GetSnapshot().GetSnapshotId(), nil
}

func getSnapshot(t *testing.T, c sandboxv2connect.SandboxServiceClient, id string) []byte {
	t.Helper()
	stream, err := c.GetSnapshot(t.Context(), connect.NewRequest(&sandboxv2.GetSnapshotRequest{SnapshotId: id}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var data []byte
	for stream.Receive() {
		data = append(data, stream.Msg().GetData()...)
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	return data
}

// A snapshot goes to its client and back. What is none, damaged or too large is refused, and counts for nothing.
func TestSnapshot_RoundTrip(t *testing.T) {
	s := launch(t, wasmHost{}, &Options{Limits: Limits{Snapshots: 2, SnapshotBytes: 256 << 20}})
	c, other := s.client(t, "a"), s.client(t, "b")
	id := openOne(t, c)
	must(t, c.PutBytes, &sandboxv2.PutBytesRequest{SessionId: id, Path: "dir/f", Data: []byte("content")})
	runScript(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "x = 41", Interpreter: sandboxv2.Interpreter_INTERPRETER_SESSION})
	snap := must(t, c.Snapshot, &sandboxv2.SnapshotRequest{SessionId: id}).GetSnapshot().GetSnapshotId()
	data := getSnapshot(t, c, snap)
	damaged := slices.Clone(data)
	damaged[len(damaged)/2] ^= 1
	for name, bad := range map[string]struct {
		data  []byte
		limit int64
		want  error
	}{
		"nothing":   {nil, 0, engine.ErrInvalid},
		"none":      {bytes.Repeat([]byte("x"), 50_000), 0, engine.ErrSnapshot},
		"cut":       {data[:len(data)-1], 0, engine.ErrSnapshot},
		"damaged":   {damaged, 0, engine.ErrSnapshot},
		"more":      {append(slices.Clone(data), 0), 0, engine.ErrSnapshot},
		"too large": {data, 1000, engine.ErrTooLarge},
		"negative":  {data, -1, engine.ErrInvalid},
	} {
		if _, err := putSnapshot(t, c, bad.data, bad.limit); !errors.Is(err, bad.want) {
			t.Errorf("%s: %v, want %v", name, err, bad.want)
		}
	}
	if n := s.snapshots.length(); n != 1 {
		t.Errorf("%d snapshots are counted, want 1", n)
	}
	again, err := putSnapshot(t, other, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	opened := must(t, other.OpenFrom, &sandboxv2.OpenFromRequest{SnapshotId: again}).GetSession().GetSessionId()
	out := runScript(t, other, &sandboxv2.RunRequest{SessionId: opened, Script: "print(x + 1, open('dir/f').read())", Interpreter: sandboxv2.Interpreter_INTERPRETER_SESSION})
	if out.text() != "42 content\n" {
		t.Errorf("%q, %q", out.text(), out.stderr)
	}
	wantNoSession(t, "another's snapshot", other.OpenFrom, &sandboxv2.OpenFromRequest{SnapshotId: snap})
	wantNoSession(t, "remove another's snapshot", other.RemoveSnapshot, &sandboxv2.RemoveSnapshotRequest{SnapshotId: snap})
	wantNoSession(t, "renew another's snapshot", other.RenewSnapshot, &sandboxv2.RenewSnapshotRequest{SnapshotId: snap})
	if list := must(t, other.ListSnapshots, &sandboxv2.ListSnapshotsRequest{}).GetSnapshots(); len(list) != 1 || list[0].GetSnapshotId() != again {
		t.Errorf("b sees %v", list)
	}
}

// Close does not wait for a client that has sent half a snapshot.
func TestSnapshot_CloseDuringPut(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	stream := c.PutSnapshot(t.Context())
	if err := stream.Send(&sandboxv2.PutSnapshotRequest{Data: []byte("sandbar snapshot 1\n")}); err != nil {
		t.Fatal(err)
	}
	for s.snapshots.length() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := s.snapshots.length(); n != 0 {
		t.Errorf("%d snapshots are counted", n)
	}
	if _, err := stream.CloseAndReceive(); err == nil {
		t.Error("half a snapshot was taken")
	}
}

// Drain lets runs end that are there or wait, and lets in no other one.
func TestServer_Drain(t *testing.T) {
	s := launch(t, wasmHost{}, &Options{Limits: Limits{Runs: 1}})
	c := s.client(t, "a")
	id := openOne(t, c)
	run := detach(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "input()", StdinPipe: true})
	waits := make(chan *output)
	go func() { waits <- runScript(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "print(2)"}) }()
	for {
		if _, queued := s.runs.lengths(); queued == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	drained := make(chan error)
	go func() { drained <- s.Drain(t.Context()) }()
	for !s.Draining() {
		time.Sleep(time.Millisecond)
	}
	stream, err := c.Run(t.Context(), connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Script: "print(3)"}))
	if err == nil && !stream.Receive() {
		err = stream.Err()
		stream.Close()
	}
	if !errors.Is(wire.FromError(err), engine.ErrDraining) {
		t.Errorf("a run while the server drains: %v, want %v", err, engine.ErrDraining)
	}
	if _, err := c.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{})); !errors.Is(wire.FromError(err), engine.ErrDraining) {
		t.Errorf("a session while the server drains: %v, want %v", err, engine.ErrDraining)
	}
	select {
	case err := <-drained:
		t.Errorf("Drain has returned %v with runs under way", err)
	default:
	}
	must(t, c.WriteStdin, &sandboxv2.WriteStdinRequest{SessionId: id, RunId: run, Close: true})
	if out := <-waits; out.text() != "2\n" {
		t.Errorf("%q", out.text())
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}
