package native

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/enginetest"
)

func driverOf(tb testing.TB, b Backend) *Driver {
	tb.Helper()
	d, err := New(&Options{Backend: b})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

func openWith(d *Driver) enginetest.Open {
	return func(tb testing.TB, opts *engine.Options) *engine.Session {
		tb.Helper()
		s, err := d.Open(tb.Context(), opts)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		})
		return s
	}
}

func TestConformance(t *testing.T) {
	for _, b := range []Backend{Userns, Bubblewrap} {
		t.Run(string(b), func(t *testing.T) {
			d := driverOf(t, b)
			caps := enginetest.Caps{Types: []engine.ScriptType{engine.Shell, engine.Python}, Memory: true, CPU: true, Disk: true, Tmp: true}
			enginetest.Conformance(t, openWith(d), caps)
		})
	}
}
