package nativetests

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
)

// The canaries: one in the environment of this process, one in a file that everybody on the host can read. No
// script is given either, so a run that prints one is a leak.
const (
	canaryName  = "SBX_CANARY"
	canaryValue = "canary-7f3a"
	canaryText  = "host-canary-51c2"
)

// canaryFile is the path of the file, in a directory of this process alone.
var canaryFile string

// patience is for what must end, at whatever speed.
const patience = 3 * time.Minute

// bound is how long after its timeout a run may still be there. It says that runs end, not how fast this machine is.
const bound = 20 * time.Second

// backends are those that isolate.
var backends = []native.Backend{native.Userns, native.Bubblewrap}

// children are parts of tests that need a process of their own: see child. Their first argument is their name.
var children map[string]func(args []string) int

// TestMain runs the tests, or does the part of a test that needs a process of its own.
func TestMain(m *testing.M) {
	flag.Parse()
	if part := children[flag.Arg(0)]; part != nil {
		os.Exit(part(flag.Args()[1:]))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if err := os.Setenv(canaryName, canaryValue); err != nil {
		return failed(err)
	}
	dir, err := os.MkdirTemp("/var/tmp", "sandbar-tests-")
	if err != nil {
		return failed(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return failed(err)
	}
	canaryFile = filepath.Join(dir, "host-canary.txt")
	if err := os.WriteFile(canaryFile, []byte(canaryText), 0o644); err != nil {
		return failed(err)
	}
	before := measure()
	code := m.Run()
	for _, b := range backends {
		if err := shared[b].close(); err != nil {
			return failed(err)
		}
	}
	if left := settled(before).moreThan(before); len(left) > 0 && code == 0 {
		return failed(fmt.Errorf("after all tests there is more than before: %s", strings.Join(left, "; ")))
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "FAIL:", err)
	return 1
}

// sharedDriver is a backend's driver for all tests that need none of their own.
type sharedDriver struct {
	once   sync.Once
	driver *native.Driver
	err    error
}

var shared = map[native.Backend]*sharedDriver{native.Userns: {}, native.Bubblewrap: {}}

func (s *sharedDriver) close() error {
	if s.driver == nil {
		return nil
	}
	return s.driver.Close()
}

// driver gives the shared driver of a backend that works here.
func driver(tb testing.TB, b native.Backend) *native.Driver {
	tb.Helper()
	s := shared[b]
	s.once.Do(func() {
		if s.driver, s.err = native.New(&native.Options{Backend: b}); s.err == nil {
			s.err = s.driver.Prepare(context.Background())
		}
	})
	testneed.Feature(tb, featureOf(b), s.err)
	return s.driver
}

// featureOf is the backend's name in SANDBOX_REQUIRE.
func featureOf(b native.Backend) string {
	if b == native.Bubblewrap {
		return "bwrap"
	}
	return "userns"
}

// newDriver makes a driver of the test's own.
func newDriver(tb testing.TB, opts *native.Options) *native.Driver {
	tb.Helper()
	driver(tb, opts.Backend) // skips where the backend does not work
	return plainDriver(tb, opts)
}

// plainDriver makes a driver of a backend that may not work.
func plainDriver(tb testing.TB, opts *native.Options) *native.Driver {
	tb.Helper()
	d, err := native.New(opts)
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

// each runs a test on each backend.
func each(t *testing.T, test func(t *testing.T, d *native.Driver)) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) { test(t, driver(t, b)) })
	}
}

// open opens a session that is closed when the test ends.
func open(tb testing.TB, d *native.Driver, opts *engine.Options) *engine.Session {
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

// shell and python complete run options. Nil stands for the zero value.
func shell(o *engine.RunOptions) *engine.RunOptions  { return typed(engine.Shell, o) }
func python(o *engine.RunOptions) *engine.RunOptions { return typed(engine.Python, o) }

func typed(t engine.ScriptType, o *engine.RunOptions) *engine.RunOptions {
	var c engine.RunOptions
	if o != nil {
		c = *o
	}
	c.Type = t
	return &c
}

// start starts a script.
func start(tb testing.TB, s *engine.Session, script string, opts *engine.RunOptions) *engine.Process {
	tb.Helper()
	p, err := s.Run(tb.Context(), script, opts)
	if err != nil {
		tb.Fatalf("Run: %v", err)
	}
	return p
}

// result waits for the end of a run, which must come within limit.
func result(tb testing.TB, p *engine.Process, limit time.Duration) engine.Result {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := p.Wait(ctx)
	if err != nil {
		tb.Fatalf("Wait: %v", err)
	}
	return r
}

// exec runs a script to its end. No output may have a canary in it.
func exec(tb testing.TB, s *engine.Session, script string, opts *engine.RunOptions) *engine.TextOutput {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	out, err := s.Exec(ctx, script, opts)
	if err != nil {
		tb.Fatalf("%.80q: %v", script, err)
	}
	noCanary(tb, out.Stdout)
	noCanary(tb, out.Stderr)
	return &engine.TextOutput{Stdout: string(out.Stdout), Stderr: string(out.Stderr), Result: out.Result}
}

func noCanary(tb testing.TB, output []byte) {
	tb.Helper()
	for _, c := range []string{canaryValue, canaryText} {
		if bytes.Contains(output, []byte(c)) {
			tb.Errorf("a canary came out: %.500q", output)
		}
	}
}

// output runs a script that must exit with 0, and returns its stdout.
func output(tb testing.TB, s *engine.Session, script string, opts *engine.RunOptions) string {
	tb.Helper()
	out := exec(tb, s, script, opts)
	if out.Result.Reason != engine.ReasonExited || out.Result.ExitCode != 0 {
		tb.Errorf("%.200q: reason %s, code %d, stdout %.2000q, stderr %.2000q", script, out.Result.Reason, out.Result.ExitCode, out.Stdout, out.Stderr)
	}
	return out.Stdout
}

// printed checks what a script prints, that it exits with 0 and that it says nothing on stderr.
func printed(tb testing.TB, s *engine.Session, script string, opts *engine.RunOptions, want string) {
	tb.Helper()
	checkPrinted(tb, exec(tb, s, script, opts), want)
}

func checkPrinted(tb testing.TB, out *engine.TextOutput, want string) {
	tb.Helper()
	if out.Stdout != want || out.Stderr != "" || out.Result.ExitCode != 0 || out.Result.Reason != engine.ReasonExited {
		tb.Errorf("stdout %.2000q, want %.2000q; stderr %.2000q, code %d, reason %s", out.Stdout, want, out.Stderr, out.Result.ExitCode, out.Result.Reason)
	}
}

// ended checks how a run ended.
func ended(tb testing.TB, r engine.Result, reason engine.Reason, code int) {
	tb.Helper()
	if r.Reason != reason || r.ExitCode != code {
		tb.Errorf("ended with reason %s, code %d; want %s, %d: %+v", r.Reason, r.ExitCode, reason, code, r)
	}
}

// stillWorks runs a small script in a session in which something went wrong.
func stillWorks(tb testing.TB, s *engine.Session) {
	tb.Helper()
	printed(tb, s, "echo well", shell(nil), "well\n")
}

// lines joins what a script prints.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }
