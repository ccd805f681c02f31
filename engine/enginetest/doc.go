// Package enginetest is the contract of sessions as code. Whoever implements a tier runs it:
//
//	func TestConformance(t *testing.T) {
//		enginetest.Conformance(t, open, enginetest.Caps{Types: []engine.ScriptType{engine.Python}, Memory: true})
//	}
//
// The tests say nothing about speed; they may say that something ends. Each opens its own sessions, so several
// suites may run in parallel, of one tier or of several. The suite puts a variable into the environment of the
// process that runs it, and leaves it there: no script may see it.
package enginetest

import (
	"os"
	"sync"
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
	// These limits hold.
	Memory, CPU, Disk, Tmp, FileSize, Processes bool
	// Native: a script is a process of a kernel. It starts others, gets signals, has a loopback of its own, and a
	// terminal when that is asked for.
	Native bool
	// Terminal: a run can have a terminal. Native includes it.
	Terminal bool
	// Live: a session can keep a Python interpreter, and be copied with it.
	Live bool
	// OpenNetwork: a session may have netpolicy.Open.
	OpenNetwork bool
}

// canary is a variable of this process that no script may see.
const canaryName, canary = "SBX_CANARY", "canary-7f3a"

// Conformance runs the suite. Its subtests stand in the order of the contract, each under the script type
// that it uses.
func Conformance(t *testing.T, open Open, caps Caps) {
	if err := os.Setenv(canaryName, canary); err != nil { //nolint:usetesting // t.Setenv is not for tests in parallel
		t.Fatal(err)
	}
	for _, typ := range caps.Types {
		t.Run(string(typ), func(t *testing.T) {
			s := &suite{open: open, caps: caps, scripts: scriptsOf(t, typ), native: native(typ)}
			for _, g := range groups {
				if g.native && !caps.Native || g.live && (!caps.Live || typ != engine.Python) {
					continue
				}
				t.Run(g.name, func(t *testing.T) { g.run(t, s) })
			}
		})
	}
}

var groups = []group{
	{name: "Close", tests: closeTests},
	{name: "Runs", tests: runTests},
	{name: "Streams", tests: streamTests},
	{name: "Host", tests: hostTests, alone: true},
	{name: "Stdin", tests: stdinTests},
	{name: "Environment", tests: environmentTests},
	{name: "Endings", tests: endingTests},
	{name: "Interrupts", tests: interruptTests},
	{name: "Limits", tests: limitTests},
	{name: "Figures", tests: figureTests},
	{name: "Files", tests: fileTests},
	{name: "Isolation", tests: isolationTests},
	{name: "Ceiling", tests: ceilingTests},
	{name: "Processes", tests: processTests, native: true},
	{name: "Signals", tests: signalTests, native: true},
	{name: "Network", tests: networkTests, native: true},
	{name: "Terminal", tests: terminalTests, native: true},
	{name: "Live", tests: liveTests, live: true},
	{name: "LiveInterrupts", tests: liveInterruptTests, live: true},
}

// A group is a part of the contract.
type group struct {
	name   string
	tests  []test
	native bool // it needs Caps.Native
	live   bool // it needs Caps.Live, and Python
	alone  bool // its tests look at this process, in which no other suite may do anything meanwhile
}

// A test is one promise of the contract.
type test struct {
	name string
	run  func(*testing.T, *suite)
}

// others is held for reading by each test, and for writing by one that is to be alone.
var others sync.RWMutex

func (g *group) run(t *testing.T, s *suite) {
	for _, tt := range g.tests {
		t.Run(tt.name, func(t *testing.T) {
			if g.alone {
				others.Lock()
				defer others.Unlock()
			} else {
				others.RLock()
				defer others.RUnlock()
			}
			tt.run(t, s)
		})
	}
}

// suite is what the tests of one script type share.
type suite struct {
	open    Open
	caps    Caps
	scripts *scripts
	native  *nativeScripts
}
