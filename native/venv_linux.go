package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// venvScript makes the session's virtual environment. One that is there already is used. The packages of the
// system are visible in it and never touched.
//
// With uv nothing else is needed. Otherwise pip is that of the system, run by the environment's interpreter, where the
// system has one: to unpack another into each environment takes seconds.
const venvScript = `set -e
venv=$1 python=$2
[ ! -e "$venv/pyvenv.cfg" ] || exit 0
if command -v uv >/dev/null; then
  exec uv venv --quiet --offline --no-project --system-site-packages --python "$python" "$venv"
fi
if ! "$python" -c 'import venv'; then
  echo "the host's python3 has no module venv (Debian: apt install python3-venv)" >&2
  exit 1
fi
if "$python" -c 'import pip' 2>/dev/null; then
  "$python" -m venv --system-site-packages --without-pip "$venv"
  for name in pip pip3; do
    printf '#!/bin/sh\nexec "%s" -m pip "$@"\n' "$venv/bin/python" > "$venv/bin/$name"
    chmod 755 "$venv/bin/$name"
  done
elif "$python" -c 'import ensurepip' 2>/dev/null; then
  "$python" -m venv --system-site-packages "$venv"
else
  "$python" -m venv --system-site-packages --without-pip "$venv"
fi
`

// venv is the virtual environment of a session: it is made before the first native run.
type venv struct {
	making sync.Mutex
	made   bool
}

// readyVenv makes the environment if it has not been made. After a failure the next run tries again.
func (s *session) readyVenv(ctx context.Context) error {
	if !s.spec.Venv {
		return nil
	}
	s.venv.making.Lock()
	defer s.venv.making.Unlock()
	if s.venv.made {
		return nil
	}
	if s.python.path == "" {
		return notThere(engine.Python)
	}
	var out bounded
	exit, err := s.internalRun(ctx, venvScript, []string{engine.VenvDir, s.python.path}, &out)
	switch {
	case err != nil:
		return fmt.Errorf("virtual environment: %w", err)
	case exit.Err != nil:
		return fmt.Errorf("virtual environment: %w", exit.Err)
	case exit.Code != 0:
		return fmt.Errorf("virtual environment: exit code %d: %s", exit.Code, strings.TrimSpace(out.b.String()))
	}
	s.venv.made = true
	return nil
}

// internalRun runs a shell script of ours in a cell, without network, and collects what it says.
func (s *session) internalRun(ctx context.Context, script string, args []string, out *bounded) (engine.Exit, error) {
	rs := &engine.RunSpec{
		Type: engine.Shell, Script: []byte(script), Name: "sandbar.sh", Args: args, Cwd: engine.WorkDir,
		Env:    []string{"HOME=" + engine.WorkDir, "LANG=C.UTF-8", "PATH=" + strings.Join(programDirs, ":"), "TMPDIR=/tmp"},
		Limits: s.spec.Limits, Network: netpolicy.Blocked,
		Stdin: nothing{}, Stdout: out, Stderr: out,
	}
	run, err := s.startIn(ctx, s.shell, rs)
	if err != nil {
		return engine.Exit{}, err
	}
	unhook := context.AfterFunc(ctx, func() { run.Stop(0) })
	exit := run.Wait()
	if !unhook() {
		return exit, context.Cause(ctx)
	}
	return exit, nil
}

// nothing is an input at its end.
type nothing struct{}

func (nothing) Read([]byte, <-chan struct{}) (int, error) { return 0, errors.New("nothing to read") }
func (nothing) Wait(<-chan struct{}) error                { return nil }
func (nothing) AtEnd() bool                               { return true }

// bounded keeps the beginning of what is written to two streams.
type bounded struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *bounded) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p[:min(len(p), max(0, maxLauncherOutput-w.b.Len()))])
	return len(p), nil
}

// venvPython is the interpreter of the environment.
var venvPython = path.Join(engine.VenvDir, "bin", "python")
