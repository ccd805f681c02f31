package native

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// TestSandboxExec_Isolation tries what a script must and must not be able to do.
func TestSandboxExec_Isolation(t *testing.T) {
	d, err := New(&Options{Backend: SandboxExec})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	home, err := os.MkdirTemp("/var/tmp", "sandbar-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	readable, writable, hidden := filepath.Join(home, "r"), filepath.Join(home, "w"), filepath.Join(home, "h")
	for _, dir := range []string{readable, writable, hidden} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("data\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []netpolicy.Mode{netpolicy.Blocked, netpolicy.Open} {
		s, err := d.Open(t.Context(), &engine.Options{Network: mode, ReadOnly: []string{readable}, ReadWrite: []string{writable}})
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			script string
			want   bool
		}{
			{"echo x > f && cat f && mkdir d && rm -r f d", true},
			{`echo x > "$TMPDIR"/f`, true},
			{"cat " + readable + "/f", true},
			{"echo x > " + readable + "/f", false},
			{"echo x > " + writable + "/g", true},
			{"cat " + hidden + "/f", false},
			{"ls " + hidden, false},
			{"echo x > " + hidden + "/f", false},
			{"ls /Users", false},
			{"echo x > /private/tmp/sandbar-test", false},
			{"id && date && sw_vers", true},
			{"kill -0 " + "1", false},
			{"nc -z 127.0.0.1 " + port, mode == netpolicy.Open},
		} {
			out, err := s.Exec(t.Context(), tt.script, &engine.RunOptions{Type: engine.Shell})
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Result.ExitCode == 0; got != tt.want {
				t.Errorf("network %s: %q: done is %v, %s", mode, tt.script, got, out.Stderr)
			}
		}
		if findPython().path != "" {
			out, err := s.Exec(t.Context(), "import asyncio, json, multiprocessing, ssl, sqlite3\nasyncio.run(asyncio.sleep(0))\nprint('ok')", &engine.RunOptions{Type: engine.Python})
			if err != nil || strings.TrimSpace(string(out.Stdout)) != "ok" {
				t.Errorf("Python: %v, %+v", err, out)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
