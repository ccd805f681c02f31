package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeDriver is a tier whose scripts are Go functions: the script's text is the name of one.
type fakeDriver struct {
	tier    Tier
	info    DriverInfo
	scripts map[string]func(*guest) Exit
	openErr error
	starts  func(ctx context.Context) error // called in Start
	begins  func(context.Context, *RunSpec) // called in Start when the script has begun
	refuses map[string]*fakeRefusal
	deaf    bool // its runs are no Interrupters

	mu       sync.Mutex
	spec     *SessionSpec
	sessions int // open ones
	runs     int // running ones
	stops    []time.Duration
	resizes  []TerminalSize
}

// guest is what a fake script sees.
type guest struct {
	*RunSpec
	session *SessionSpec
	stop    chan struct{} // the orderly stop
	kill    chan struct{} // the hard one

	interrupts chan struct{} // one for each
}

func newFake(scripts map[string]func(*guest) Exit) *fakeDriver {
	return &fakeDriver{tier: TierWasm, scripts: scripts}
}

// newNative is a fake of the other tier, over the basics.
func newNative() *fakeDriver { return &fakeDriver{tier: TierNative, scripts: basics} }

func (d *fakeDriver) Tier() Tier { return d.tier }
func (d *fakeDriver) Info() DriverInfo {
	info := d.info
	info.Tier = d.tier
	return info
}

func (d *fakeDriver) OpenSession(_ context.Context, spec *SessionSpec) (DriverSession, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.openErr != nil {
		return nil, d.openErr
	}
	d.spec = spec
	d.sessions++
	return &fakeSession{d, spec}, nil
}

// fakeRefusal is what a driver says of a script, from a step of Refuse on.
type fakeRefusal struct {
	NeedsNativeError
	from Refuse
}

type fakeSession struct {
	d    *fakeDriver
	spec *SessionSpec
}

func (s *fakeSession) Close() error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.runs != 0 {
		return fmt.Errorf("closed with %d runs", s.d.runs)
	}
	s.d.sessions--
	return nil
}

func (s *fakeSession) Start(ctx context.Context, spec *RunSpec) (DriverRun, error) {
	if s.d.starts != nil {
		if err := s.d.starts(ctx); err != nil {
			return nil, err
		}
	}
	if needs := s.d.refuses[string(spec.Script)]; needs != nil && spec.Refuse >= needs.from {
		return nil, &needs.NeedsNativeError
	}
	script := s.d.scripts[string(spec.Script)]
	if script == nil {
		return nil, errors.New("no such script")
	}
	r := &fakeRun{d: s.d, done: make(chan struct{})}
	r.g = &guest{RunSpec: spec, session: s.spec, stop: make(chan struct{}), kill: make(chan struct{}), interrupts: make(chan struct{}, 100)}
	s.d.mu.Lock()
	s.d.runs++
	s.d.mu.Unlock()
	go func() {
		defer close(r.done)
		r.exit = script(r.g)
		if r.exit.Reason == "" {
			r.exit.Reason = ReasonExited
		}
		s.d.mu.Lock()
		s.d.runs--
		s.d.mu.Unlock()
	}()
	if s.d.begins != nil {
		s.d.begins(ctx, spec)
	}
	if s.d.deaf {
		return struct{ DriverRun }{r}, nil
	}
	return r, nil
}

type fakeRun struct {
	d              *fakeDriver
	g              *guest
	done           chan struct{}
	exit           Exit
	orderly, force sync.Once
}

func (r *fakeRun) Stop(grace time.Duration) {
	r.d.mu.Lock()
	r.d.stops = append(r.d.stops, grace)
	r.d.mu.Unlock()
	r.orderly.Do(func() { close(r.g.stop) })
	kill := func() { r.force.Do(func() { close(r.g.kill) }) }
	if grace == 0 {
		kill()
		return
	}
	t := time.AfterFunc(grace, kill)
	go func() {
		<-r.done
		t.Stop()
	}()
}

// Interrupt implements Interrupter.
func (r *fakeRun) Interrupt() error {
	r.g.interrupts <- struct{}{}
	return nil
}

// Resize implements Resizer.
func (r *fakeRun) Resize(size TerminalSize) error {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.d.resizes = append(r.d.resizes, size)
	return nil
}

func (r *fakeRun) Wait() Exit {
	<-r.done
	return r.exit
}

// basics are scripts that many tests use.
var basics = map[string]func(*guest) Exit{
	"hello": func(g *guest) Exit {
		_, _ = io.WriteString(g.Stdout, "hello\n")
		return Exit{}
	},
	"fail": func(g *guest) Exit {
		_, _ = io.WriteString(g.Stdout, "partial")
		_, _ = io.WriteString(g.Stderr, "Traceback\nValueError: x\n")
		return Exit{Code: 3}
	},
	"sleep": func(g *guest) Exit { // ends in an orderly way
		_, _ = io.WriteString(g.Stdout, "before\n")
		<-g.stop
		_, _ = io.WriteString(g.Stdout, "after\n")
		return Exit{Code: 1}
	},
	"stubborn": func(g *guest) Exit {
		<-g.kill
		return Exit{Code: 137, Signal: 9, Reason: ReasonSignaled, Forced: true}
	},
	"cat": func(g *guest) Exit {
		buf := make([]byte, 1000)
		for {
			n, err := g.Stdin.Read(buf, g.stop)
			_, _ = g.Stdout.Write(buf[:n])
			if err != nil {
				return Exit{Code: map[bool]int{false: 1}[errors.Is(err, io.EOF)]}
			}
		}
	},
	"env": func(g *guest) Exit {
		for _, v := range g.Env {
			fmt.Fprintln(g.Stdout, v)
		}
		fmt.Fprintln(g.Stdout, g.Cwd, g.Name, g.Args)
		return Exit{}
	},
	"flood": func(g *guest) Exit { // writes until it is stopped
		buf := make([]byte, 64<<10)
		for {
			select {
			case <-g.stop:
				return Exit{Code: 1}
			default:
				_, _ = g.Stdout.Write(buf)
			}
		}
	},
	"asked": func(g *guest) Exit { // what of RunOptions a driver gets
		fmt.Fprint(g.Stdout, g.Network, " ", g.Background, " ")
		if g.Terminal != nil {
			fmt.Fprint(g.Stdout, *g.Terminal)
		}
		return Exit{}
	},
	"lost":   func(*guest) Exit { return Exit{Err: errors.New("the host went away")} },
	"memory": func(*guest) Exit { return Exit{Code: 137, Reason: ReasonMemory} },
}

// open opens a session over the basics, and closes it with the test.
func open(t testing.TB, opts *Options) (*Session, *fakeDriver) {
	t.Helper()
	d := newFake(basics)
	return openWith(t, d, opts), d
}

func openWith(t testing.TB, d *fakeDriver, opts *Options) *Session {
	t.Helper()
	return openTiers(t, opts, d)
}

func openTiers(t testing.TB, opts *Options, drivers ...Driver) *Session {
	t.Helper()
	s, err := Open(t.Context(), drivers, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// script makes a driver of one function, which the script "x" calls.
func script(f func(*guest) Exit) *fakeDriver {
	return newFake(map[string]func(*guest) Exit{"x": f})
}

func exec(t testing.TB, s *Session, script string, opts *RunOptions) *Output {
	t.Helper()
	out, err := s.Exec(context.Background(), script, opts)
	if err != nil {
		t.Fatalf("Exec(%q): %v", script, err)
	}
	return out
}

func start(t testing.TB, s *Session, script string, opts *RunOptions) *Process {
	t.Helper()
	p, err := s.Run(context.Background(), script, opts)
	if err != nil {
		t.Fatalf("Run(%q): %v", script, err)
	}
	return p
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

// wantField checks that err is an InvalidError that names field.
func wantField(t testing.TB, what string, err error, field string) {
	t.Helper()
	var inv *InvalidError
	if !errors.As(err, &inv) || inv.Field != field || !errors.Is(err, ErrInvalid) {
		t.Errorf("%s = %v, want an InvalidError for %s", what, err, field)
	}
}
