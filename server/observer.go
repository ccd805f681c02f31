package server

import (
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// An Observer is told what happens in a server. Its methods are called on the path of requests: they are quick, and safe
// for concurrent use.
type Observer interface {
	// SessionOpened and SessionClosed tell how many sessions there are now. Took is the time of the call.
	SessionOpened(backend string, open int, took time.Duration, err error)
	SessionClosed(open int, why string, took time.Duration)
	// RunQueued tells how long a run has waited for a slot. An error is why it got none.
	RunQueued(waited time.Duration, err error)
	// RunStarted tells how long the start took. An error is why there was none.
	RunStarted(tier engine.Tier, backend string, took time.Duration, err error)
	// RunEnded gives the result; lost runs have an error.
	RunEnded(result *engine.Result, err error)
	// FileMoved counts the bytes of a file that was put or got.
	FileMoved(put bool, bytes int64)
}

type nobody struct{}

func (nobody) SessionOpened(string, int, time.Duration, error)      {}
func (nobody) SessionClosed(int, string, time.Duration)             {}
func (nobody) RunQueued(time.Duration, error)                       {}
func (nobody) RunStarted(engine.Tier, string, time.Duration, error) {}
func (nobody) RunEnded(*engine.Result, error)                       {}
func (nobody) FileMoved(bool, int64)                                {}
