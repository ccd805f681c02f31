package native

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// BenchmarkTrue compares `true` in an open session with what it costs without one.
func BenchmarkTrue(b *testing.B) {
	script := filepath.Join(b.TempDir(), "main.sh")
	if err := os.WriteFile(script, []byte("true"), 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/bash", script).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, backend := range []Backend{Userns, Bubblewrap} {
		s := openWith(driverOf(b, backend))(b, nil)
		b.Run(string(backend), func(b *testing.B) {
			for b.Loop() {
				out, err := s.Exec(context.Background(), "true", &engine.RunOptions{Type: engine.Shell})
				if err != nil || out.Result.ExitCode != 0 {
					b.Fatal(out, err)
				}
			}
		})
	}
	b.Run("bwrap", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "/bin/bash", script)
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatal(err, string(out))
			}
		}
	})
}

// BenchmarkOpen is a session with its first run: the making of a cell.
func BenchmarkOpen(b *testing.B) {
	for _, backend := range []Backend{Userns, Bubblewrap} {
		d := driverOf(b, backend)
		b.Run(string(backend), func(b *testing.B) {
			for b.Loop() {
				s, err := d.Open(context.Background(), nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Exec(context.Background(), "true", &engine.RunOptions{Type: engine.Shell}); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
