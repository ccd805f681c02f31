package wasm

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/enginetest"
)

var conformCaps = enginetest.Caps{
	Types: []engine.ScriptType{engine.Python}, Memory: true, CPU: threadCPU() >= 0, Disk: true, Tmp: true, Live: true,
}

func openConform(tb testing.TB, opts *engine.Options) *engine.Session {
	tb.Helper()
	s, err := shared(tb).Open(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) { enginetest.Conformance(t, openConform, conformCaps) }

func BenchmarkTier(b *testing.B) { enginetest.Bench(b, openConform, conformCaps) }
