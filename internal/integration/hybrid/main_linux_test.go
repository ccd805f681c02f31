package hybrid

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// backend is the one that needs no other program.
const backend = native.Userns

var (
	python    = wasm.New(nil)
	processes = sync.OnceValues(func() (*native.Driver, error) {
		d, err := native.New(&native.Options{Backend: backend})
		if err == nil {
			err = d.Prepare(context.Background())
		}
		return d, err
	})
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, closeDriver := range []func() error{python.Close, closeProcesses} {
		if err := closeDriver(); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func closeProcesses() error {
	d, err := processes()
	if err != nil {
		return nil // the tests have said so
	}
	return d.Close()
}

// drivers are those of both tiers. It skips the test where the native one does not work, or fails it where
// SANDBOX_REQUIRE says that it does.
func drivers(tb testing.TB) []engine.Driver {
	tb.Helper()
	d, err := processes()
	testneed.Feature(tb, "userns", err)
	return []engine.Driver{python, engine.Deferred(d)}
}

// open opens a session with both tiers, and closes it with the test.
func open(tb testing.TB, opts *engine.Options) *engine.Session {
	tb.Helper()
	s, err := engine.Open(tb.Context(), drivers(tb), opts)
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
