package nativetests

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

var long = flag.Bool("long", false, "10000 runs in TestC170_Runs instead of 600")

// C170: thousands of runs, of which some are timed out, cancelled, killed for their memory or left with things in the
// background, in sessions of all kinds, leave nothing; memory is flat after the first part.
func TestC170_Runs(t *testing.T) {
	t.Setenv("TMPDIR", wideTemp(t))
	runs := 600
	switch {
	case *long:
		runs = 10_000
	case testing.Short():
		runs = 180
	}
	each(t, func(t *testing.T, _ *native.Driver) {
		before := measure()
		func() {
			d, err := native.New(&native.Options{Backend: backendOf(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			batch(t, d, runs/3)
			warm := measure()
			batch(t, d, runs-runs/3)
			after := settled(warm)
			t.Logf("after %d runs: %d goroutines, %d descriptors, %d threads, %d MiB; after %d: %d, %d, %d, %d", runs/3, warm.goroutines, warm.descriptors, warm.threads, warm.rss,
				runs, after.goroutines, after.descriptors, after.threads, after.rss)
			more := after.moreThan(warm)
			// Go keeps threads. A leak is one or more a run.
			if len(more) > 0 || after.threads > warm.threads+20 || after.rss > warm.rss+24 || after.temporary > warm.temporary {
				t.Errorf("%v; threads %d, were %d; MiB %d, were %d; temporary files %d, were %d", more, after.threads, warm.threads, after.rss, warm.rss, after.temporary, warm.temporary)
			}
		}()
		after := settled(before)
		if more := after.moreThan(before); len(more) > 0 || after.temporary > before.temporary {
			t.Errorf("after all is closed: %s; temporary files %d, were %d", strings.Join(more, "; "), after.temporary, before.temporary)
		}
	})
}

// backendOf is the backend that a subtest of each is for.
func backendOf(t *testing.T) native.Backend {
	t.Helper()
	name := t.Name()
	return native.Backend(name[strings.LastIndexByte(name, '/')+1:])
}

// batch does n runs, 30 to a session, four at a time.
func batch(t *testing.T, d *native.Driver, n int) {
	t.Helper()
	const perSession = 30
	for done := 0; done < n; done += perSession {
		opts := &engine.Options{}
		switch done / perSession % 3 {
		case 1:
			opts.Limits = engine.Limits{Disk: 4 << 20}
		case 2:
			opts.WorkDir = wideTemp(t)
		}
		if hasCgroup(d) {
			opts.Limits.Memory = 128 << 20
		}
		s, err := d.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				for i := worker; i < min(perSession, n-done); i += 4 {
					if err := one(t.Context(), s, i, hasCgroup(d)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// one does a run: most end by themselves, the others in each of the ways in which one can be ended.
func one(ctx context.Context, s *engine.Session, i int, memory bool) error {
	script, want, opts := fmt.Sprintf("echo %d > f%d; cat f%d; rm f%d; echo x > /tmp/x", i, i, i, i), engine.ReasonExited, shell(nil)
	switch i % 10 {
	case 0:
		script, want, opts.Timeout = "sleep 1000 & sleep 1000", engine.ReasonTimeout, 20*time.Millisecond
	case 1:
		script, want = "sleep 1000", engine.ReasonCancelled
		cancelled, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		ctx = cancelled
	case 2:
		script = "setsid sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & exit 3"
	case 3:
		opts = python(nil)
		script = "import tempfile; open('/dev/shm/x', 'w').write('x'); tempfile.mkdtemp(); 1 / 0"
	case 4:
		opts.Stdin, script = strings.NewReader(strings.Repeat("x", 1000)), "head -c 10"
	case 5:
		opts.Terminal, script = &engine.TerminalSize{Rows: 24, Cols: 80}, "tty; stty size"
	case 6:
		if memory {
			script, want = "exec python3 -c 'bytearray(1 << 28)'", engine.ReasonMemory
		}
	case 7:
		script, want = "kill -9 $$", engine.ReasonSignaled
	}
	out, err := s.Exec(ctx, script, opts)
	if err != nil {
		if want == engine.ReasonCancelled && ctx.Err() != nil && errors.Is(err, engine.ErrNotStarted) {
			return nil // it was cancelled before it began
		}
		return fmt.Errorf("%q: %w", script, err)
	}
	if out.Result.Reason != want {
		return fmt.Errorf("%q: %+v, stdout %q, stderr %q", script, out.Result, out.Stdout, out.Stderr)
	}
	return nil
}

// Sessions that fail to open, in each of the ways, leave nothing.
func TestC170_FailedOpens(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		t.Setenv("TMPDIR", wideTemp(t))
		before := measure()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range 20 {
			for _, opts := range []*engine.Options{
				{WorkDir: "/no/such"},
				{ReadOnly: []string{"/no/such"}},
				{Network: "?"},
				{Limits: engine.Limits{Disk: 1}},
				{Limits: engine.Limits{Disk: 1 << 20}, WorkDir: "/usr"},
				{Limits: engine.Limits{Memory: -1}},
				{Timeout: -1},
				{Env: map[string]string{"": ""}},
			} {
				if s, err := d.Open(t.Context(), opts); err == nil {
					t.Errorf("%+v can be opened", opts)
					s.Close()
				}
			}
			s, err := d.Open(ended, &engine.Options{Limits: engine.Limits{Disk: 1 << 20}})
			if err == nil {
				_, _ = s.Exec(ended, ":", shell(nil))
				_ = s.Close()
			}
			short, cancelShort := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
			if s, err = d.Open(short, &engine.Options{Limits: engine.Limits{Disk: 1 << 20}}); err == nil {
				_, _ = s.Exec(short, ":", shell(nil))
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			cancelShort()
		}
		after := settled(before)
		if more := after.moreThan(before); len(more) > 0 || after.temporary > before.temporary {
			t.Errorf("%s; temporary files %d, were %d", strings.Join(more, "; "), after.temporary, before.temporary)
		}
	})
}
