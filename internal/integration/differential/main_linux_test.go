package differential

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// patience is for what must end, at whatever speed.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	code := m.Run()
	for _, close := range closers {
		if err := close(); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	return code
}

// closers close the shared drivers.
var closers []func() error

// A place is where scripts run: a tier, with its backend.
type place struct {
	name    string
	backend native.Backend // empty: the wasm tier

	once   sync.Once
	driver engine.Driver
	err    error
}

var (
	inWasm       = &place{name: "wasm"}
	inUserns     = &place{name: "userns", backend: native.Userns}
	inBubblewrap = &place{name: "bubblewrap", backend: native.Bubblewrap}
	natives      = []*place{inUserns, inBubblewrap}
)

// open gives the place's driver, which all tests share; it skips the test where the place cannot work here.
func (p *place) open(tb testing.TB) engine.Driver {
	tb.Helper()
	p.once.Do(func() { p.driver, p.err = p.make() })
	if p.backend == "" && p.err != nil {
		tb.Fatal(p.err)
	}
	testneed.Feature(tb, p.feature(), p.err)
	return p.driver
}

func (p *place) make() (engine.Driver, error) {
	if p.backend == "" {
		d := wasm.New(nil)
		closers = append(closers, d.Close)
		return d, d.Prepare(context.Background())
	}
	d, err := native.New(&native.Options{Backend: p.backend})
	if err != nil {
		return nil, err
	}
	closers = append(closers, d.Close)
	return d, d.Prepare(context.Background())
}

func (p *place) tier() engine.Tier {
	if p.backend == "" {
		return engine.TierWasm
	}
	return engine.TierNative
}

// feature is the place's name in SANDBOX_REQUIRE.
func (p *place) feature() string {
	if p.backend == native.Bubblewrap {
		return "bwrap"
	}
	return p.name
}

// hostPath is the Python that scripts find in cells. CI installs it with all of the standard library ("python3-full" in
// SANDBOX_REQUIRE).
const hostPath = "/usr/bin/python3"

// The versions of it that the tables know.
const oldestPython, newestPython = 11, 13

// pythonMinor is the version of the host's Python: 11 for 3.11. It skips the test where there is none, or where it
// has only a part of the standard library, as Debian's python3-minimal.
func pythonMinor(tb testing.TB) int {
	tb.Helper()
	minor, err := findPython()
	testneed.Feature(tb, "python3-full", err)
	return minor
}

var findPython = sync.OnceValues(func() (int, error) {
	out, err := exec.Command(hostPath, "-I", "-c", "import asyncio, bz2, csv, dbm.dumb, email, lzma, sqlite3, sys, unittest, zoneinfo; zoneinfo.ZoneInfo('Europe/Zurich'); print(*sys.version_info[:2])").CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", hostPath, err, out)
	}
	var major, minor int
	if _, err := fmt.Sscan(string(out), &major, &minor); err != nil || major != 3 {
		return 0, errors.Join(fmt.Errorf("%s is version %q", hostPath, out), err)
	}
	if minor < oldestPython || minor > newestPython {
		return 0, fmt.Errorf("%s is version 3.%d, and the tables know 3.%d to 3.%d", hostPath, minor, oldestPython, newestPython)
	}
	return minor, nil
})

// openSession opens a session that is closed when the test ends.
func openSession(tb testing.TB, opts *engine.Options, places ...*place) *engine.Session {
	tb.Helper()
	var drivers []engine.Driver
	for _, p := range places {
		drivers = append(drivers, p.open(tb))
	}
	s, err := engine.Open(tb.Context(), drivers, opts)
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

// execute runs a script to its end.
func execute(tb testing.TB, s *engine.Session, script string, opts *engine.RunOptions) *engine.Output {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	out, err := s.Exec(ctx, script, opts)
	if err != nil {
		tb.Fatalf("%.80q: %v", script, err)
	}
	return out
}
