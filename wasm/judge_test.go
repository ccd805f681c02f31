package wasm

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// refusing has a run refused when the tier may not do for it.
func refusing(spec *engine.RunSpec) { spec.Refuse = engine.RefuseDoubtful }

// startError starts a script that must not be started.
func startError(ctx context.Context, tb testing.TB, s engine.DriverSession, script string, changes ...func(*engine.RunSpec)) error {
	tb.Helper()
	spec := &engine.RunSpec{
		ID: "run", Type: engine.Python, Script: []byte(script), Name: "main.py", Cwd: engine.WorkDir,
		Stdin: noInput{}, Stdout: &buffer{}, Stderr: &buffer{}, Limits: testLimits,
	}
	for _, change := range changes {
		change(spec)
	}
	run, err := s.Start(ctx, spec)
	if err == nil {
		exit := run.Wait()
		tb.Fatalf("%.100q was started: %+v", script, exit)
	}
	return err
}

// Nothing of a refused script has been executed, nothing was written, and the second time is as the first.
func TestStart_Refuses(t *testing.T) {
	s := openSession(t, newDriver(t, nil))
	const script = "open('ran', 'w')\nprint('a\\d')\nimport ctypes\n"
	var stdout, stderr buffer
	for _, refuse := range []engine.Refuse{engine.RefuseImpossible, engine.RefuseDoubtful} {
		for range 2 {
			err := startError(t.Context(), t, s, script, func(spec *engine.RunSpec) {
				spec.Refuse, spec.Stdout, spec.Stderr = refuse, &stdout, &stderr
			})
			needs, ok := errors.AsType[*engine.NeedsNativeError](err)
			if !ok || needs.Line != 3 || needs.Module != "ctypes" || !needs.Imported {
				t.Errorf("%v: %v", refuse, err)
			}
		}
	}
	if stdout.String() != "" || stderr.String() != "" {
		t.Errorf("stdout %q, stderr %q", stdout.String(), stderr.String())
	}
	if got := mustPrint(t, s, "import os; print(os.listdir())", refusing); got != "[]\n" {
		t.Errorf("left behind: %s", got)
	}
}

// What the parser warns of is written once, and when the script runs here.
func TestStart_Warnings(t *testing.T) {
	s := openSession(t, newDriver(t, nil))
	for range 2 {
		exit, stdout, stderr := runScript(t, s, "import sys\nprint('a\\d')", refusing)
		if exit.Code != 0 || stdout != "a\\d\n" || strings.Count(stderr, "SyntaxWarning") != 1 {
			t.Errorf("%+v, %q, %q", exit, stdout, stderr)
		}
	}
	exit, _, stderr := runScript(t, s, "import sys\nx = 'a\\d' +", refusing)
	if exit.Code != 1 || strings.Count(stderr, "SyntaxError") != 1 {
		t.Errorf("%+v, %q", exit, stderr)
	}
}

// slowToParse takes seconds to parse, and its first statement leaves a trace.
var slowToParse = "import json\nopen('ran', 'w')\n" + strings.Repeat("x = [1, 2, 3, {'a': (4, 5)}]\n", 300_000)

// A script whose time passes while it is looked at has not begun, and is a run that ended by its timeout.
func TestStart_TimeoutWhileParsing(t *testing.T) {
	s := openSession(t, newDriver(t, nil))
	r := begin(t, s, slowToParse, refusing, func(spec *engine.RunSpec) { spec.Timeout = 50 * time.Millisecond })
	if exit := r.end(t); exit.Reason != engine.ReasonTimeout {
		t.Errorf("%+v", exit)
	}
	if got := mustPrint(t, s, "import os; print(os.listdir())"); got != "[]\n" {
		t.Errorf("left behind: %s", got)
	}
}

func TestStart_CancelWhileParsing(t *testing.T) {
	s := openSession(t, newDriver(t, nil))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("deliberate"))
	defer cancel()
	if err := startError(ctx, t, s, slowToParse, refusing); !strings.Contains(err.Error(), "deliberate") {
		t.Errorf("%v", err)
	}
	if got := mustPrint(t, s, "import os; print(os.listdir())"); got != "[]\n" {
		t.Errorf("left behind: %s", got)
	}
}

// A script without imports is not looked at, one with is looked at once, and its modules too.
func TestStart_Cache(t *testing.T) {
	d := newDriver(t, nil)
	s := openSession(t, d)
	files := func() int {
		d.findings.mu.Lock()
		defer d.findings.mu.Unlock()
		return len(d.findings.files)
	}
	for _, tt := range []struct {
		script string
		files  int
	}{
		{"print(1)", 0},
		{"import json", 1},
		{"import json", 1},
		{"open('m.py', 'w').write('x = 1')", 1},
		{"import m", 3},
		{"import m", 3},
		{"# coding: utf-7\n+AGkAbQBwAG8AcgB0- json", 4},
	} {
		mustPrint(t, s, tt.script, refusing)
		if got := files(); got != tt.files {
			t.Errorf("%q: %d files are known, want %d", tt.script, got, tt.files)
		}
	}
}

// Modules of the work directory that lead to what is not here count, links out of it do not.
func TestStart_WorkDirectory(t *testing.T) {
	d := newDriver(t, nil)
	s := openFrom(t, d, nil, func(spec *engine.SessionSpec) {
		for name, text := range map[string]string{"a.py": "import b", "b.py": "import ctypes", "sub/c.py": "import ctypes", "good.py": "import json"} {
			if err := errors.Join(os.MkdirAll(spec.HostDir+"/sub", 0o755), os.WriteFile(spec.HostDir+"/"+name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	})
	for script, want := range map[string]string{"import a": "a", "import sub.c": "sub.c", "import b": "b"} {
		needs, ok := errors.AsType[*engine.NeedsNativeError](startError(t.Context(), t, s, script, refusing))
		if !ok || needs.Module != want {
			t.Errorf("%q: %v", script, needs)
		}
	}
	if err := startError(t.Context(), t, s, "import c", refusing, func(spec *engine.RunSpec) { spec.Cwd += "/sub" }); !errors.Is(err, engine.ErrNeedsNative) {
		t.Errorf("in a directory below: %v", err)
	}
	mustPrint(t, s, "import good", refusing)
	// The live interpreter is asked in the same way.
	if err := startError(t.Context(), t, s, "import a", inLive, func(spec *engine.RunSpec) { spec.Refuse = engine.RefuseImpossible }); !errors.Is(err, engine.ErrNeedsNative) {
		t.Errorf("live: %v", err)
	}
	cell(t, s, "import good", func(spec *engine.RunSpec) { spec.Refuse = engine.RefuseImpossible })
}
