package nativetests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// noOverlay is a driver that makes work directories, and lays none over a directory of the host.
type noOverlay struct{ engine.WorkspaceMaker }

// A session over 5,000 files of 4 KiB, in memory: opened and closed, and asked for changes after a script has changed 10.
func BenchmarkOverlay(b *testing.B) {
	d, err := native.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	host := b.TempDir()
	data := make([]byte, 4096)
	for i := range 5000 {
		dir := filepath.Join(host, fmt.Sprintf("d%d", i/100))
		data[0], data[1] = byte(i), byte(i>>8)
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	for kind, driver := range map[engine.OverlayKind]engine.Driver{engine.OverlayCopy: noOverlay{d}, engine.OverlayFS: d} {
		open := func(b *testing.B) *engine.Session {
			s, err := engine.Open(b.Context(), []engine.Driver{driver}, &engine.Options{Overlay: host, Limits: engine.Limits{Disk: 256 << 20}})
			if err != nil {
				b.Fatal(err)
			}
			if got := s.Info().OverlayKind; got != kind {
				s.Close()
				b.Skipf("the overlay is %s", got)
			}
			return s
		}
		b.Run("open/"+string(kind), func(b *testing.B) {
			for b.Loop() {
				if err := open(b).Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("diff/"+string(kind), func(b *testing.B) {
			s := open(b)
			defer s.Close()
			if _, err := s.Exec(b.Context(), "for i in 0 1 2 3 4 5 6 7 8 9; do echo x >> d1/10$i; done", shell(nil)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if list, err := s.Diff(b.Context()); err != nil || len(list) != 10 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}
