package server

import (
	"context"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// A Tracer makes spans of what calls do. It is safe for concurrent use.
type Tracer interface {
	// Concerns tells with what session and run the call of ctx has to do, once that is known. Run is empty where it is the
	// session alone.
	Concerns(ctx context.Context, session, run string)
	// Begin tells that a step begins, in the call of ctx. The end is called once, by any goroutine, when it is over: that of a
	// detached run after its call.
	Begin(ctx context.Context, name StepName) (end func(Step))
}

// StepName names a step of a run.
type StepName string

// The steps, in their order.
const (
	StepQueue StepName = "queue" // the wait for a slot
	StepStart StepName = "start" // until the script runs
	StepRun   StepName = "run"   // until it has ended
)

// A Step is what is known of a step when it is over. What is not known is empty. There is no text of a script in it, but
// that of Err can have some.
type Step struct {
	Session, Run string
	Tier         engine.Tier
	Backend      string
	// Route is why the run went to its tier: one of the words below.
	Route  string
	Reason engine.Reason
	Err    error
}

// Why a run went to its tier. The text of engine.Result says more, and names what the script imports.
const (
	RouteDirect   = "direct"   // by the type of the script and the options
	RouteLive     = "live"     // to the live interpreter
	RouteTerminal = "terminal" // it has one
	RouteRefused  = "refused"  // the other tier could not run it
)

// routeWord is the word for a text of Process.Route.
func routeWord(why string) string {
	_, because, found := strings.Cut(why, " tier: ")
	switch {
	case !found:
		return RouteDirect
	case because == "it uses the live interpreter":
		return RouteLive
	case because == "it has a terminal":
		return RouteTerminal
	}
	return RouteRefused
}

type noTracer struct{}

func (noTracer) Concerns(context.Context, string, string) {}

func (noTracer) Begin(context.Context, StepName) func(Step) { return func(Step) {} }
