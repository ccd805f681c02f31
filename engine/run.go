package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"
)

// newID returns 130 random bits in letters and digits that are safe in file names.
func newID() string { return strings.ToLower(rand.Text()) }

// Run starts script and returns when it has been started. The run ends by itself, by its timeout, by
// Kill, when ctx ends or when the session is closed; see Process for what it writes.
//
// Errors: ErrInvalid for what is wrong with script or opts, ErrClosed, ErrNotAvailable, ErrNeedsNative, ErrNotStarted;
// then nothing of the script was executed. With a server it can be ErrLost: the connection broke before the answer. What the script itself does wrong is in its Result.
func (s *Session) Run(ctx context.Context, script string, opts *RunOptions) (*Process, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, err := s.start(ctx, script, opts, false)
	if err != nil {
		s.leave()
		return nil, err
	}
	return p, nil
}

// Exec runs script to its end and returns what it wrote and how it ended. When ctx ends, the run is
// cancelled, and that is in the Result. Errors are those of Run, and ErrLost.
func (s *Session) Exec(ctx context.Context, script string, opts *RunOptions) (*Output, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	p, err := s.start(ctx, script, opts, true)
	if err != nil {
		s.leave()
		return nil, err
	}
	// Not with ctx: its end stops the run, whose output and result are then soon there.
	return p.Communicate(context.WithoutCancel(ctx), nil)
}

// RunCode runs code to its end and returns its stdout. If it ends with another exit code than 0, the
// error is an *ExitError, which is ErrExit and has the output and the Result. Other errors are those of
// Exec.
func (s *Session) RunCode(ctx context.Context, code string, opts *RunOptions) ([]byte, error) {
	out, err := s.Exec(ctx, code, opts)
	if err != nil {
		return nil, err
	}
	if out.Result.ExitCode != 0 {
		return nil, &ExitError{Result: out.Result, Stdout: out.Stdout, Stderr: out.Stderr}
	}
	return out.Stdout, nil
}

// A starter begins a run that has been prepared.
type starter func(ctx context.Context) error

// start is Run in an open session. Kept says that nobody is going to read the output while the run goes on.
func (s *Session) start(ctx context.Context, script string, opts *RunOptions, kept bool) (*Process, error) {
	var o RunOptions
	if opts != nil {
		o = *opts
	}
	p, begin, err := s.prepare(ctx, script, &o, kept)
	if err != nil {
		return nil, err
	}
	// starting ends with ctx, and with Close while the driver starts the run.
	starting, cancel := context.WithCancel(ctx)
	p.abort = cancel
	err = s.track(p)
	if err == nil {
		err = begin(starting)
	}
	if err != nil {
		cancel()
		s.untrack(p)
		return nil, fmt.Errorf("run: %w", err)
	}
	p.account = s.usage.begin()
	s.debug(ctx, "run started", slog.String("run", p.id), slog.String("tier", string(p.route.tier.name)))
	s.watch(ctx, p, cancel)
	return p, nil
}

// prepare checks the options of a run and joins its streams to a Process. It is then to be started.
func (s *Session) prepare(ctx context.Context, script string, o *RunOptions, kept bool) (*Process, starter, error) {
	if s.peer != nil {
		return s.preparePeer(script, o, kept)
	}
	filled := o.filled(&s.opts)
	spec, err := s.runSpec(ctx, script, &filled)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.route(&filled)
	if err != nil {
		return nil, nil, fmt.Errorf("run: %w", err)
	}
	if filled.Terminal != nil && r.tier.name != TierNative {
		return nil, nil, fmt.Errorf("run: %w: a terminal needs the native tier, and %s", ErrNotAvailable, r.why)
	}
	p := newProcess(spec.ID, &filled)
	p.timeout = filled.Timeout
	p.goes(r)
	p.connect(spec, &filled)
	return p, func(ctx context.Context) error { return s.startBy(ctx, r, spec, p) }, nil
}

// watch ends the run with ctx and at its timeout, and concludes it when it has ended.
func (s *Session) watch(ctx context.Context, p *Process, cancel context.CancelFunc) {
	unhook := context.AfterFunc(ctx, func() { p.stop(ReasonCancelled) })
	timer := p.limitTime(p.timeout)
	go func() {
		defer s.leave()
		exit := p.run.Wait()
		timer.Stop()
		unhook()
		cancel()
		p.finish(exit)
		s.untrack(p)
		s.debug(ctx, "run ended", slog.String("run", p.id), slog.String("reason", string(p.result.Reason)), slog.Any("err", p.err))
	}()
}

// startBy starts the run where its route leads.
func (s *Session) startBy(ctx context.Context, r route, spec *RunSpec, p *Process) error {
	for {
		spec.Refuse, spec.Live = r.refuse, r.live
		p.goes(r)
		err := s.startIn(ctx, r.tier, spec, p)
		if !errors.Is(err, ErrNeedsNative) {
			return r.explain(err)
		}
		if r, err = r.instead(err); err != nil {
			return err
		}
	}
}

// startIn has the driver start the run.
func (s *Session) startIn(ctx context.Context, tr *tier, spec *RunSpec, p *Process) error {
	var run DriverRun
	var ds DriverSession
	err := context.Cause(ctx)
	if err == nil {
		ds, err = s.driverSession(ctx, tr)
	}
	if _, keeps := ds.(LiveSession); err == nil && spec.Live && !keeps {
		err = errNoInterpreter
	}
	if err == nil {
		run, err = ds.Start(ctx, spec)
	}
	if err != nil && s.closing.Err() != nil {
		return fmt.Errorf("%w: %w: %w", ErrClosed, ErrNotStarted, err)
	}
	if err != nil {
		return notStarted(err)
	}
	p.started(run)
	return nil
}

func notStarted(err error) error {
	if errors.Is(err, ErrNotStarted) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotStarted, err)
}

// runSpec checks the options of a run and makes of them what the driver gets, streams aside.
func (s *Session) runSpec(ctx context.Context, script string, o *RunOptions) (*RunSpec, error) {
	if err := o.check(script); err != nil {
		return nil, err
	}
	if err := o.checkCeiling(s.opts.Network); err != nil {
		return nil, err
	}
	cwd, err := s.cwd(ctx, o.Cwd)
	if err != nil {
		return nil, err
	}
	spec := &RunSpec{
		ID:     newID(),
		Type:   o.Type,
		Script: []byte(script),
		Name:   o.Name,
		Args:   slices.Clone(o.Args),
		Env:    environment(cwd, s.opts.Env, o.Env, s.opts.Venv),
		Cwd:    cwd,
		Limits: s.limits,

		Network:    o.Network,
		Timeout:    o.Timeout,
		Background: o.Background,
		Terminal:   o.Terminal,
	}
	if err := checkStrings("Args", spec.Args, spec.Env); err != nil {
		return nil, err
	}
	return spec, nil
}

// cwd resolves RunOptions.Cwd to a path as the script sees it, without links.
func (s *Session) cwd(ctx context.Context, dir string) (string, error) {
	if err := s.files.present(); err != nil {
		return "", fmt.Errorf("run: %w", err)
	}
	if dir == "" {
		return WorkDir, nil
	}
	rel, err := s.files.directory(ctx, dir)
	if err != nil {
		return "", &InvalidError{"Cwd", fmt.Sprintf("%q: %s", shorten(dir), reasonOf(err))}
	}
	return path.Join(WorkDir, rel), nil
}

// connect joins the streams of the run to its Process.
func (p *Process) connect(spec *RunSpec, o *RunOptions) {
	var budget *outputBudget
	if spec.Limits.Output > 0 {
		budget = &outputBudget{limit: spec.Limits.Output, spent: func() { p.stop(ReasonOutput) }}
	}
	p.stdout.init(o.MaxOutput, budget)
	p.stderr.init(o.MaxOutput, budget)
	spec.Stdout, spec.Stderr = &p.stdout, &p.stderr
	switch {
	case o.StdinPipe:
		p.stdin = newPipe()
		spec.Stdin = p.stdin
	case o.Stdin != nil:
		spec.Stdin = newReaderStdin(o.Stdin)
	default:
		spec.Stdin = noStdin{}
	}
}

// limitTime starts the clock of the run.
func (p *Process) limitTime(timeout time.Duration) *time.Timer {
	if timeout == NoTimeout {
		timer := time.NewTimer(0)
		timer.Stop()
		return timer
	}
	return time.AfterFunc(timeout, func() { p.stop(ReasonTimeout) })
}
