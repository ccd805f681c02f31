package wasm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

func TestDriver_OpenSessionRefuses(t *testing.T) {
	d := shared(t)
	tests := []struct {
		name   string
		limits engine.Limits
		field  string
	}{
		{"memory below the least", engine.Limits{Memory: MinMemory - 1}, "Limits.Memory"},
		{"one byte", engine.Limits{Memory: 1}, "Limits.Memory"},
		{"memory above the most", engine.Limits{Memory: maxMemory + 1}, "Limits.Memory"},
		{"negative memory", engine.Limits{Memory: -1}, "Limits.Memory"},
		{"negative processor time", engine.Limits{CPU: -1}, "Limits.CPU"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := d.Open(t.Context(), &engine.Options{Limits: tt.limits})
			var invalid *engine.InvalidError
			if !errors.As(err, &invalid) || !errors.Is(err, engine.ErrInvalid) || invalid.Field != tt.field {
				t.Errorf("Open = %v, %v, want an InvalidError about %s", s, err, tt.field)
			}
		})
	}
	for _, memory := range []int64{0, MinMemory, maxMemory} {
		s, err := d.Open(t.Context(), &engine.Options{Limits: engine.Limits{Memory: memory}})
		if err != nil {
			t.Errorf("memory of %d: %v", memory, err)
			continue
		}
		if out, err := s.RunCode(t.Context(), "print(2 + 2)", nil); err != nil || string(out) != "4\n" {
			t.Errorf("memory of %d: %q, %v", memory, out, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The driver itself refuses too: it does not count on who opens the session.
func TestDriver_OpenSessionChecks(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, memory := range []int64{0, -1, MinMemory - 1, maxMemory + 1} {
		_, err := shared(t).OpenSession(t.Context(), &engine.SessionSpec{Root: root, Limits: engine.Limits{Memory: memory}})
		var invalid *engine.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "Limits.Memory" {
			t.Errorf("memory of %d: %v", memory, err)
		}
	}
}

func TestDriver_Shell(t *testing.T) {
	s := openSession(t, shared(t))
	_, err := s.Start(t.Context(), &engine.RunSpec{Type: engine.Shell, Script: []byte("true"), Limits: testLimits})
	if !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("a shell script: %v", err)
	}
}

func TestDriver_Info(t *testing.T) {
	info := shared(t).Info()
	if info.Tier != engine.TierWasm || info.Backend != "" || len(info.Warnings) != 0 {
		t.Errorf("%+v", info)
	}
	if got := slices.Sorted(maps.Keys(info.Versions)); !slices.Equal(got, []string{"python", "wazero"}) || info.Versions["python"] != python.Version {
		t.Errorf("versions %v", info.Versions)
	}
	want := []string{"FileSize"}
	if threadCPU() < 0 {
		want = append(want, "CPU")
	}
	if !slices.Equal(info.Unenforced, want) {
		t.Errorf("unenforced: %v, want %v", info.Unenforced, want)
	}
}

// A limit that the tier cannot hold is refused, by the engine and by the driver itself.
func TestDriver_LimitsThatItCannotHold(t *testing.T) {
	d := shared(t)
	limits := engine.Limits{FileSize: 1 << 20}
	if _, err := d.Open(t.Context(), &engine.Options{Limits: limits}); !errors.Is(err, engine.ErrNotEnforceable) {
		t.Errorf("Open: %v", err)
	}
	s, err := d.Open(t.Context(), &engine.Options{Limits: limits, BestEffort: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Info().Unenforced[engine.TierWasm]; !slices.Equal(got, []string{"FileSize"}) {
		t.Errorf("Info says %v", got)
	}
	if out, err := s.RunCode(t.Context(), "print(2 + 2)", nil); err != nil || string(out) != "4\n" {
		t.Errorf("best effort: %q, %v", out, err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	limits.Memory = MinMemory
	if _, err := d.OpenSession(t.Context(), &engine.SessionSpec{Root: root, Limits: limits}); !errors.Is(err, engine.ErrNotEnforceable) {
		t.Errorf("OpenSession: %v", err)
	}
}

// One process is what a guest is: any limit of them holds.
func TestDriver_LimitOfProcesses(t *testing.T) {
	s, err := shared(t).Open(t.Context(), &engine.Options{Limits: engine.Limits{Processes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const script = "import os\ntry: os.fork()\nexcept (AttributeError, OSError) as e: print(type(e).__name__)"
	if out, err := s.RunCode(t.Context(), script, nil); err != nil || len(out) == 0 {
		t.Errorf("%q, %v", out, err)
	}
}

func TestDriver_Closed(t *testing.T) {
	d := New(&Options{Idle: 2})
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := openSession(t, d)
	mustPrint(t, s, "print(1)")
	for range 2 {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := d.Prepare(t.Context()); !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("Prepare after Close: %v", err)
	}
	_, err := s.Start(t.Context(), &engine.RunSpec{Type: engine.Python, Name: "main.py", Limits: testLimits})
	if !errors.Is(err, engine.ErrNotAvailable) || !errors.Is(err, engine.ErrNotStarted) {
		t.Errorf("a run after Close: %v", err)
	}
	opened, err := d.Open(t.Context(), nil)
	if err == nil {
		defer opened.Close()
		_, err = opened.RunCode(t.Context(), "print(1)", nil)
	}
	if !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("a session after Close: %v", err)
	}
	d.Info()
}

func TestDriver_CloseUnused(t *testing.T) {
	d := New(nil)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Many get the driver ready at once: it is done once.
func TestDriver_PrepareConcurrently(t *testing.T) {
	shared(t)
	var mu sync.Mutex
	steps := map[string]int{}
	d := New(&Options{Progress: func(step string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		steps[step]++
		if done > total || total <= 0 {
			t.Errorf("progress: %s, %d of %d", step, done, total)
		}
	}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := d.Prepare(t.Context()); err != nil {
				t.Error(err)
			}
			d.Info()
		})
	}
	wg.Wait()
	for step, n := range steps {
		if n != 1 {
			t.Errorf("%s: %d times", step, n)
		}
	}
	if len(steps) == 0 {
		t.Error("no progress was told")
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// More runs at once than there are instances ahead, in several sessions.
func TestDriver_Hammer(t *testing.T) {
	d := newDriver(t, &Options{Idle: 4})
	var sessions []engine.DriverSession
	for range 4 {
		sessions = append(sessions, openSession(t, d))
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			s := sessions[i%len(sessions)]
			name := fmt.Sprintf("run%d", i)
			script := "import os, time\n" +
				"open('/tmp/mark', 'x').write('" + name + "')\n" +
				"open('mark-" + name + "', 'x').close()\n" +
				"t = sum(i * i for i in range(20000)); time.sleep(0.005)\n" +
				"print(open('/tmp/mark').read(), t, os.environ['NAME'])"
			want := name + " 2666466670000 " + name + "\n"
			r := begin(t, s, script, func(spec *engine.RunSpec) { spec.Env = append(spec.Env, "NAME="+name) })
			if i%8 == 7 {
				r.Stop(time.Duration(i%3) * time.Millisecond)
				r.end(t)
				return
			}
			if exit := r.end(t); exit.Code != 0 || r.stdout.String() != want {
				t.Errorf("%+v, stdout %q, stderr %q, want %q", exit, r.stdout.String(), r.stderr.String(), want)
			}
		})
	}
	wg.Wait()
}

// No instances ahead is slower, and nothing else.
func TestDriver_IdleNone(t *testing.T) {
	d := newDriver(t, &Options{Idle: -1})
	s := openSession(t, d)
	for i := range 3 {
		if got := mustPrint(t, s, fmt.Sprintf("print(%d)", i)); got != fmt.Sprintln(i) {
			t.Errorf("printed %q", got)
		}
	}
	d.interpreter.pool.making.Wait()
	if n := len(d.interpreter.pool.idle); n != 0 {
		t.Errorf("%d idle instances", n)
	}
}

// An instance that was not given back is replaced, so that the next run finds one ready.
func TestDriver_Refill(t *testing.T) {
	s := oneInstance(t)
	p := s.(*session).driver.interpreter
	for _, script := range []string{"pass", "import os; os._exit(0)", "import os; os.abort()", "x = bytearray(100 << 20)"} {
		runScript(t, s, script)
		p.pool.making.Wait()
		p.pool.mu.Lock()
		if len(p.pool.idle) != 1 {
			t.Errorf("after %q there are %d idle instances", script, len(p.pool.idle))
		}
		p.pool.mu.Unlock()
	}
}

// The interpreter is the version that the documents and Info name.
func TestDriver_PythonVersion(t *testing.T) {
	got := mustPrint(t, openSession(t, shared(t)), "import sys, platform; print(sys.version.split()[0], platform.python_version(), sys.implementation.name, sys.platform)")
	if want := strings.Join([]string{python.Version, python.Version, "cpython", "wasi"}, " ") + "\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// BenchmarkDriver_Run is a fresh interpreter for the shortest script, without what engine.Session adds.
func BenchmarkDriver_Run(b *testing.B) {
	s := openSession(b, shared(b))
	for b.Loop() {
		mustPrint(b, s, "print(2+2)")
	}
}
