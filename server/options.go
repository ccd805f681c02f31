package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// A Host opens the sessions of a server. It is safe for concurrent use. Who made it closes it, after the server.
type Host interface {
	// Open opens a session with a backend of Options.Backends.
	Open(ctx context.Context, backend string, opts *engine.Options) (*engine.Session, error)
	// ReadSnapshot is engine.ReadSnapshot.
	ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error)
}

// Options are for New.
type Options struct {
	// Version is what Health says.
	Version string
	// Backends are those that sessions may name, the default first. There is at least one.
	Backends []string
	// Authenticator knows the callers. Nil: everybody is the one principal "local", with DefaultPolicy. That is for a server
	// that only its own user can reach.
	Authenticator Authenticator
	Limits        Limits
	// IdleTimeout closes a session that is not used for so long: no run, no call. It is the default of a session and the
	// most that one may ask for, unless a policy has another. Zero: 10 minutes.
	IdleTimeout time.Duration
	// Lifetime is the most that a session lives. Zero: 24 hours; negative: no end.
	Lifetime time.Duration
	// DetachedOutput is how much is kept of each stream of a detached run, in bytes. Zero: 1 MiB. Of runs that have ended a
	// session keeps eight times as much in all, that of the latest.
	DetachedOutput int
	// StallTimeout is how long a client may leave a message untaken once its run has ended. Zero: 1 minute.
	StallTimeout time.Duration
	// MessageTimeout is how long the one message of a call may take to come. Zero: 2 minutes.
	MessageTimeout time.Duration
	// SilenceTimeout is how long a file or snapshot that is sent may stand still. Zero: 2 minutes. An interactive run may be
	// silent for as long as it lasts.
	SilenceTimeout time.Duration
	// Logger gets what happens, with ids, and never script text, output, environment or credentials. Nil: none.
	Logger *slog.Logger
	// Observer is told what happens, for metrics. Nil: nobody.
	Observer Observer
	// Tracer is told of the steps of calls, for traces. Nil: nobody. Its interceptor is for HandlerOptions.Connect.
	Tracer Tracer
}

// Limits bound the server. What is more is engine.ErrLimit.
type Limits struct {
	// Sessions and Snapshots that are there. Zero: 4096 and 256.
	Sessions, Snapshots int
	// Runs under way. Zero: 256. More wait in a queue, in turn by principal.
	Runs int
	// QueuedRuns that wait. Zero: 1024; negative: none.
	QueuedRuns int
	// SnapshotBytes is what a snapshot that is put may unpack to. Zero: 4 GiB.
	SnapshotBytes int64
}

// The defaults that Options and Limits name.
const (
	defaultIdle     = 10 * time.Minute
	defaultLifetime = 24 * time.Hour
	defaultStall    = time.Minute
	defaultMessage  = 2 * time.Minute
	defaultSilence  = 2 * time.Minute
	defaultDetached = 1 << 20

	defaultSessions      = 4096
	defaultSnapshots     = 256
	defaultRuns          = 256
	defaultQueued        = 1024
	defaultSnapshotBytes = 4 << 30
)

func (o *Options) check() error {
	if len(o.Backends) == 0 {
		return &engine.InvalidError{Field: "Backends", Problem: "is empty"}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"IdleTimeout", o.IdleTimeout},
		{"StallTimeout", o.StallTimeout},
		{"MessageTimeout", o.MessageTimeout},
		{"SilenceTimeout", o.SilenceTimeout},
	} {
		if d.value < 0 {
			return &engine.InvalidError{Field: d.name, Problem: "is negative"}
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"Limits.Sessions", int64(o.Limits.Sessions)},
		{"Limits.Snapshots", int64(o.Limits.Snapshots)},
		{"Limits.Runs", int64(o.Limits.Runs)},
		{"Limits.SnapshotBytes", o.Limits.SnapshotBytes},
		{"DetachedOutput", int64(o.DetachedOutput)},
	} {
		if n.value < 0 {
			return &engine.InvalidError{Field: n.name, Problem: fmt.Sprintf("%d is negative", n.value)}
		}
	}
	return nil
}

func (o Options) filled() Options {
	or(&o.IdleTimeout, defaultIdle)
	or(&o.Lifetime, defaultLifetime)
	or(&o.StallTimeout, defaultStall)
	or(&o.MessageTimeout, defaultMessage)
	or(&o.SilenceTimeout, defaultSilence)
	or(&o.DetachedOutput, defaultDetached)
	or(&o.Limits.Sessions, defaultSessions)
	or(&o.Limits.Snapshots, defaultSnapshots)
	or(&o.Limits.Runs, defaultRuns)
	or(&o.Limits.QueuedRuns, defaultQueued)
	or(&o.Limits.SnapshotBytes, defaultSnapshotBytes)
	o.Limits.QueuedRuns = max(o.Limits.QueuedRuns, 0)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Authenticator == nil {
		o.Authenticator = Anonymous(&Principal{Name: "local", Policy: DefaultPolicy()})
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Tracer == nil {
		o.Tracer = noTracer{}
	}
	return o
}

func or[T int | int64 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}
