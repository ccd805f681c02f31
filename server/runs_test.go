package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// output is what a client has seen of a run.
type output struct {
	id             string
	stdout, stderr []byte
	skipped        int64
	result         *sandboxv2.Result
}

func (o *output) text() string { return string(o.stdout) }

// add notes an event, and that it comes in its place.
func (o *output) add(t testing.TB, ev *sandboxv2.RunEvent) {
	t.Helper()
	if (o.id == "") != (ev.GetStarted() != nil) || o.result != nil {
		t.Errorf("an event out of place: %v", ev)
	}
	if ev.GetStarted() != nil {
		o.id = ev.GetStarted().GetRunId()
	}
	o.stdout = append(o.stdout, ev.GetStdout()...)
	o.stderr = append(o.stderr, ev.GetStderr()...)
	o.skipped += ev.GetStdoutSkipped()
	o.result = ev.GetExited()
}

// runScript runs a script that must end.
func runScript(t testing.TB, c sandboxv2connect.SandboxServiceClient, m *sandboxv2.RunRequest) *output {
	t.Helper()
	stream, err := c.Run(t.Context(), connect.NewRequest(m))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	o := &output{}
	for stream.Receive() {
		o.add(t, stream.Msg().GetEvent())
	}
	if err := stream.Err(); err != nil || o.result == nil {
		t.Fatalf("run: %v, %v", o.result, err)
	}
	return o
}

// attachTo attaches to a run from an offset of stdout, until its end.
func attachTo(t testing.TB, c sandboxv2connect.SandboxServiceClient, session, run string, from int64) (*output, error) {
	t.Helper()
	stream, err := c.AttachRun(t.Context(), connect.NewRequest(&sandboxv2.AttachRunRequest{SessionId: session, RunId: run, StdoutOffset: from}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	o := &output{}
	for stream.Receive() {
		o.add(t, stream.Msg().GetEvent())
	}
	return o, wire.FromError(stream.Err())
}

// detach starts a detached run and leaves it as soon as it has begun.
func detach(t testing.TB, c sandboxv2connect.SandboxServiceClient, m *sandboxv2.RunRequest) (id string) {
	t.Helper()
	m.Detach = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.Run(ctx, connect.NewRequest(m))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	return stream.Msg().GetEvent().GetStarted().GetRunId()
}

func TestDetached_AttachWhileRunning(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	id := openOne(t, c)
	run := detach(t, c, &sandboxv2.RunRequest{SessionId: id, StdinPipe: true, Script: "print('begun', flush=True)\nprint(input())"})
	type seen struct {
		o   *output
		err error
	}
	first, second := make(chan seen), make(chan seen)
	for from, ch := range map[int64]chan seen{0: first, 3: second} {
		go func() {
			o, err := attachTo(t, c, id, run, from)
			for errors.Is(err, engine.ErrInvalid) { // it has not written so much yet
				time.Sleep(time.Millisecond)
				o, err = attachTo(t, c, id, run, from)
			}
			ch <- seen{o, err}
		}()
	}
	waiting := make(chan *sandboxv2.Result)
	go func() {
		waiting <- must(t, c.WaitRun, &sandboxv2.WaitRunRequest{SessionId: id, RunId: run}).GetResult()
	}()
	time.Sleep(50 * time.Millisecond) // so that some attach before more comes
	must(t, c.WriteStdin, &sandboxv2.WriteStdinRequest{SessionId: id, RunId: run, Data: []byte("ended\n"), Close: true})
	for want, ch := range map[string]chan seen{"begun\nended\n": first, "un\nended\n": second} {
		if got := <-ch; got.err != nil || got.o.text() != want || got.o.result.GetReason() != sandboxv2.Reason_REASON_EXITED {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	if r := <-waiting; r.GetExitCode() != 0 || r.GetReason() != sandboxv2.Reason_REASON_EXITED {
		t.Errorf("WaitRun = %v", r)
	}
	for from, want := range []string{"begun\nended\n", "egun\nended\n"} {
		if o, err := attachTo(t, c, id, run, int64(from)); err != nil || o.text() != want || o.result == nil {
			t.Errorf("after the end from %d: %v, %v, want %q", from, o, err, want)
		}
	}
	if _, err := attachTo(t, c, id, run, 100); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("attach past the end = %v, want %v", err, engine.ErrInvalid)
	}
	_, err := c.WriteStdin(t.Context(), connect.NewRequest(&sandboxv2.WriteStdinRequest{SessionId: id, RunId: run, Data: []byte("x")}))
	if connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("WriteStdin after the end = %v", err)
	}
}

// A detached run that writes more than is kept does not wait for anybody. Who attaches learns how much is missing.
func TestDetached_MoreThanTheRing(t *testing.T) {
	s := launch(t, wasmHost{}, &Options{DetachedOutput: 1000})
	c := s.client(t, "a")
	id := openOne(t, c)
	run := detach(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "for i in range(10000): print('%09d' % i)"})
	r := must(t, c.WaitRun, &sandboxv2.WaitRunRequest{SessionId: id, RunId: run}).GetResult()
	if r.GetStdoutBytes() != 100_000 {
		t.Errorf("it wrote %d bytes, want 100000", r.GetStdoutBytes())
	}
	o, err := attachTo(t, c, id, run, 0)
	if err != nil || o.skipped != 99_000 || !strings.HasPrefix(o.text(), "000009900\n") || len(o.stdout) != 1000 {
		t.Errorf("skipped %d and got %d bytes, %v, want 99000 and 1000", o.skipped, len(o.stdout), err)
	}
	if o, err = attachTo(t, c, id, run, 99_500); err != nil || o.skipped != 0 || len(o.stdout) != 500 {
		t.Errorf("skipped %d and got %d bytes, %v, want 0 and 500", o.skipped, len(o.stdout), err)
	}
}

// A session remembers the last hundred runs that have ended.
func TestSession_Remembers(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	id := openOne(t, c)
	var ids []string
	for i := range maxEnded + 3 {
		ids = append(ids, runScript(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "1", Name: fmt.Sprintf("r%d.py", i)}).id)
	}
	var runs []*sandboxv2.Run
	for range 100 { // the last one is noted a moment after its client has its end
		if runs = must(t, c.ListRuns, &sandboxv2.ListRunsRequest{SessionId: id}).GetRuns(); len(runs) == maxEnded && runs[maxEnded-1].GetResult() != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var got []string
	for _, r := range runs {
		got = append(got, r.GetRunId())
	}
	if !slices.Equal(got, ids[3:]) {
		t.Errorf("%d runs are known, or others than the last %d", len(got), maxEnded)
	}
	wantNoSession(t, "the run before them", c.WaitRun, &sandboxv2.WaitRunRequest{SessionId: id, RunId: ids[2]})
	must(t, c.SignalRun, &sandboxv2.SignalRunRequest{SessionId: id, RunId: ids[3], Signal: sandboxv2.Signal_SIGNAL_KILL})
	if _, err := attachTo(t, c, id, ids[3], 0); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("attach to a run that was not detached = %v, want %v", err, engine.ErrInvalid)
	}
}

// A run ends with its client, unless it is detached; a detached one ends with its session, and when its client said.
func TestRun_Lifetimes(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	id := openOne(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := c.Run(ctx, connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Script: "while True: pass"}))
	if err != nil || !stream.Receive() {
		t.Fatal(err, stream.Err())
	}
	mine := stream.Msg().GetEvent().GetStarted().GetRunId()
	timed := detach(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "while True: pass", CancelAfter: durationpb.New(100 * time.Millisecond)})
	cancel()
	stream.Close()
	for _, run := range []string{mine, timed} {
		if r := must(t, c.WaitRun, &sandboxv2.WaitRunRequest{SessionId: id, RunId: run}).GetResult(); r.GetReason() != sandboxv2.Reason_REASON_CANCELLED {
			t.Errorf("%v, want that it was cancelled", r)
		}
	}
	last := detach(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "while True: pass"})
	ended := make(chan error)
	go func() {
		o, err := attachTo(t, c, id, last, 0)
		if err == nil && o.result.GetReason() != sandboxv2.Reason_REASON_CANCELLED {
			err = fmt.Errorf("%v", o.result)
		}
		ended <- err
	}()
	for len(must(t, c.ListRuns, &sandboxv2.ListRunsRequest{SessionId: id}).GetRuns()) != 3 {
		time.Sleep(time.Millisecond)
	}
	must(t, c.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: id})
	if err := <-ended; err != nil && !errors.Is(err, engine.ErrNoSession) {
		t.Errorf("attached to a run whose session was closed: %v", err)
	}
}

// Who has as many runs as it may waits, and so do not the others; who may not wait is told.
func TestRun_Queue(t *testing.T) {
	policy := DefaultPolicy()
	policy.MaxRuns, policy.MaxQueued = 1, 1
	s := launch(t, wasmHost{}, &Options{Authenticator: byName{policy}, Limits: Limits{Runs: 2}})
	a, b := s.client(t, "a"), s.client(t, "b")
	id := openOne(t, a)
	first := detach(t, a, &sandboxv2.RunRequest{SessionId: id, Script: "while True: pass"})
	waits := make(chan *output)
	go func() { waits <- runScript(t, a, &sandboxv2.RunRequest{SessionId: id, Script: "print(2)"}) }()
	for {
		if _, queued := s.runs.lengths(); queued == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	stream, err := a.Run(t.Context(), connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Script: "print(3)"}))
	if err == nil && !stream.Receive() {
		err = stream.Err()
		stream.Close()
	}
	err = wire.FromError(err)
	if limit, _ := errors.AsType[*engine.LimitError](err); limit == nil || *limit != (engine.LimitError{What: "queue", Max: 1, OfPrincipal: true}) || !errors.Is(err, engine.ErrNotStarted) {
		t.Errorf("a third run = %v, want the principal's limit of its queue", err)
	}
	if out := runScript(t, b, &sandboxv2.RunRequest{SessionId: openOne(t, b), Script: "print(4)"}); out.text() != "4\n" {
		t.Errorf("%q", out.text())
	}
	must(t, a.SignalRun, &sandboxv2.SignalRunRequest{SessionId: id, RunId: first, Signal: sandboxv2.Signal_SIGNAL_KILL})
	if out := <-waits; out.text() != "2\n" {
		t.Errorf("%q", out.text())
	}
}

// A client that leaves an interactive run with a full stdin does not leave its handler behind.
func TestRunInteractive_ClientLeaves(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	id := openOne(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	stream := c.RunInteractive(ctx)
	if err := stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Start{Start: &sandboxv2.RunRequest{SessionId: id, Script: "while True: pass"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Receive(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: make([]byte, 60<<10)}}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	stream.CloseResponse() // with the context alone, the transport goes on waiting for more to send
	for {
		if taken, _ := s.runs.lengths(); taken == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}
