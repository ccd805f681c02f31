package wasm

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
)

var update = flag.Bool("update", false, "write the golden files and what is generated from them")

// folders are temporary folders of more than one test.
var folders []string

// TestMain runs the tests, or does the part of a test that needs a process of its own: see child.
func TestMain(m *testing.M) {
	flag.Parse()
	if part := children[flag.Arg(0)]; part != nil {
		os.Exit(part(flag.Args()[1:]))
	}
	code := m.Run()
	for _, dir := range folders {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// sharedDriver uses the user's cache, as a program does: only the first test run on a machine compiles
// the interpreter.
var sharedDriver = sync.OnceValue(func() *Driver { return New(nil) })

// shared gives a driver that is ready. No test may close it or count on its instances.
func shared(tb testing.TB) *Driver {
	tb.Helper()
	d := sharedDriver()
	if err := d.Prepare(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return d
}

// newDriver makes a driver of the test's own, which is ready.
func newDriver(tb testing.TB, opts *Options) *Driver {
	tb.Helper()
	shared(tb) // fills the cache
	d := New(opts)
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := d.Prepare(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return d
}

var testLimits = engine.Limits{Memory: 256 << 20, Tmp: 64 << 20, TmpFiles: 4096, OpenFiles: 256}

// openSession opens a session as engine.Session does, without what engine.Session does itself: deadlines,
// output limits, reasons.
func openSession(tb testing.TB, d *Driver) engine.DriverSession {
	tb.Helper()
	dir := tb.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := d.OpenSession(tb.Context(), &engine.SessionSpec{ID: "test", Root: root, HostDir: dir, Limits: testLimits})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		root.Close()
	})
	return s
}

// noInput is a standard input that is at its end.
type noInput struct{}

func (noInput) Read([]byte, <-chan struct{}) (int, error) { return 0, io.EOF }
func (noInput) Wait(<-chan struct{}) error                { return nil }

// buffer is a stream that can be looked at while a run writes to it.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// testRun is a run under way.
type testRun struct {
	engine.DriverRun
	stdout, stderr buffer
}

// begin starts a script. Each change can set something else in what is started.
func begin(tb testing.TB, s engine.DriverSession, script string, changes ...func(*engine.RunSpec)) *testRun {
	tb.Helper()
	r := &testRun{}
	spec := &engine.RunSpec{
		ID: "run", Type: engine.Python, Script: []byte(script), Name: "main.py", Cwd: engine.WorkDir,
		Env: []string{
			"HOME=" + engine.WorkDir, "LANG=C.UTF-8", "LOGNAME=sandbox", "PATH=/usr/bin:/bin", "PWD=" + engine.WorkDir,
			"TMPDIR=" + guestfs.TmpPath, "USER=sandbox",
		},
		Stdin: noInput{}, Stdout: &r.stdout, Stderr: &r.stderr, Limits: testLimits,
	}
	for _, change := range changes {
		change(spec)
	}
	var err error
	if r.DriverRun, err = s.Start(context.Background(), spec); err != nil {
		tb.Fatal(err)
	}
	return r
}

// patience is for runs that must end, at whatever speed.
const patience = 60 * time.Second

// end waits for the end of the run, which must come.
func (r *testRun) end(tb testing.TB) engine.Exit {
	tb.Helper()
	done := make(chan engine.Exit, 1)
	go func() { done <- r.Wait() }()
	select {
	case exit := <-done:
		return exit
	case <-time.After(patience):
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		tb.Fatalf("the run did not end; stdout %q, stderr %q", r.stdout.String(), r.stderr.String())
		return engine.Exit{}
	}
}

// waitFor waits until the run has written text to stdout.
func (r *testRun) waitFor(tb testing.TB, text string) {
	tb.Helper()
	for began := time.Now(); !bytes.Contains([]byte(r.stdout.String()), []byte(text)); {
		if time.Since(began) > patience {
			tb.Fatalf("%q did not come; stdout %q, stderr %q", text, r.stdout.String(), r.stderr.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// runScript runs a script to its end.
func runScript(tb testing.TB, s engine.DriverSession, script string, changes ...func(*engine.RunSpec)) (exit engine.Exit, stdout, stderr string) {
	tb.Helper()
	r := begin(tb, s, script, changes...)
	exit = r.end(tb)
	return exit, r.stdout.String(), r.stderr.String()
}

// mustPrint runs a script that has to end with code 0, and returns what it printed.
func mustPrint(tb testing.TB, s engine.DriverSession, script string, changes ...func(*engine.RunSpec)) string {
	tb.Helper()
	exit, stdout, stderr := runScript(tb, s, script, changes...)
	if exit.Code != 0 || exit.Reason != engine.ReasonExited || exit.Err != nil || stderr != "" {
		tb.Fatalf("%+v, stdout %q, stderr %q", exit, stdout, stderr)
	}
	return stdout
}
