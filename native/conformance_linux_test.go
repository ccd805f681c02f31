package native

import (
	"slices"
	"sync"
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

// The suites run at the same time, however few processors there are: most of their time is waiting.
func TestConformance(t *testing.T) {
	t.Parallel() // with TestUnprivileged
	var suites sync.WaitGroup
	defer suites.Wait()
	for _, b := range []Backend{Userns, Bubblewrap} {
		d := driverOf(t, b)
		for _, typ := range []engine.ScriptType{engine.Shell, engine.Python} {
			if testing.Short() && (b == Userns) == (typ == engine.Shell) {
				continue // the race detector sees the same code in the other two
			}
			suites.Go(func() {
				t.Run(string(b)+"/"+string(typ), func(t *testing.T) {
					needBackend(t, b)
					if typ == engine.Python && findPython().path == "" {
						t.Skip(notThere(typ))
					}
					enginetest.Conformance(t, openWith(d), capsOf(d, typ))
				})
			})
		}
	}
}

// capsOf says what a driver can do on this host.
func capsOf(d *Driver, typ engine.ScriptType) enginetest.Caps {
	holds := func(limit string) bool { return !slices.Contains(d.Info().Unenforced, limit) }
	return enginetest.Caps{
		Types: []engine.ScriptType{typ}, Native: true, OpenNetwork: d.host.landlock() >= abiScopes,
		Memory: holds("Memory"), CPU: holds("CPU"), Disk: true, Tmp: holds("Tmp"), FileSize: holds("FileSize"), Processes: holds("Processes"),
	}
}
