package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// maxEnded is how many runs that have ended a session remembers.
const maxEnded = 100

// A run is one of a session's.
type run struct {
	*engine.Process
	typ     engine.ScriptType
	name    string
	backend string // empty in the wasm tier
	at      time.Time
	stdin   *stdin  // nil: no client writes to it
	log     *runLog // nil unless the run is detached
	// conclude gives back what the run had. It is called once the run is done, by whoever sees that first.
	conclude func()
}

// concludeLater has the run concluded when it is done.
func (r *run) concludeLater() {
	go func() {
		<-r.Done()
		r.conclude()
	}()
}

// A known run is one that is under way, or what is remembered of one that has ended.
type known struct {
	*run // nil when it has ended
	over *sandboxv2.Run
	log  *runLog
}

// start starts a run in a session, when there is a slot for it. The run ends with ctx, unless it is detached. The caller sees
// to it that the run is concluded.
func (s *Server) start(ctx context.Context, se *session, m *sandboxv2.RunRequest, pipe bool) (*run, error) {
	script, opts, err := wire.ToRun(m)
	if err != nil {
		return nil, err
	}
	if err := principalOf(ctx).Policy.ApplyRun(opts, m.GetDetach()); err != nil {
		return nil, err
	}
	r := &run{typ: opts.Type, name: opts.Name}
	if pipe {
		if len(m.GetStdin()) > 0 {
			return nil, &engine.InvalidError{Field: "Stdin", Problem: "cannot be set together with StdinPipe"}
		}
		r.stdin = newStdin()
		opts.Stdin = r.stdin
	}
	release, err := s.slot(ctx, se)
	if err != nil {
		return nil, err
	}
	runCtx, cancel := lifeOf(ctx, m)
	r.at = time.Now()
	if err := s.begin(runCtx, se, r, script, opts); err != nil {
		cancel()
		release()
		if r.stdin != nil {
			r.stdin.drop() // a tier may have begun to read
		}
		return nil, err
	}
	s.concerns(ctx, se.ID(), r.ID())
	ended := s.opts.Tracer.Begin(ctx, StepRun)
	if m.GetDetach() {
		r.log = newRunLog(s.opts.DetachedOutput)
		r.log.record(r.Process)
	}
	se.add(r)
	r.conclude = sync.OnceFunc(func() {
		cancel()
		release()
		s.concluded(se, r, ended)
	})
	return r, nil
}

// begin starts the process of a run.
func (s *Server) begin(ctx context.Context, se *session, r *run, script string, opts *engine.RunOptions) (err error) {
	ended := s.opts.Tracer.Begin(ctx, StepStart)
	r.Process, err = se.Run(ctx, script, opts)
	took := time.Since(r.at)
	if err != nil {
		s.opts.Observer.RunStarted("", "", took, err)
		ended(Step{Session: se.ID(), Err: err})
		return err
	}
	tier, _ := r.Route()
	if tier == engine.TierNative {
		r.backend = se.backend
	}
	s.opts.Observer.RunStarted(tier, r.backend, took, nil)
	ended(r.step(se))
	return nil
}

// step is what is known of a run that has begun.
func (r *run) step(se *session) Step {
	tier, why := r.Route()
	return Step{Session: se.ID(), Run: r.ID(), Tier: tier, Backend: r.backend, Route: routeWord(why)}
}

// slot waits for a slot for a run, which counts for the caller.
func (s *Server) slot(ctx context.Context, se *session) (release func(), err error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	p, began := principalOf(ctx), time.Now()
	ended := s.opts.Tracer.Begin(ctx, StepQueue)
	release, err = s.runs.acquire(ctx, p.Name, bounds{slots: most(p.Policy.MaxRuns, s.opts.Limits.Runs), waiting: most(p.Policy.MaxQueued, s.opts.Limits.QueuedRuns)})
	s.opts.Observer.RunQueued(time.Since(began), err)
	ended(Step{Session: se.ID(), Err: err})
	if err != nil {
		return nil, fmt.Errorf("run: %w: %w", engine.ErrNotStarted, err)
	}
	return release, nil
}

// lifeOf is the context of a run: that of its client, or of nobody when it is detached.
func lifeOf(ctx context.Context, m *sandboxv2.RunRequest) (context.Context, context.CancelFunc) {
	if m.GetDetach() {
		ctx = context.WithoutCancel(ctx)
	}
	if after := m.GetCancelAfter(); after != nil {
		return context.WithTimeout(ctx, after.AsDuration())
	}
	return context.WithCancel(ctx)
}

// concluded notes the end of a run.
func (s *Server) concluded(se *session, r *run, ended func(Step)) {
	result, err := r.Wait(context.Background()) // it has ended
	if r.stdin != nil {
		r.stdin.drop()
	}
	step := r.step(se)
	step.Reason, step.Err = result.Reason, err
	s.opts.Observer.RunEnded(step.Tier, r.backend, &result, err)
	ended(step)
	se.done(r)
}

// add notes a run that has begun: the session is in use until it is done.
func (s *session) add(r *run) {
	s.use.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[r.ID()] = &known{run: r, log: r.log}
}

// done notes the end of a run. It is remembered for a while: how it ended, and what a detached one has written last.
func (s *session) done(r *run) {
	over := r.describe()
	s.use.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[r.ID()] = &known{over: over, log: r.log}
	s.ended = append(s.ended, r.ID())
	if len(s.ended) > maxEnded {
		delete(s.runs, s.ended[0])
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	if r.log != nil {
		s.forgetOutput()
	}
}

// keptOutputs is the output of how many detached runs, of all that it can have, a session keeps when they have ended.
const keptOutputs = 8

// forgetOutput drops output of runs that have ended, the oldest first, until what is left is not too much. mu is held.
func (s *session) forgetOutput() {
	var total, most int64
	for _, id := range slices.Backward(s.ended) {
		log := s.runs[id].log
		if log == nil {
			continue
		}
		size, room := log.size()
		most = max(most, room*keptOutputs)
		if total += size; total > most {
			log.forget()
			total -= size
		}
	}
}

// find finds a run by its id.
func (s *session) find(id string) (*known, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.runs[id]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("run: %w", engine.ErrNoSession)
}

// list describes the runs that are known, the oldest first.
func (s *session) list() []*sandboxv2.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*sandboxv2.Run
	for _, k := range s.runs {
		out = append(out, k.describe())
	}
	slices.SortFunc(out, func(a, b *sandboxv2.Run) int {
		return a.GetStartedAt().AsTime().Compare(b.GetStartedAt().AsTime())
	})
	return out
}

func (k *known) describe() *sandboxv2.Run {
	if k.over != nil {
		return k.over
	}
	return k.run.describe()
}

// wait returns how the run ended, when it has.
func (k *known) wait(ctx context.Context) (*sandboxv2.Result, error) {
	if k.over == nil {
		select {
		case <-k.Done():
			return k.result()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if k.over.GetResult().GetReason() == sandboxv2.Reason_REASON_LOST {
		return nil, engine.ErrLost
	}
	return k.over.GetResult(), nil
}

// started is the first event for who attaches.
func (k *known) started() *sandboxv2.Started {
	d := k.describe()
	return &sandboxv2.Started{RunId: d.GetRunId(), Tier: d.GetTier(), Backend: d.GetBackend(), Route: d.GetRoute(), At: d.GetStartedAt()}
}

// started is the first event of a run.
func (r *run) started() *sandboxv2.Started {
	tier, why := r.Route()
	return &sandboxv2.Started{RunId: r.ID(), Tier: wire.Tier(tier), Backend: r.backend, Route: wire.Clean(why), At: timestamppb.New(r.at)}
}

// result is how the run ended. It is called after Done.
func (r *run) result() (*sandboxv2.Result, error) {
	result, err := r.Wait(context.Background())
	if err != nil {
		return nil, err
	}
	return wire.Result(&result), nil
}

// describe is what a client learns of a run.
func (r *run) describe() *sandboxv2.Run {
	tier, why := r.Route()
	out := &sandboxv2.Run{
		RunId:     r.ID(),
		Type:      wire.ScriptType(r.typ),
		Name:      wire.Clean(r.name),
		Tier:      wire.Tier(tier),
		Backend:   r.backend,
		Route:     wire.Clean(why),
		StartedAt: timestamppb.New(r.at),
		Detached:  r.log != nil,
	}
	select {
	case <-r.Done():
		result, err := r.result()
		if err != nil {
			result = &sandboxv2.Result{Reason: sandboxv2.Reason_REASON_LOST}
		}
		out.Result = result
	default:
	}
	return out
}
