//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// fakeSandboxExec understands the command line of sandbox-exec(1), writes it down and confines nothing.
const fakeSandboxExec = `#!/bin/sh
log=$(dirname "$0")/log
while [ "$1" != -- ]; do
  printf '%s\n' "$1" >> "$log"
  shift
done
shift
exec "$@"
`

// TestSandboxExec_CommandLine runs scripts with a program that stands in for sandbox-exec.
func TestSandboxExec_CommandLine(t *testing.T) {
	d := plainDriver(t, SandboxExec)
	dir := t.TempDir()
	fake := filepath.Join(dir, "sandbox-exec")
	if err := os.WriteFile(fake, []byte(fakeSandboxExec), 0o755); err != nil {
		t.Fatal(err)
	}
	granted := filepath.Join(dir, "granted")
	if err := errors.Join(os.Mkdir(granted, 0o755), os.Symlink(granted, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	spec := &engine.SessionSpec{HostDir: t.TempDir(), Network: netpolicy.Blocked, Grants: []engine.Grant{{Path: filepath.Join(dir, "link")}}}
	wrap, err := sandboxExecWrapper(fake, spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openPlain(d, spec, wrap)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	run, err := s.Start(t.Context(), &engine.RunSpec{
		Type: engine.Shell, Name: "main.sh", Script: []byte(`printf '%s|' "$@"; exit 3`), Args: []string{"--", "-p", "a b"},
		Env: []string{"PATH=/usr/bin:/bin"}, Cwd: engine.WorkDir, Network: netpolicy.Blocked, Limits: engine.Limits{OpenFiles: 100},
		Stdin: plainEOF{}, Stdout: &out, Stderr: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	if exit := run.Wait(); exit.Code != 3 || out.String() != "--|-p|a b|" {
		t.Errorf("%+v, output %q", exit, out.String())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-p\n(version 1)\n(deny default)\n", "\n-DWORK=" + spec.HostDir + "\n", fmt.Sprintf("\n-DGRANT_0=%s\n", granted)} {
		if !strings.Contains("\n"+string(log), want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
	if _, err := sandboxExecWrapper(fake, &engine.SessionSpec{Grants: []engine.Grant{{Path: filepath.Join(dir, "missing")}}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a grant that has gone: %v", err)
	}
}
