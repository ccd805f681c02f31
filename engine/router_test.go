package engine

import (
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
