// Package cases holds failures that users of systems like this one have met, as tests of the Python tier
// through the library. The number in a test's comment is that of the case.
package cases

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
)

// patience is for what must end, at whatever speed.
const patience = 5 * time.Minute

// bound is how long after its timeout a run may still be there. It says that runs end, not how fast this
// machine is: the measured time is logged.
const bound = 10 * time.Second

// open opens a session whose Python scripts run in the wasm tier, and which is closed when the test ends.
func open(tb testing.TB, opts *engine.Options) *engine.Session {
	tb.Helper()
	var o engine.Options
	if opts != nil {
		o = *opts
	}
	o.PythonTier = engine.TierWasm
	session, err := sandbar.Open(tb.Context(), &o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := session.Close(); err != nil {
			tb.Error(err)
		}
	})
	return session
}

// exec runs a script to its end.
func exec(tb testing.TB, session *engine.Session, script string, opts *engine.RunOptions) *engine.TextOutput {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	out, err := session.Exec(ctx, script, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return &engine.TextOutput{Stdout: string(out.Stdout), Stderr: string(out.Stderr), Result: out.Result}
}

// mustPrint runs a script in a session of its own, which has to end with code 0, say nothing on stderr and
// print want.
func mustPrint(tb testing.TB, script, want string) {
	tb.Helper()
	checkPrinted(tb, exec(tb, open(tb, nil), script, nil), want)
}

func checkPrinted(tb testing.TB, out *engine.TextOutput, want string) {
	tb.Helper()
	if out.Stdout != want || out.Stderr != "" || out.Result.ExitCode != 0 || out.Result.Reason != engine.ReasonExited {
		tb.Errorf("stdout %q, want %q; stderr %q, code %d, reason %s", out.Stdout, want, out.Stderr, out.Result.ExitCode, out.Result.Reason)
	}
}

// mustStillWork runs a small script in a session in which something went wrong.
func mustStillWork(tb testing.TB, session *engine.Session) {
	tb.Helper()
	checkPrinted(tb, exec(tb, session, "print(sum(range(10)), __import__('json').dumps([1]))", nil), "45 [1]\n")
}

// lines joins what a script prints.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

// openPlain opens a session that the caller closes.
func openPlain(tb testing.TB) (*engine.Session, error) {
	return sandbar.Open(tb.Context(), &engine.Options{PythonTier: engine.TierWasm})
}
