package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What 5,000 files of 4 KiB in 50 directories cost.
func BenchmarkOverlay(b *testing.B) {
	host := overlaid(b)
	for i := range 5000 {
		name := filepath.Join(host, fmt.Sprint("d", i%50), fmt.Sprint(i))
		must(b, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(strings.Repeat("x", 4096)), 0o644))
	}
	b.Run("open and close", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(b.Context(), []Driver{newFake(basics)}, &Options{Overlay: host})
			must(b, err, s.Close())
		}
	})
	s, _ := open(b, &Options{Overlay: host})
	b.Run("diff of nothing", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Diff(b.Context())
			must(b, err)
		}
	})
	b.Run("mark", func(b *testing.B) {
		for b.Loop() {
			must(b, s.Mark(b.Context()))
		}
	})
	b.Run("commit of one file", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			must(b, s.PutBytes(b.Context(), "d1/1", []byte(fmt.Sprint(n)), nil))
			_, err := s.Commit(b.Context())
			must(b, err)
		}
	})
}
