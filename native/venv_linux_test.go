package native

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// wheel is a package without dependencies that needs no building: PEP 427.
func wheel(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	info := name + "-1.0.dist-info/"
	for _, f := range [][2]string{
		{name + "/__init__.py", "VALUE = 42\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", ""},
	} {
		fw, err := w.Create(f[0])
		if err == nil {
			_, err = fw.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestVenv(t *testing.T) {
	for _, b := range []Backend{Userns, Bubblewrap} {
		t.Run(string(b), func(t *testing.T) {
			t.Parallel()
			need(t, "python3-venv")
			s := openWith(driverOf(t, b))(t, &engine.Options{Venv: true, Limits: engine.Limits{OpenFiles: 1024}})
			if err := s.PutBytes(t.Context(), "inside-1.0-py3-none-any.whl", wheel(t, "inside"), nil); err != nil {
				t.Fatal(err)
			}
			before := mustRun(t, s, engine.Python, "import sys, importlib.util as u; print(sys.prefix, u.find_spec('inside'))")
			if want := engine.VenvDir + " None\n"; before != want {
				t.Errorf("at first %q, want %q", before, want)
			}
			mustRun(t, s, engine.Shell, "pip install --quiet --no-index ./inside-1.0-py3-none-any.whl")
			// The next runs have it, in both types, from any directory.
			if got := mustRun(t, s, engine.Python, "import inside; print(inside.VALUE)"); got != "42\n" {
				t.Errorf("Python has %q", got)
			}
			if got := mustRun(t, s, engine.Shell, "cd /; python3 -c 'import inside; print(inside.__file__)'"); !strings.HasPrefix(got, engine.VenvDir) {
				t.Errorf("the shell has %q", got)
			}
			// The system's own is as it was.
			if got := mustRun(t, s, engine.Shell, "/usr/bin/python3 -c 'import importlib.util as u; print(u.find_spec(\"inside\"))'"); got != "None\n" {
				t.Errorf("the system's Python has %q", got)
			}
		})
	}
}

// Without the option there is none, and nothing lies in the work directory.
func TestVenv_NotAsked(t *testing.T) {
	need(t, "userns")
	s := openWith(driverOf(t, Userns))(t, nil)
	if got := mustRun(t, s, engine.Python, "import os, sys; print(sys.prefix, os.listdir('.'))"); got != "/usr []\n" {
		t.Errorf("got %q", got)
	}
}

// Runs that start at once wait for the one that makes it.
func TestVenv_MadeOnce(t *testing.T) {
	need(t, "python3-venv")
	s := openWith(driverOf(t, Userns))(t, &engine.Options{Venv: true})
	done := make(chan string)
	for range 4 {
		go func() { done <- mustRun(t, s, engine.Python, "import sys; print(sys.prefix)") }()
	}
	for range 4 {
		if got := <-done; got != engine.VenvDir+"\n" {
			t.Errorf("got %q", got)
		}
	}
}

// mustRun runs a script that must end with code 0, and returns its stdout.
func mustRun(t *testing.T, s *engine.Session, typ engine.ScriptType, script string) string {
	t.Helper()
	out, err := s.Exec(t.Context(), script, &engine.RunOptions{Type: typ})
	if err != nil {
		t.Error(fmt.Errorf("%.60q: %w", script, err))
		return ""
	}
	if out.Result.ExitCode != 0 {
		t.Errorf("%.60q ended with %+v\n%s%s", script, out.Result, out.Stdout, out.Stderr)
	}
	return string(out.Stdout)
}
