package server

import (
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// An Observer is told what happens in a server. Its methods are called on the path of requests: they are quick, and safe
// for concurrent use. What they are told has no ids, paths or texts of callers in it, but for errors, whose texts do.
type Observer interface {
	// SessionOpened tells that a session was opened in took. An error is why it was not. Backend is one of Options.Backends.
	SessionOpened(backend string, took time.Duration, err error)
	// SessionClosed tells that one was closed, for one of the reasons below.
	SessionClosed(backend, why string, took time.Duration)
	// SnapshotKept tells that a snapshot was taken, or uploaded; SnapshotRemoved, that one is gone.
	SnapshotKept(uploaded bool)
	SnapshotRemoved()
	// RunQueued tells how long a run has waited for a slot. An error is why it got none.
	RunQueued(waited time.Duration, err error)
	// RunStarted tells how long the start took. An error is why there was none; tier and backend are empty then. Backend is
	// empty in the wasm tier.
	RunStarted(tier engine.Tier, backend string, took time.Duration, err error)
	// RunEnded gives the result of a run, with what RunStarted had. Lost runs have an error, and a result without figures.
	RunEnded(tier engine.Tier, backend string, result *engine.Result, err error)
	// FileMoved counts bytes of files that were put or got, also of calls that failed midway.
	FileMoved(put bool, bytes int64)
	// CallEnded tells of every call of the service that was understood, and of those that the gate refused. The procedure is
	// as in "/sandbox.v2.SandboxService/Run", the code Connect's word for it, or CodeOK.
	CallEnded(procedure, code string, took time.Duration)
}

// Why sessions are closed, in Observer and the log.
const (
	ClosedAsked    = "asked for"
	ClosedUnused   = "not used"
	ClosedLifetime = "lifetime over"
	ClosedServer   = "server ended"
	ClosedUnwanted = "nobody waits for it"
)

// CodeOK is the code of calls without error.
const CodeOK = "ok"

type nobody struct{}

func (nobody) SessionOpened(string, time.Duration, error)           {}
func (nobody) SessionClosed(string, string, time.Duration)          {}
func (nobody) SnapshotKept(bool)                                    {}
func (nobody) SnapshotRemoved()                                     {}
func (nobody) RunQueued(time.Duration, error)                       {}
func (nobody) RunStarted(engine.Tier, string, time.Duration, error) {}
func (nobody) RunEnded(engine.Tier, string, *engine.Result, error)  {}
func (nobody) FileMoved(bool, int64)                                {}
func (nobody) CallEnded(procedure, code string, took time.Duration) {}

// Figures are how much a server has at the moment.
type Figures struct {
	// Sessions and Snapshots that are there, with those that are being made.
	Sessions, Snapshots int
	// Running runs have a slot, and Queued ones wait for one.
	Running, Queued int
	// Draining says that the server takes no more sessions and runs.
	Draining bool
}

// Figures gives the figures as they are now.
func (s *Server) Figures() Figures {
	f := Figures{Sessions: s.sessions.length(), Snapshots: s.snapshots.length(), Draining: s.Draining()}
	f.Running, f.Queued = s.runs.lengths()
	return f
}
