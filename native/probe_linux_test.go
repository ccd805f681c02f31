package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
)

// What the probe says of a backend is what a session finds.
func TestProbe_AgreesWithSessions(t *testing.T) {
	r := Probe(t.Context(), unhurried)
	for name, b := range map[string]Backend{"userns": Userns, "bwrap": Bubblewrap} {
		err := features[name]()
		if f := r.Backend(b); f.OK != (err == nil) {
			t.Errorf("%s: %+v; a session: %v", b, f, err)
		}
	}
}

func TestProbe_LeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())         // others make files in the system's
	before := Probe(t.Context(), unhurried) // what the runtime and the kernel keep for good is there after this
	fds, threads := count(t, "/proc/self/fd"), runtime.NumGoroutine()
	tmp := count(t, os.TempDir())
	Probe(t.Context(), unhurried)
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline) && runtime.NumGoroutine() > threads; {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > threads {
		t.Errorf("%d goroutines, before %d", n, threads)
	}
	if n := count(t, "/proc/self/fd"); n > fds {
		t.Errorf("%d descriptors, before %d", n, fds)
	}
	if n := count(t, os.TempDir()); n > tmp {
		t.Errorf("%d files in %s, before %d", n, os.TempDir(), tmp)
	}
	var ws unix.WaitStatus
	if pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
	if !before.Backend(Userns).OK && !before.Backend(Bubblewrap).OK {
		t.Skip("no backend works here, so little was tried")
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// An inner trial that somebody starts by hand does nothing. The one that is asked for here would do nothing anyway.
func TestProbe_InnerTrialsNeedNamespaces(t *testing.T) {
	for name, want := range map[string]int{"pid": 2, "no such trial": 2, "start": 0} {
		err := exec.CommandContext(t.Context(), "/proc/self/exe", trialArg, name).Run()
		code := 0
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			code = e.ExitCode()
		}
		if code != want {
			t.Errorf("trial %q outside: exit code %d, want %d (%v)", name, code, want, err)
		}
	}
	for name, tr := range trials {
		if tr.inner && !strings.Contains("pid mount uts network proc mount-api pivot terminal inner-calls", name) {
			t.Errorf("inner trial %q is not known here", name)
		}
	}
}

// fakeBwrap writes a program in place of bwrap, where every user can execute it.
func fakeBwrap(t *testing.T, script string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sandbar-fake-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bwrap")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// startWith makes a cell with another program as bwrap. It returns the error, which must be a StartError.
func startWith(t *testing.T, path string, timeout time.Duration) *StartError {
	t.Helper()
	d, err := New(&Options{Bubblewrap: path, StartTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	err = d.Prepare(t.Context())
	start, ok := errors.AsType[*StartError](err)
	if !ok || !errors.Is(err, engine.ErrNotAvailable) {
		t.Fatalf("not the right kind of error: %v", err)
	}
	t.Log(err)
	if start.Remedy == "" {
		t.Error("no remedy")
	}
	return start
}

func TestProbe_NoBwrap(t *testing.T) {
	start := startWith(t, "/no/such/bwrap", 0)
	if !strings.Contains(start.Error(), "/no/such/bwrap") || !strings.Contains(start.Remedy, "apt install bubblewrap") {
		t.Error(start)
	}
}

func TestProbe_BwrapIsFalse(t *testing.T) {
	start := startWith(t, "/bin/false", 0)
	if !strings.Contains(start.Error(), "exit status 1") || !strings.Contains(start.Cause, "without starting our init") {
		t.Error(start)
	}
}

func TestProbe_BwrapTalks(t *testing.T) {
	start := startWith(t, fakeBwrap(t, "echo first words >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1\n"), 0)
	if !strings.HasPrefix(start.Output, "first words") || len(start.Output) != maxLauncherOutput {
		t.Errorf("%d bytes of output are kept: %.40q", len(start.Output), start.Output)
	}
	if !strings.Contains(start.Error(), "exit status 1") || start.Cause == "" {
		t.Error(start)
	}
}

// The marker makes the processes of this test known.
func TestProbe_BwrapSleeps(t *testing.T) {
	marker := fmt.Sprintf("600.%d", os.Getpid())
	for name, script := range map[string]string{
		"itself":  "exec sleep " + marker,
		"a child": "sleep " + marker + "; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			start := startWith(t, fakeBwrap(t, script+"\n"), 300*time.Millisecond)
			if !errors.Is(start, context.DeadlineExceeded) || !strings.Contains(start.Cause, "in time") {
				t.Error(start)
			}
			noneLeft(t, marker)
		})
	}
}

// A program that hangs takes its share of the probe and no more.
func TestProbe_Bounded(t *testing.T) {
	marker := fmt.Sprintf("601.%d", os.Getpid())
	r := Probe(t.Context(), &ProbeOptions{Bubblewrap: fakeBwrap(t, "sleep "+marker+"; exit 1\n"), Timeout: 2 * time.Second})
	if f := r.Backend(Bubblewrap); f.OK || !strings.Contains(f.Detail, "deadline exceeded") {
		t.Errorf("%+v", f)
	}
	if f := finding(t, r, "bwrap"); f.OK {
		t.Errorf("%+v", f)
	}
	noneLeft(t, marker)
}

func TestProbe_BwrapVersion(t *testing.T) {
	marker := fmt.Sprintf("602.%d", os.Getpid())
	for name, tt := range map[string]struct{ script, words string }{
		"another program": {"echo hello", "is bubblewrap and runs"},
		"much":            {"head -c 1000000 /dev/zero; exit 1", "is bubblewrap and runs"},
		"old":             {"echo bubblewrap 0.4.1", "0.5.0 or later"},
		"setuid":          {"", "chmod u-s"},
		"hanging":         {"sleep " + marker + "; exit 1", "is bubblewrap and runs"},
		"fine":            {"echo bubblewrap 0.11.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &prober{settings: &settings{}, opts: ProbeOptions{Bubblewrap: fakeBwrap(t, tt.script+"\n"), Timeout: time.Minute}}
			if name == "setuid" {
				if err := os.Chmod(p.opts.Bubblewrap, 0o755|os.ModeSetuid); err != nil {
					t.Fatal(err)
				}
			}
			if name == "hanging" {
				p.opts.Timeout = time.Second
			}
			f := p.attempt(t.Context(), "bwrap", KindFeature, p.bwrap)
			if f.OK != (tt.words == "") || !strings.Contains(f.Remedy, tt.words) {
				t.Errorf("%+v", f)
			}
			noneLeft(t, marker)
		})
	}
}

// noneLeft checks that no process has the marker in its command line.
func noneLeft(t *testing.T, marker string) {
	t.Helper()
	left := ""
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = withMarker(t, marker); left == "" {
			return
		}
	}
	t.Errorf("process %s is left", left)
}

func withMarker(t *testing.T, marker string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte(marker)) {
			return f
		}
	}
	return ""
}

func TestProbe_ReadCalls(t *testing.T) {
	refused := map[string]unix.Errno{}
	readCalls("clone 1\nunshare 0\nmount 38\numount2", refused)
	want := map[string]unix.Errno{"clone": unix.EPERM, "mount": unix.ENOSYS, "umount2": unix.ENOSYS}
	if !maps.Equal(refused, want) {
		t.Errorf("%v, want %v", refused, want)
	}
	readCalls(`{"Detail":"","Error":"","Errno":0}`+"\n", refused) // a trial's last line is no call
	if !maps.Equal(refused, want) {
		t.Errorf("%v, want %v", refused, want)
	}
}
