package remote

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/enginetest"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

func opener(url, backend string, tier engine.Tier) enginetest.Open {
	return func(tb testing.TB, opts *engine.Options) *engine.Session {
		tb.Helper()
		o := &remote.Options{}
		if opts != nil {
			o.Options = *opts
		}
		o.Backend = backend
		o.PythonTier = tier
		s, err := remote.Open(tb.Context(), url, o)
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
}

func TestConformance(t *testing.T) {
	url := start(t, "-listen", "127.0.0.1:0", "-backend", "userns,bubblewrap", "-owner")
	t.Run("wasm", func(t *testing.T) {
		enginetest.Conformance(t, opener(url, "", engine.TierAuto), enginetest.Caps{Types: []engine.ScriptType{engine.Python}, Memory: true, CPU: true, Disk: true, Tmp: true, Live: true, Terminal: true})
	})
	t.Run("userns", func(t *testing.T) {
		enginetest.Conformance(t, opener(url, "userns", engine.TierNative), enginetest.Caps{
			Types: []engine.ScriptType{engine.Shell}, Native: true, OpenNetwork: true, Memory: true, CPU: true, Disk: true, Tmp: true, FileSize: true, Processes: true,
		})
	})
}
