package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// patience is how long something may take that must end. It is no statement about speed: a machine that
// is busy with other things takes its time.
const patience = 60 * time.Second

// within is a context for calls that must end.
func within(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// options gives run options the script type of the suite.
func (s *suite) options(opts *engine.RunOptions) *engine.RunOptions {
	var o engine.RunOptions
	if opts != nil {
		o = *opts
	}
	o.Type = s.scripts.typ
	return &o
}

// start starts a script.
func (s *suite) start(t testing.TB, session *engine.Session, script string, opts *engine.RunOptions) *engine.Process {
	t.Helper()
	if script == "" {
		t.Skipf("no such script in %s", s.scripts.typ)
	}
	p, err := session.Run(context.Background(), script, s.options(opts))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return p
}

// exec runs a script to its end, whatever that is.
func (s *suite) exec(t testing.TB, session *engine.Session, script string, opts *engine.RunOptions) *engine.Output {
	t.Helper()
	out, err := s.start(t, session, script, opts).Communicate(within(t), nil)
	if err != nil {
		t.Fatalf("Communicate: %v", err)
	}
	return out
}

// output runs a script that must exit with 0, and returns its stdout.
func (s *suite) output(t testing.TB, session *engine.Session, script string, opts *engine.RunOptions) string {
	t.Helper()
	out := s.exec(t, session, script, opts)
	if out.Result.ExitCode != 0 || out.Result.Reason != engine.ReasonExited {
		t.Errorf("%.100q ended with %+v\n%s", script, out.Result, out.Stderr)
	}
	return string(out.Stdout)
}

// wait returns the result of a run that must end.
func wait(t testing.TB, p *engine.Process) engine.Result {
	t.Helper()
	r, err := p.Wait(within(t))
	if err != nil {
		t.Fatalf("Wait: %v", err)
	}
	return r
}

// wantEnd checks how a run ended.
func wantEnd(t testing.TB, r engine.Result, reason engine.Reason, code int) {
	t.Helper()
	if r.Reason != reason || r.ExitCode != code {
		t.Errorf("ended with %s, code %d; want %s, code %d", r.Reason, r.ExitCode, reason, code)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want %v", what, err, want)
	}
}

func wantField(t testing.TB, err error, field string) {
	t.Helper()
	var inv *engine.InvalidError
	if !errors.As(err, &inv) || inv.Field != field {
		t.Errorf("Run = %v, want an InvalidError for %s", err, field)
	}
}

func put(t testing.TB, session *engine.Session, path, data string) {
	t.Helper()
	if err := session.PutBytes(within(t), path, []byte(data), nil); err != nil {
		t.Fatalf("PutBytes(%q): %v", path, err)
	}
}

func get(t testing.TB, session *engine.Session, path string) string {
	t.Helper()
	data, err := session.GetBytes(within(t), path, 64<<20)
	if err != nil {
		t.Errorf("GetBytes(%q): %v", path, err)
	}
	return string(data)
}
