package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

var (
	begun = &sandboxv2.RunEvent{Started: &sandboxv2.Started{RunId: "r", Tier: sandboxv2.Tier_TIER_WASM}}
	code7 = int32(7)
	exit7 = &sandboxv2.RunEvent{Exited: &sandboxv2.Result{ExitCode: &code7, Reason: sandboxv2.Reason_REASON_EXITED}}
)

// A run of which the server tells nonsense is lost, or what it has told in order counts. Nothing waits for ever.
func TestRun_Garbage(t *testing.T) {
	silent := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, test := range map[string]struct {
		events []*sandboxv2.RunEvent
		end    func(context.Context) error // nil: in order
		want   error
		stdout string
	}{
		"nothing":           {want: engine.ErrLost},
		"no event":          {events: []*sandboxv2.RunEvent{nil}, want: engine.ErrLost},
		"no started":        {events: []*sandboxv2.RunEvent{exit7}, want: engine.ErrLost},
		"no exited":         {events: []*sandboxv2.RunEvent{begun, {Stdout: []byte("a")}}, want: engine.ErrLost, stdout: "a"},
		"error":             {events: []*sandboxv2.RunEvent{begun}, end: func(context.Context) error { return connect.NewError(connect.CodeInternal, io.ErrNoProgress) }, want: engine.ErrLost},
		"started twice":     {events: []*sandboxv2.RunEvent{begun, begun, exit7}},
		"exited twice":      {events: []*sandboxv2.RunEvent{begun, exit7, {Exited: &sandboxv2.Result{Reason: sandboxv2.Reason_REASON_LOST}}}},
		"output after exit": {events: []*sandboxv2.RunEvent{begun, {Stdout: []byte("a")}, exit7, {Stdout: []byte("b")}}, stdout: "a"},
		"no end after exit": {events: []*sandboxv2.RunEvent{begun, exit7}, end: silent},
		"no event between":  {events: []*sandboxv2.RunEvent{begun, nil, {}, exit7}},
	} {
		for _, stdin := range []io.Reader{nil, blocked{}} {
			t.Run(name, func(t *testing.T) {
				s := newStrange()
				s.run = func(ctx context.Context, _ *sandboxv2.RunRequest, send func(*sandboxv2.RunEvent) error) error {
					for _, ev := range test.events {
						if err := send(ev); err != nil {
							return err
						}
					}
					if test.end != nil {
						return test.end(ctx)
					}
					return nil
				}
				se := openStrange(t, s)
				p, err := se.Run(t.Context(), "1", &engine.RunOptions{Stdin: stdin})
				var out *engine.Output
				if err == nil {
					out, err = p.Communicate(t.Context(), nil)
				}
				if !errors.Is(err, test.want) {
					t.Fatalf("run = %v, want %v", err, test.want)
				}
				if out != nil && string(out.Stdout) != test.stdout {
					t.Errorf("stdout %q, want %q", out.Stdout, test.stdout)
				}
				if err == nil && out.Result.ExitCode != 7 {
					t.Errorf("exit code %d, want 7", out.Result.ExitCode)
				}
				if n := s.ran.Load(); n != 1 {
					t.Errorf("the run was sent %d times", n)
				}
				_ = se.Close() // ends the read that the session has left
			})
		}
	}
}

// blocked is a stdin that says nothing.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// A server that is silent although its connection lives is given up when the run is stopped, with stdin and without.
func TestRun_SilentServer(t *testing.T) {
	s := newStrange()
	s.run = func(ctx context.Context, _ *sandboxv2.RunRequest, send func(*sandboxv2.RunEvent) error) error {
		if err := send(begun); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	se := openStrange(t, s)
	for _, pipe := range []bool{false, true} {
		p, err := se.Run(t.Context(), "1", &engine.RunOptions{StdinPipe: pipe})
		if err != nil {
			t.Fatal(err)
		}
		p.Kill() // it has no SignalRun: the stream is ended then
		if _, err := p.Wait(t.Context()); !errors.Is(err, engine.ErrLost) {
			t.Errorf("a run that cannot be stopped: %v, want %v", err, engine.ErrLost)
		}
	}
}

// Figures that cannot be are not measured, or nothing.
func TestRun_GarbageFigures(t *testing.T) {
	low := int64(math.MinInt64)
	s := newStrange()
	s.run = func(_ context.Context, _ *sandboxv2.RunRequest, send func(*sandboxv2.RunEvent) error) error {
		return errors.Join(send(begun), send(&sandboxv2.RunEvent{Exited: &sandboxv2.Result{
			Reason: 99, Tier: 99, WallTime: &durationpb.Duration{Seconds: math.MaxInt64, Nanos: -5}, PeakMemoryBytes: &low, StdoutBytes: low, StderrBytes: low,
		}}))
	}
	se := openStrange(t, s)
	out, err := se.Exec(t.Context(), "1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Result; r.StdoutBytes != 0 || r.StderrBytes != 0 || r.PeakMemory != engine.Unknown || r.WallTime != engine.Unknown || r.ExitCode != engine.Unknown {
		t.Errorf("%+v", r)
	}
	if u := se.Usage(); u.Runs != 1 || u.Running != 0 || u.StdoutBytes != 0 {
		t.Errorf("%+v", u)
	}
}

// What a file says of its size is not believed, and no more is taken than was asked for.
func TestGet_Garbage(t *testing.T) {
	size := func(n int64) *sandboxv2.GetFileResponse { return &sandboxv2.GetFileResponse{SizeBytes: &n} }
	for name, test := range map[string]struct {
		files []*sandboxv2.GetFileResponse
		want  error
	}{
		"negative size": {files: []*sandboxv2.GetFileResponse{size(-5000), {Data: []byte("abc")}}},
		"huge size":     {files: []*sandboxv2.GetFileResponse{size(math.MaxInt64), {Data: []byte("abc")}}},
		"many sizes":    {files: []*sandboxv2.GetFileResponse{size(1), size(-1), size(2), {Data: []byte("abc")}}},
		"too much":      {files: []*sandboxv2.GetFileResponse{size(3), {Data: []byte("abc")}, {Data: []byte("def")}}, want: engine.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStrange()
			s.files = test.files
			se := openStrange(t, s)
			if got, err := se.GetBytes(t.Context(), "f", 5); !errors.Is(err, test.want) || err == nil && string(got) != "abc" {
				t.Errorf("GetBytes = %q, %v, want %v", got, err, test.want)
			}
			var w bytes.Buffer
			if err := se.GetWriter(t.Context(), "f", &w, 5); !errors.Is(err, test.want) || w.Len() > 5 {
				t.Errorf("GetWriter wrote %d bytes, %v, want %v", w.Len(), err, test.want)
			}
		})
	}
}

func TestList_Garbage(t *testing.T) {
	s := newStrange()
	se := openStrange(t, s)
	s.list = func(*sandboxv2.ListFilesRequest) (*sandboxv2.ListFilesResponse, error) {
		return &sandboxv2.ListFilesResponse{NextPageToken: []byte("again")}, nil
	}
	if list, err := se.List(t.Context(), "."); err == nil {
		t.Errorf("a list without end: %d entries", len(list))
	}
	many := make([]*sandboxv2.FileInfo, 200_000)
	for i := range many {
		many[i] = &sandboxv2.FileInfo{}
	}
	s.list = func(*sandboxv2.ListFilesRequest) (*sandboxv2.ListFilesResponse, error) {
		return &sandboxv2.ListFilesResponse{Files: many, NextPageToken: []byte("again")}, nil
	}
	if _, err := se.List(t.Context(), "."); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("a list without end: %v, want %v", err, engine.ErrTooLarge)
	}
}

// A session or snapshot without a name is none.
func TestOpen_Nameless(t *testing.T) {
	for _, m := range []*sandboxv2.Session{nil, {}} {
		s := newStrange()
		s.session = m
		if se, err := Open(t.Context(), serveStrange(t, s), nil); err == nil {
			t.Errorf("%v is a session %q", m, se.ID())
		}
	}
	s := newStrange()
	se := openStrange(t, s)
	if _, err := se.Snapshot(t.Context()); err == nil {
		t.Error("nothing is a snapshot")
	}
}

// A server that speaks something else gives an error, and no panic. A run that it got is lost, if it may have begun.
func TestOpen_OtherServer(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"html":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"not found": http.NotFound,
		"empty":     func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/proto") },
		"noise": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/proto")
			_, _ = io.WriteString(w, strings.Repeat("\xff", 1000))
		},
		"unavailable": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) },
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			url := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				handler(w, r)
			}))
			if se, err := Open(t.Context(), url, nil); err == nil {
				t.Errorf("a session %q", se.ID())
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls, want 1: an open is not made again", n)
			}
		})
	}
}

// A session is renewed three times in its idle time, until it is closed or not there any more.
func TestLease(t *testing.T) {
	s := newStrange()
	s.session.IdleTimeout = durationpb.New(30 * time.Millisecond)
	se := openStrange(t, s)
	for s.renewed.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	if err := se.Close(); err != nil {
		t.Error(err)
	}
	after := s.renewed.Load()
	time.Sleep(50 * time.Millisecond)
	if n := s.renewed.Load(); n != after || s.closed.Load() != 1 {
		t.Errorf("%d renewals after Close, closed %d times", n-after, s.closed.Load())
	}
}

// A snapshot is renewed whatever the two clocks say.
func TestLease_Clocks(t *testing.T) {
	for _, ahead := range []time.Duration{0, -10 * time.Hour, 10 * time.Hour} {
		s := newStrange()
		made := time.Now().Add(ahead)
		s.snap = &sandboxv2.SnapshotInfo{SnapshotId: "x", CreatedAt: timestamppb.New(made), IdleAt: timestamppb.New(made.Add(30 * time.Millisecond))}
		se := openStrange(t, s)
		snap, err := se.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for s.renewedSnapshots.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		if err := errors.Join(snap.Close(), se.Close()); err != nil {
			t.Error(err)
		}
	}
}

// The server is told to end a run a little after the client's own deadline.
func TestRun_Deadline(t *testing.T) {
	s := newStrange()
	after := make(chan time.Duration, 1)
	s.run = func(_ context.Context, m *sandboxv2.RunRequest, send func(*sandboxv2.RunEvent) error) error {
		after <- m.GetCancelAfter().AsDuration()
		return errors.Join(send(begun), send(exit7))
	}
	se := openStrange(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := se.Exec(ctx, "1", nil); err != nil {
		t.Fatal(err)
	}
	if d := <-after; d > time.Hour+deadlineSlack || d < time.Hour/2 {
		t.Errorf("cancel_after is %v, want an hour and %v", d, deadlineSlack)
	}
	if _, err := se.Exec(t.Context(), "1", nil); err != nil {
		t.Fatal(err)
	}
	if d := <-after; d != 0 {
		t.Errorf("cancel_after is %v without a deadline", d)
	}
}
