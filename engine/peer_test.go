package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// memoryPeer is a session in memory whose scripts are echoed. Each call waits for its context when hold is set.
type memoryPeer struct {
	hold    bool
	begins  error // of Start
	calls   atomic.Int32
	waiting chan struct{} // told of each call that holds

	mu     sync.Mutex
	files  map[string][]byte
	runs   int
	closed int
}

func (p *memoryPeer) ID() string { return "peer" }
func (p *memoryPeer) Info() Info { return Info{ID: "peer"} }

func (p *memoryPeer) Reference() Reference {
	return Reference{Name: "peer", Endpoint: "http://x", CreatedAt: time.Unix(1, 0).UTC(), NetworkMode: netpolicy.Blocked, NetworkAllowlist: []string{}}
}

// called counts a call, and holds it if it is to be.
func (p *memoryPeer) called(ctx context.Context) error {
	p.calls.Add(1)
	if !p.hold {
		return nil
	}
	p.waiting <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

func (p *memoryPeer) Start(ctx context.Context, spec *PeerSpec) (PeerRun, error) {
	if err := p.called(ctx); err != nil {
		return nil, errors.Join(err, p.begins)
	}
	if p.begins != nil {
		return nil, p.begins
	}
	p.mu.Lock()
	p.runs++
	p.mu.Unlock()
	r := &memoryRun{spec: spec, stopped: make(chan struct{}), over: make(chan struct{})}
	go r.run()
	return r, nil
}

func (p *memoryPeer) Put(ctx context.Context, path string, r io.Reader, _ PutOptions) error {
	data, err := io.ReadAll(r)
	if err = errors.Join(err, p.called(ctx)); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path] = data
	return nil
}

func (p *memoryPeer) Get(ctx context.Context, path string, w io.Writer, _ int64, sized func(int64)) error {
	if err := p.called(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	sized(int64(len(p.files[path])))
	_, err := w.Write(p.files[path])
	return err
}

func (p *memoryPeer) List(ctx context.Context, _ string) ([]FileInfo, error) {
	return nil, p.called(ctx)
}

func (p *memoryPeer) Stat(ctx context.Context, _ string) (FileInfo, error) {
	return FileInfo{}, p.called(ctx)
}
func (p *memoryPeer) Remove(ctx context.Context, _ string, _ bool) error { return p.called(ctx) }
func (p *memoryPeer) Diff(ctx context.Context) ([]Change, error)         { return nil, p.called(ctx) }
func (p *memoryPeer) Mark(ctx context.Context) error                     { return p.called(ctx) }
func (p *memoryPeer) Commit(ctx context.Context) ([]Change, error)       { return nil, p.called(ctx) }
func (p *memoryPeer) ResetInterpreter(ctx context.Context) error         { return p.called(ctx) }

func (p *memoryPeer) Snapshot(ctx context.Context) (State, error) {
	return memoryState{}, p.called(ctx)
}

func (p *memoryPeer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	return nil
}

// memoryState is a snapshot of nothing.
type memoryState struct{}

func (memoryState) Size() int64 { return 7 }
func (memoryState) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "state")
	return int64(n), err
}
func (memoryState) Close() error { return nil }

// memoryRun writes its script and then what its stdin has, or waits to be stopped when the script says so.
type memoryRun struct {
	spec    *PeerSpec
	once    sync.Once
	stopped chan struct{}
	over    chan struct{}
	exit    Exit
}

func (r *memoryRun) run() {
	defer close(r.over)
	result := &Result{Reason: ReasonExited, Tier: TierNative, WallTime: time.Second, CPUTime: Unknown, PeakMemory: 5, StdoutBytes: 3}
	switch r.spec.Script {
	case "wait":
		<-r.stopped
		result.Reason, result.ExitCode = ReasonCancelled, codeKilled
	case "lost":
		r.exit = Exit{Err: errors.New("the line is dead")}
		return
	default:
		_, _ = io.WriteString(r.spec.Stdout, r.spec.Script)
		buf := make([]byte, 100)
		for {
			n, err := r.spec.Stdin.Read(buf, r.stopped)
			_, _ = r.spec.Stdout.Write(buf[:n])
			if err != nil {
				break
			}
		}
	}
	r.exit = Exit{Result: result}
}

func (r *memoryRun) Wait() Exit                { <-r.over; return r.exit }
func (r *memoryRun) Stop(time.Duration)        { r.once.Do(func() { close(r.stopped) }) }
func (r *memoryRun) Resize(TerminalSize) error { return nil }
func (r *memoryRun) Route() (Tier, string)     { return TierNative, "the peer said so" }

func openMemory(t *testing.T, p *memoryPeer) *Session {
	t.Helper()
	p.waiting, p.files = make(chan struct{}, 100), map[string][]byte{}
	s, err := OpenPeer(t.Context(), nil, func(context.Context, *Options) (Peer, error) { return p, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // tests that want to know close it themselves
	return s
}

// peerCalls are all that a Session asks its peer.
var peerCalls = map[string]func(context.Context, *Session) error{
	"run":    func(ctx context.Context, s *Session) error { _, err := s.Run(ctx, "x", nil); return err },
	"put":    func(ctx context.Context, s *Session) error { return s.PutBytes(ctx, "f", []byte("x"), nil) },
	"get":    func(ctx context.Context, s *Session) error { _, err := s.GetBytes(ctx, "f", 9); return err },
	"list":   func(ctx context.Context, s *Session) error { _, err := s.List(ctx, "."); return err },
	"stat":   func(ctx context.Context, s *Session) error { _, err := s.Stat(ctx, "f"); return err },
	"remove": func(ctx context.Context, s *Session) error { return s.Remove(ctx, "f") },
	"all":    func(ctx context.Context, s *Session) error { return s.RemoveAll(ctx, "f") },
	"diff":   func(ctx context.Context, s *Session) error { _, err := s.Diff(ctx); return err },
	"mark":   func(ctx context.Context, s *Session) error { return s.Mark(ctx) },
	"commit": func(ctx context.Context, s *Session) error { _, err := s.Commit(ctx); return err },
	"reset":  func(ctx context.Context, s *Session) error { return s.ResetInterpreter(ctx) },
	"snapshot": func(ctx context.Context, s *Session) error {
		snap, err := s.Snapshot(ctx)
		if err == nil {
			err = snap.Close()
		}
		return err
	},
}

func TestPeer_Run(t *testing.T) {
	s := openMemory(t, &memoryPeer{})
	out, err := s.Exec(t.Context(), "abc", &RunOptions{Stdin: strings.NewReader("def")})
	if err != nil || string(out.Stdout) != "abcdef" || out.Result.Reason != ReasonExited || out.Result.Tier != TierNative {
		t.Errorf("%+v, %v", out, err)
	}
	p, err := s.Run(t.Context(), "wait", nil)
	if err != nil {
		t.Fatal(err)
	}
	if tier, why := p.Route(); tier != TierNative || why != "the peer said so" || s.Usage().Running != 1 {
		t.Errorf("route %s: %s, %d running", tier, why, s.Usage().Running)
	}
	p.Kill()
	if r, err := p.Wait(t.Context()); err != nil || r.Reason != ReasonCancelled {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Exec(t.Context(), "lost", nil); !errors.Is(err, ErrLost) {
		t.Errorf("a run that is lost: %v, want %v", err, ErrLost)
	}
	if u := s.Usage(); u.Runs != 3 || u.Running != 0 || u.ByReason[ReasonLost] != 1 || u.StdoutBytes != 6+0 || u.PeakMemory != 5 {
		t.Errorf("usage %+v", u)
	}
}

// What is wrong with a call is found before the peer is asked.
func TestPeer_ChecksFirst(t *testing.T) {
	p := &memoryPeer{}
	s := openMemory(t, p)
	for name, call := range map[string]func() error{
		"script":   func() error { _, err := s.Run(t.Context(), "a\x00b", nil); return err },
		"type":     func() error { _, err := s.Run(t.Context(), "x", &RunOptions{Type: "perl"}); return err },
		"network":  func() error { _, err := s.Run(t.Context(), "x", &RunOptions{Network: "some"}); return err },
		"timeout":  func() error { _, err := s.Run(t.Context(), "x", &RunOptions{Timeout: -1}); return err },
		"terminal": func() error { _, err := s.Run(t.Context(), "x", &RunOptions{Terminal: &TerminalSize{}}); return err },
		"most":     func() error { _, err := s.GetBytes(t.Context(), "f", -1); return err },
		"mode":     func() error { return s.PutBytes(t.Context(), "f", nil, &PutOptions{Mode: 0o4755}) },
		"reader":   func() error { return s.PutReader(t.Context(), "f", nil, nil) },
	} {
		if err := call(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want %v", name, err, ErrInvalid)
		}
	}
	if _, err := OpenPeer(t.Context(), &Options{Timeout: -1}, func(context.Context, *Options) (Peer, error) {
		t.Error("the peer was opened")
		return p, nil
	}); !errors.Is(err, ErrInvalid) {
		t.Errorf("open = %v, want %v", err, ErrInvalid)
	}
	if n := p.calls.Load(); n != 0 {
		t.Errorf("the peer was called %d times", n)
	}
}

// Close ends every call that is under way with ErrClosed, closes the peer once, and after it the peer is not called.
func TestPeer_CloseDuringCalls(t *testing.T) {
	for name, call := range peerCalls {
		t.Run(name, func(t *testing.T) {
			p := &memoryPeer{hold: true}
			s := openMemory(t, p)
			ended := make(chan error, 1)
			go func() { ended <- call(context.Background(), s) }()
			<-p.waiting
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("during Close: %v, want %v", err, ErrClosed)
			}
			before := p.calls.Load()
			if err := call(t.Context(), s); !errors.Is(err, ErrClosed) || p.calls.Load() != before || p.closed != 1 {
				t.Errorf("after Close: %v, %d calls of the peer, closed %d times", err, p.calls.Load()-before, p.closed)
			}
		})
	}
}

func TestPeer_CancelDuringCalls(t *testing.T) {
	for name, call := range peerCalls {
		p := &memoryPeer{hold: true}
		s := openMemory(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- call(ctx, s) }()
		<-p.waiting
		cancel()
		err := <-ended
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed) || errors.Is(err, ErrNotStarted) {
			t.Errorf("%s: %v, want %v", name, err, context.Canceled)
		}
	}
}

// A start of which it is not known whether it began is lost, and not said to have never begun: not with Close either.
func TestPeer_LostStart(t *testing.T) {
	s := openMemory(t, &memoryPeer{begins: ErrLost})
	if _, err := s.Run(t.Context(), "x", nil); !errors.Is(err, ErrLost) || errors.Is(err, ErrNotStarted) {
		t.Errorf("run = %v, want %v", err, ErrLost)
	}
	p := &memoryPeer{begins: ErrLost, hold: true}
	s = openMemory(t, p)
	ended := make(chan error, 1)
	go func() { _, err := s.Run(context.Background(), "x", nil); ended <- err }()
	<-p.waiting
	_ = s.Close()
	if err := <-ended; !errors.Is(err, ErrLost) || !errors.Is(err, ErrClosed) || errors.Is(err, ErrNotStarted) {
		t.Errorf("run = %v, want %v and %v", err, ErrClosed, ErrLost)
	}
}

func TestPeer_CloseEndsRuns(t *testing.T) {
	p := &memoryPeer{}
	s := openMemory(t, p)
	run, err := s.Run(t.Context(), "wait", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r, err := run.Wait(t.Context()); err != nil || r.Reason != ReasonCancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

// A peer's snapshot is written as the peer has it, and no session of this process is opened from it.
func TestPeer_Snapshot(t *testing.T) {
	s := openMemory(t, &memoryPeer{})
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var w bytes.Buffer
	if n, err := snap.WriteTo(&w); err != nil || n != 5 || w.String() != "state" || snap.Memory() != 7 || snap.Peer() == nil {
		t.Errorf("%d bytes, %q, memory %d, %v", n, w.String(), snap.Memory(), err)
	}
	if _, err := Open(t.Context(), []Driver{newFake(nil)}, &Options{From: snap}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a session in this process from it: %v, want %v", err, ErrInvalid)
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	if _, err := OpenPeer(t.Context(), &Options{From: snap}, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("a session from one that is closed: %v, want %v", err, ErrInvalid)
	}
}

func TestPeer_Reference(t *testing.T) {
	s := openMemory(t, &memoryPeer{})
	ref, err := s.Reference()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(ref)
	if want := `{"name":"peer","endpoint":"http://x","created_at":"1970-01-01T00:00:01Z","network_mode":"blocked","network_allowlist":[]}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	local, err := Open(t.Context(), []Driver{newFake(nil)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := local.Reference(); !errors.Is(err, ErrNotAvailable) {
		t.Errorf("reference of a session in this process = %v, want %v", err, ErrNotAvailable)
	}
}
