package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestSession_Route(t *testing.T) {
	const (
		shellNative  = "shell runs in the native tier"
		pythonWasm   = "python runs in the wasm tier"
		pythonNative = "python runs in the native tier"
		noWasm       = "a python script needs the wasm tier"
		noNative     = "a python script needs the native tier"
		noShell      = "a shell script needs the native tier"
	)
	for _, tt := range []struct {
		tiers         []Tier
		pythonTier    Tier
		python, shell string // the route, or part of the error
	}{
		{[]Tier{TierWasm}, "", pythonWasm, noShell},
		{[]Tier{TierNative}, "", pythonNative, shellNative},
		{[]Tier{TierWasm, TierNative}, "", pythonWasm, shellNative},
		{[]Tier{TierWasm}, TierWasm, pythonWasm, noShell},
		{[]Tier{TierNative}, TierWasm, noWasm, shellNative},
		{[]Tier{TierWasm, TierNative}, TierWasm, pythonWasm, shellNative},
		{[]Tier{TierWasm}, TierNative, noNative, noShell},
		{[]Tier{TierNative}, TierNative, pythonNative, shellNative},
		{[]Tier{TierWasm, TierNative}, TierNative, pythonNative, shellNative},
		{nil, "", noWasm, noShell},
	} {
		t.Run(fmt.Sprint(tt.tiers, tt.pythonTier), func(t *testing.T) {
			var drivers []Driver
			for _, tier := range tt.tiers {
				d := newNative()
				d.tier = tier
				drivers = append(drivers, d)
			}
			s := openTiers(t, &Options{PythonTier: tt.pythonTier}, drivers...)
			for typ, want := range map[ScriptType]string{Python: tt.python, Shell: tt.shell} {
				wantRoute(t, s, typ, want)
			}
		})
	}
}

// wantRoute checks where a script goes, or why it cannot.
func wantRoute(t *testing.T, s *Session, typ ScriptType, want string) {
	t.Helper()
	out, err := s.Exec(t.Context(), "hello", &RunOptions{Type: typ})
	if strings.Contains(want, "needs") {
		if !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ErrNotAvailable with %q", typ, err, want)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", typ, err)
		return
	}
	if out.Result.Route != want || !strings.Contains(want, string(out.Result.Tier)) {
		t.Errorf("%s: tier %s, route %q, want %q", typ, out.Result.Tier, out.Result.Route, want)
	}
}

// A tier that is there and does not work is not replaced by the other one.
func TestSession_RouteIsNotChangedByATierThatFails(t *testing.T) {
	for _, tt := range []struct{ failing, pythonTier Tier }{{TierWasm, ""}, {TierWasm, TierWasm}, {TierNative, TierNative}} {
		wasm, native := newFake(basics), newNative()
		for _, d := range []*fakeDriver{wasm, native} {
			if d.tier == tt.failing {
				d.openErr = fmt.Errorf("%w: deliberate", ErrNotAvailable)
			}
		}
		s := openTiers(t, &Options{PythonTier: tt.pythonTier}, wasm, native)
		if _, err := s.Run(t.Context(), "hello", nil); !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "deliberate") {
			t.Errorf("python with %q, whose tier fails: %v", tt.pythonTier, err)
		}
	}
}

// refusing is a wasm tier that refuses "fail" always, and "env" in doubt.
func refusing() *fakeDriver {
	d := newFake(basics)
	d.refuses = map[string]*fakeRefusal{
		"fail": {NeedsNativeError{Module: "numpy", Imported: true, Line: 3, Reason: "compiled"}, RefuseImpossible},
		"env":  {NeedsNativeError{Module: "there", Imported: true, Line: 9, Reason: "not found"}, RefuseDoubtful},
	}
	return d
}

func TestSession_RouteByScript(t *testing.T) {
	const (
		here     = "python runs in the wasm tier"
		numpy    = "python runs in the native tier: line 3: import numpy: compiled"
		notFound = "python runs in the native tier: line 9: import there: not found"
	)
	for _, tt := range []struct {
		script     string
		pythonTier Tier
		both       bool
		want       string // the route, or empty for ErrNeedsNative
	}{
		{"hello", TierAuto, true, here},
		{"fail", TierAuto, true, numpy},
		{"env", TierAuto, true, notFound},
		{"env", "", true, notFound},
		{"env", TierAuto, false, here},
		{"fail", TierAuto, false, ""},
		{"env", TierWasm, true, here},
		{"fail", TierWasm, true, ""},
		{"fail", TierNative, true, "python runs in the native tier"},
	} {
		drivers := []Driver{refusing()}
		if tt.both {
			drivers = append(drivers, Deferred(newNative()))
		}
		s := openTiers(t, &Options{PythonTier: tt.pythonTier}, drivers...)
		out, err := s.Exec(t.Context(), tt.script, nil)
		if tt.want == "" {
			var needs *NeedsNativeError
			if !errors.As(err, &needs) || needs.Line != 3 || !errors.Is(err, ErrNeedsNative) || !errors.Is(err, ErrNotStarted) {
				t.Errorf("%s with %q: %v", tt.script, tt.pythonTier, err)
			}
			continue
		}
		if err != nil || out.Result.Route != tt.want || !strings.Contains(tt.want, string(out.Result.Tier)) {
			t.Errorf("%s with %q: %v, %+v; want %q", tt.script, tt.pythonTier, err, out, tt.want)
		}
	}
}

// The tier that a script is sent on to says itself that it is not there, and the error says why it was asked.
func TestSession_RouteToATierThatIsNotThere(t *testing.T) {
	for _, deferred := range []bool{false, true} {
		native := newNative()
		native.openErr = fmt.Errorf("%w: no bwrap", ErrNotAvailable)
		var second Driver = native
		if deferred {
			second = Deferred(second)
		}
		s := openTiers(t, nil, refusing(), second)
		_, err := s.Run(t.Context(), "fail", nil)
		if !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "line 3: import numpy: compiled") || !strings.Contains(err.Error(), "no bwrap") {
			t.Errorf("deferred %v: %v", deferred, err)
		}
	}
}

// A run that is stopped while it goes from one tier to the other ends, and with the grace of the tier that it is in.
func TestSession_RouteWhileClosing(t *testing.T) {
	native := newNative()
	entered := make(chan struct{})
	native.starts = func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		return ctx.Err()
	}
	s := openTiers(t, nil, refusing(), native)
	go func() {
		<-entered
		_ = s.Close()
	}()
	if _, err := s.Run(t.Context(), "fail", nil); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrNotStarted) {
		t.Errorf("Run = %v", err)
	}
}
