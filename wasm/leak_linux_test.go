package wasm

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// holdings are what this process holds of the kernel.
type holdings struct{ descriptors, mappings, images, threads, goroutines int }

func held(tb testing.TB) holdings {
	tb.Helper()
	count := func(dir string) int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			tb.Fatal(err)
		}
		return len(entries)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		tb.Fatal(err)
	}
	return holdings{
		descriptors: count("/proc/self/fd"), mappings: bytes.Count(maps, []byte("\n")), images: bytes.Count(maps, []byte("sandbar-image")),
		threads: count("/proc/self/task"), goroutines: runtime.NumGoroutine(),
	}
}

// settled waits until no more goroutines are there than before, for what ends just after a run.
func settled(tb testing.TB, goroutines int) holdings {
	tb.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= goroutines {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return held(tb)
}

// mixed runs a script of each kind: ended, failed, stopped, killed, crashed, grown.
func mixed(tb testing.TB, s engine.DriverSession, i int) {
	tb.Helper()
	stop := func(r *testRun, grace time.Duration) {
		r.waitFor(tb, "started")
		r.Stop(grace)
	}
	const started = "print('started', flush=True)\n"
	switch i % 10 {
	case 0:
		r := begin(tb, s, started+"while True: pass")
		stop(r, patience)
		r.end(tb)
	case 1:
		r := begin(tb, s, started+"sum(range(10**12))")
		stop(r, 0)
		r.end(tb)
	case 2:
		r := begin(tb, s, started+"import time; time.sleep(10**6)")
		stop(r, patience)
		r.end(tb)
	case 3:
		runScript(tb, s, "import os; os.abort()")
	case 4:
		runScript(tb, s, "x = bytearray(50 << 20)")
	case 5:
		runScript(tb, s, "f = [open('/tmp/%d' % i, 'w') for i in range(50)]; g = [open('f%d' % i, 'w') for i in range(20)]; import os; os._exit(0)")
	case 6:
		runScript(tb, s, "raise ValueError")
	default:
		mustPrint(tb, s, fmt.Sprintf("f = open('x', 'w'); print(%d)", i))
	}
}

// trim leaves n instances in a pool: it keeps what a moment of more runs has made, and how many that are is chance.
func trim(o *pool, n int) {
	o.making.Wait()
	o.mu.Lock()
	more := o.idle[min(n, len(o.idle)):]
	o.idle = o.idle[:len(o.idle)-len(more)]
	o.mu.Unlock()
	for _, in := range more {
		in.close(context.Background())
	}
}

// Runs of all kinds leave no descriptor, goroutine, thread or mapping behind.
func TestDriver_NothingIsLeftByRuns(t *testing.T) {
	d := newDriver(t, &Options{Idle: 2})
	s := openSession(t, d)
	for i := range 30 {
		mixed(t, s, i)
	}
	trim(d.interpreter.pool, 2)
	runtime.GC()
	before := held(t)
	runs := 300
	if testing.Short() {
		runs = 100
	}
	for i := range runs {
		mixed(t, s, i)
	}
	trim(d.interpreter.pool, 2)
	runtime.GC()
	after := settled(t, before.goroutines)
	if after.descriptors > before.descriptors || after.goroutines > before.goroutines {
		t.Errorf("held %+v before, %+v after", before, after)
	}
	// The pool is as full as before; the Go runtime keeps some threads, and maps memory for itself.
	if after.images > before.images || after.mappings > before.mappings+60 || after.threads > before.threads+8 {
		t.Errorf("held %+v before, %+v after", before, after)
	}
	if n := s.(*session).files.HostFiles(); n != 0 {
		t.Errorf("%d files of the work directory are open", n)
	}
}

// A driver that is closed leaves nothing behind.
func TestDriver_NothingIsLeftByClose(t *testing.T) {
	shared(t)
	cycle := func() {
		d := New(&Options{Idle: 2})
		defer func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}()
		s, err := d.Open(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, script := range []string{"print(1)", "import os; os._exit(0)", "x = bytearray(50 << 20)"} {
			if _, err := s.RunCode(t.Context(), script, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	collect := func() {
		for range 3 { // finalizers run between collections
			runtime.GC()
			time.Sleep(10 * time.Millisecond)
		}
	}
	cycle()
	collect()
	before := held(t)
	for range 3 {
		cycle()
	}
	collect()
	after := settled(t, before.goroutines)
	if after.descriptors > before.descriptors || after.goroutines > before.goroutines || after.images > before.images {
		t.Errorf("held %+v before, %+v after", before, after)
	}
	if after.mappings > before.mappings+40 {
		t.Errorf("%d mappings before, %d after", before.mappings, after.mappings)
	}
}
