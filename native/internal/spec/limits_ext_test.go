package spec_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// catcher is a tier that starts nothing and keeps what it was asked for.
type catcher struct{ run *engine.RunSpec }

var errCaught = errors.New("caught")

func (*catcher) Tier() engine.Tier       { return engine.TierNative }
func (*catcher) Info() engine.DriverInfo { return engine.DriverInfo{Tier: engine.TierNative} }
func (c *catcher) OpenSession(context.Context, *engine.SessionSpec) (engine.DriverSession, error) {
	return c, nil
}
func (*catcher) Close() error { return nil }

func (c *catcher) Start(_ context.Context, run *engine.RunSpec) (engine.DriverRun, error) {
	c.run = run
	return nil, errCaught
}

// maxArguments is what the engine allows arguments and environment together, in bytes, with a pointer for each. The
// test finds out whether it still does.
const (
	maxArguments = 2<<20 - 64<<10
	pointer      = 8
)

// size is the size of the whole environment and of the arguments, as the engine counts it.
func size(run *engine.RunSpec) (n int) {
	for _, list := range [][]string{run.Env, run.Args} {
		for _, s := range list {
			n += len(s) + 1 + pointer
		}
	}
	return n
}

// The largest run that the engine lets through fits into a message. The worst in arguments are many that are
// empty: each takes nine bytes of the engine's bound and four of the message.
func TestMaxToInit_HoldsTheLargestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	c := &catcher{}
	s, err := engine.Open(t.Context(), []engine.Driver{c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	script := strings.Repeat("#", engine.MaxScript)
	run := func(args int, script string) error {
		_, err := s.Run(t.Context(), script, &engine.RunOptions{Type: engine.Shell, Name: strings.Repeat("n", 255), Args: make([]string, args)})
		return err
	}
	if err := run(0, ":"); !errors.Is(err, errCaught) {
		t.Fatal(err)
	}
	most := (maxArguments - size(c.run)) / (1 + pointer)
	if err := run(most, script); !errors.Is(err, errCaught) {
		t.Fatalf("the largest run: %v", err)
	}
	for _, tt := range []struct {
		args   int
		script string
	}{{most + 1, script}, {most, script + "#"}} {
		if err := run(tt.args, tt.script); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%d arguments and %d bytes of script: %v", tt.args, len(tt.script), err)
		}
	}
	rs := c.run
	start := spec.Start{
		Path: "/usr/bin/python3", Argv: append([]string{"python3", "-u", spec.ScriptDir + "/" + rs.Name}, rs.Args...), Env: append(rs.Env, "PYTHONPATH="+rs.Cwd),
		Dir: rs.Cwd, ScriptName: rs.Name, Script: rs.Script, Rows: 1, Cols: 1,
	}
	message := start.Append(nil)
	t.Logf("%d arguments, %d bytes of strings, %d bytes of message, %d at most", most, size(rs), len(message), spec.MaxToInit)
	if spare := spec.MaxToInit - len(message); spare < 1<<20 {
		t.Errorf("a message of %d bytes leaves %d of %d", len(message), spare, spec.MaxToInit)
	}
	h := spec.Header{Kind: spec.KindStart, FDs: 3, Length: len(message)}
	if got, err := spec.ParseHeader(spec.AppendHeader(nil, h), spec.MaxToInit); got != h || err != nil {
		t.Errorf("ParseHeader = %+v, %v", got, err)
	}
}
