// Package enginetest is the contract of sessions as code. Whoever implements a tier runs it:
//
//	func TestConformance(t *testing.T) {
//		enginetest.Conformance(t, open, enginetest.Caps{Types: []engine.ScriptType{engine.Python}, Memory: true})
//	}
//
// The tests say nothing about speed; they may say that something ends. Each opens its own sessions, so
// they may run in parallel.
package enginetest

import (
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// Open opens a session, fails tb if it cannot, and closes the session when tb ends.
type Open func(tb testing.TB, opts *engine.Options) *engine.Session

// Caps say what the tiers under test can do. What they cannot do is left out of the suite, and has to be
// in Session.Info instead.
type Caps struct {
	// Types are the script types that run.
	Types []engine.ScriptType
	// Memory, CPU, Disk and Tmp: these limits hold.
	Memory, CPU, Disk, Tmp bool
}

// Conformance runs the suite. Its subtests stand in the order of the contract, each under the script type
// that it uses.
func Conformance(t *testing.T, open Open, caps Caps) {
	for _, typ := range caps.Types {
		t.Run(string(typ), func(t *testing.T) {
			s := &suite{open: open, caps: caps, scripts: scriptsOf(t, typ)}
			for _, group := range []struct {
				name  string
				tests []test
			}{
				{"Close", closeTests},
				{"Runs", runTests},
				{"Streams", streamTests},
				{"Stdin", stdinTests},
				{"Environment", environmentTests},
				{"Endings", endingTests},
				{"Limits", limitTests},
				{"Files", fileTests},
				{"Isolation", isolationTests},
			} {
				t.Run(group.name, func(t *testing.T) {
					for _, tt := range group.tests {
						t.Run(tt.name, func(t *testing.T) { tt.run(t, s) })
					}
				})
			}
		})
	}
}

// A test is one promise of the contract.
type test struct {
	name string
	run  func(*testing.T, *suite)
}

// suite is what the tests of one script type share.
type suite struct {
	open    Open
	caps    Caps
	scripts *scripts
}
