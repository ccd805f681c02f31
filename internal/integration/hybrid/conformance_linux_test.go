package hybrid

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/enginetest"
)

// The contract holds for sessions with both tiers. What a Python script of the suite needs of the native tier it gets by its
// imports; what it cannot need there is left out, as for the wasm tier.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees the same code in the suites of the tiers")
	}
	d, err := processes()
	if err != nil {
		drivers(t) // skips, or fails
	}
	holds := func(limit string) bool { return !slices.Contains(d.Info().Unenforced, limit) }
	both := enginetest.Caps{Memory: holds("Memory"), CPU: holds("CPU"), Disk: true, Tmp: holds("Tmp")}
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		caps := both
		caps.Types, caps.Live, caps.Terminal = []engine.ScriptType{engine.Python}, true, true
		enginetest.Conformance(t, open, caps)
	})
	t.Run("shell", func(t *testing.T) {
		t.Parallel()
		caps := both
		caps.Types, caps.Native, caps.Processes = []engine.ScriptType{engine.Shell}, true, holds("Processes")
		// Where the kernel cannot keep scripts from abstract sockets of the host, the native tier refuses an open network.
		var abi int
		_, err := fmt.Sscanf(d.Info().Enforced["landlock"], "ABI %d", &abi)
		caps.OpenNetwork = err == nil && abi >= 6
		enginetest.Conformance(t, open, caps)
	})
}
