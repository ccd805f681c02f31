package server

import (
	"context"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// sender sends an event to a client. It may block while the client is behind.
type sender func(*sandboxv2.RunEvent) error

// The time between two messages when nothing happens: proxies cut what is silent for longer, and the client knows that
// the server is there.
const (
	defaultHeartbeat = 15 * time.Second
	minHeartbeat     = time.Second
)

// startHold is how long the first message of a run waits for its end, if nobody is to see it at once.
const startHold = 2 * time.Millisecond

func heartbeatOf(d *durationpb.Duration) (time.Duration, error) {
	v, err := wire.ToDuration("heartbeat", d)
	switch {
	case err != nil:
		return 0, err
	case v == 0:
		return defaultHeartbeat, nil
	case v < 0:
		return 0, &engine.InvalidError{Field: "heartbeat", Problem: "is negative"}
	}
	return max(v, minHeartbeat), nil
}

// beatMeanwhile sends heartbeats while a run waits for its turn and is started, until stop. Nobody else may send meanwhile.
func beatMeanwhile(beat time.Duration, send sender) (stop func()) {
	var mu sync.Mutex
	stopped := false
	var timer *time.Timer
	mu.Lock()
	timer = time.AfterFunc(beat, func() {
		mu.Lock()
		defer mu.Unlock()
		if !stopped && send(&sandboxv2.RunEvent{}) == nil { // else the client has gone, and ctx ends
			timer.Reset(beat)
		}
	})
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// follow sends what a run writes, and its end, to the client that has started it.
func (s *Server) follow(ctx context.Context, se *session, r *run, m *sandboxv2.RunRequest, beat time.Duration, send sender) error {
	if !m.GetStreamOutput() && r.stdin == nil {
		if over, err := s.short(ctx, r, send); over {
			return err
		}
	}
	r.concludeLater()
	limit := m.GetMaxOutputBytes()
	or(&limit, se.maxOutput)
	if m.GetStreamOutput() {
		limit = -1
	}
	box := newOutbox(limit)
	defer box.close()
	go box.fill(&box.stdout, r.Stdout())
	go box.fill(&box.stderr, r.Stderr())
	defer s.unstall(ctx, r.Done())()

	timer := time.NewTimer(beat)
	defer timer.Stop()
	ev := &sandboxv2.RunEvent{Started: r.started()}
	for {
		ended := box.take(ev)
		if ended {
			<-r.Done() // the streams end a moment before
			var err error
			if ev.Exited, err = r.result(); err != nil {
				return err
			}
			ev.Exited.Truncated = ev.GetExited().GetTruncated() || box.truncated()
			lastMessage(ctx)
		}
		if err := send(ev); err != nil || ended {
			return err
		}
		ev.Started = nil
		timer.Reset(beat)
		for !box.pending() {
			late, err := box.await(ctx, timer)
			if err != nil {
				return err
			}
			if late {
				break
			}
		}
	}
}

// short waits a moment for the end of a run, which is then told in one message, and nothing has to be streamed: for the
// shortest scripts that would take as long as they do themselves. It reports whether the run is over for the client.
func (s *Server) short(ctx context.Context, r *run, send sender) (over bool, err error) {
	timer := time.NewTimer(startHold)
	defer timer.Stop()
	select {
	case <-r.Done():
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		r.concludeLater()
		return true, context.Cause(ctx)
	}
	r.conclude()
	out, err := r.Communicate(context.Background(), nil) // it has ended
	if err != nil {
		return true, err
	}
	ev := &sandboxv2.RunEvent{Started: r.started(), Stdout: out.Stdout, Stderr: out.Stderr, Exited: wire.Result(&out.Result)}
	s.allow(ctx)
	lastMessage(ctx)
	return true, send(ev)
}

// allow gives the client so long for what it has not taken.
func (s *Server) allow(ctx context.Context) {
	if c := controllerOf(ctx); c != nil {
		_ = c.SetWriteDeadline(time.Now().Add(s.opts.StallTimeout)) // a transport without deadlines has none
	}
}

// unstall bounds how long a client may leave its messages untaken when the run has ended: until then it holds up its own
// run, and after that only the server. What it returns ends the watch, and is to be called before the handler returns: a
// response has no deadline after that.
func (s *Server) unstall(ctx context.Context, done <-chan struct{}) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
			s.allow(ctx)
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// attach sends what a detached run writes from two offsets on, and its end.
func (s *Server) attach(ctx context.Context, k *known, at [2]int64, beat time.Duration, send sender) error {
	if k.log == nil {
		return &engine.InvalidError{Field: "run_id", Problem: "is of a run that is not detached"}
	}
	reader, err := k.log.reader(at)
	if err != nil {
		return err
	}
	timer := time.NewTimer(beat)
	defer timer.Stop()
	done := alreadyMore
	if k.over == nil {
		done = k.Done()
	}
	defer s.unstall(ctx, done)()
	ev := &sandboxv2.RunEvent{Started: k.started()}
	for {
		more, ended := reader.take(ev)
		if ended {
			if ev.Exited, err = k.wait(ctx); err != nil {
				return err
			}
		}
		if err := send(ev); err != nil || ended {
			return err
		}
		*ev = sandboxv2.RunEvent{}
		timer.Reset(beat)
		select {
		case <-more:
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
