package cases

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

var long = flag.Bool("long", false, "5000 runs in TestLeak instead of 1000")

// usage is what a process holds.
type usage struct {
	goroutines, descriptors, threads, mappings, temporary int
	rss                                                   int // MiB
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	return usage{
		goroutines:  runtime.NumGoroutine(),
		descriptors: entries(t, "/proc/self/fd"),
		threads:     entries(t, "/proc/self/task"),
		mappings:    strings.Count(readText(t, "/proc/self/maps"), "\n"),
		temporary:   entries(t, os.TempDir()),
		rss:         residentMiB(t),
	}
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// residentMiB is the resident memory of this process (proc(5), statm).
func residentMiB(t *testing.T) int {
	t.Helper()
	fields := strings.Fields(readText(t, "/proc/self/statm"))
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}

// C170: thousands of runs, one in ten timed out, one in ten cancelled, leave nothing, and memory is flat
// after the first 500. Its own temporary directory keeps other programs' files out of the count.
func TestLeak_Runs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	runs := 1000
	switch {
	case *long:
		runs = 5000
	case testing.Short():
		runs = 600
	}
	mustStillWork(t, open(t, nil))
	batch(t, 100) // threads and caches that stay
	before := measure(t)
	batch(t, 500)
	warm := measure(t)
	batch(t, runs-500)
	after := settled(t, before)
	t.Logf("before %+v\nafter 500 %+v\nafter %d %+v", before, warm, runs, after)
	for _, c := range []struct {
		name        string
		got, before int
		slack       int
	}{
		{"goroutines", after.goroutines, before.goroutines, 0},
		{"descriptors", after.descriptors, before.descriptors, 0},
		{"temporary files", after.temporary, before.temporary, 0},
		// Go keeps threads, each with mappings of its own. A leak is one or more per run.
		{"threads", after.threads, warm.threads, 16},
		{"mappings", after.mappings, warm.mappings, 48},
		{"resident MiB", after.rss, warm.rss, 24},
	} {
		if c.got > c.before+c.slack {
			t.Errorf("%s: %d, were %d", c.name, c.got, c.before)
		}
	}
}

// settled measures until what must come back has come back, for a while.
func settled(t *testing.T, want usage) usage {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got := measure(t)
		if got.goroutines <= want.goroutines && got.descriptors <= want.descriptors && got.temporary <= want.temporary || time.Now().After(deadline) {
			return got
		}
	}
}

// batch does n runs, 50 to a session, four at a time.
func batch(t *testing.T, n int) {
	t.Helper()
	for done := 0; done < n; done += 50 {
		session, err := openPlain(t)
		if err != nil {
			t.Fatal(err)
		}
		sem := make(chan struct{}, 4)
		var failed atomic.Int32
		for i := range min(50, n-done) {
			sem <- struct{}{}
			go func() {
				defer func() { <-sem }()
				if err := one(t.Context(), session, i); err != nil && failed.Add(1) < 5 {
					t.Error(err)
				}
			}()
		}
		for range cap(sem) {
			sem <- struct{}{}
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// one does a run: number 0 of ten is timed out, number 1 cancelled, number 2 fails, number 3 uses files and
// much memory.
func one(ctx context.Context, session *engine.Session, i int) error {
	script, want, opts := fmt.Sprintf("print(%d * 2)", i), engine.ReasonExited, &engine.RunOptions{}
	switch i % 10 {
	case 0:
		script, want = "while True: pass", engine.ReasonTimeout
		opts.Timeout = 20 * time.Millisecond
	case 1:
		script, want = "import time; time.sleep(1000)", engine.ReasonCancelled
		cancelled, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		ctx = cancelled
	case 2:
		script = "import os; os.mkdir('d%d' % len(os.listdir('.'))); 1 / 0"
	case 3:
		script = "import tempfile, os; open('f', 'w').write('x' * 100000); b = bytearray(30 << 20); open('/tmp/y', 'wb').write(b[:10**6]); os._exit(0)"
	}
	out, err := session.Exec(ctx, script, opts)
	if err != nil {
		if want == engine.ReasonCancelled && ctx.Err() != nil {
			return nil // it was cancelled before it began
		}
		return err
	}
	if out.Result.Reason != want {
		return fmt.Errorf("%q: %+v, stderr %q", script, out.Result, out.Stderr)
	}
	return nil
}
