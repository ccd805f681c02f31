package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// A job is one `sandbar run`, checked and ready to start.
type job struct {
	script   []byte
	tier     engine.Tier
	backend  native.Backend
	opts     engine.Options
	runOpts  engine.RunOptions
	stats    bool
	report   *reportFile // nil without --json
	changes  changeFlags
	server   *placeOnServer // nil: on this machine
	detached bool
}

// run runs the script to its end. What it returns is nil for exit code 0, and else an *exitError.
func (j *job) run(std stdio) error {
	defer func() { _ = j.report.close() }() // nothing is in it when that has anything to do
	stop := newStopper(context.Background())
	defer stop.close()
	line := newProgress(std.err)
	defer line.close()

	box, err := j.open(stop.ctx, line)
	if err != nil {
		return stop.explain(err)
	}
	line.close()
	for _, warning := range box.Warnings() {
		fmt.Fprintf(std.err, "sandbar: warning: %s\n", oneLine(warning))
	}
	if j.detached {
		err = j.detach(stop.ctx, box, std.out)
	} else {
		err = j.runIn(box.Session, stop, std)
	}
	if j.server != nil {
		j.server.tellKept(box, std.err)
	}
	if closeErr := box.Close(); err == nil && closeErr != nil {
		err = &exitError{code: exitFailed, err: closeErr}
	}
	return err
}

// open opens a session with the tiers that the script may need.
func (j *job) open(ctx context.Context, line *progress) (*sandbox, error) {
	if j.server != nil {
		if j.runOpts.Type == engine.Python {
			j.opts.PythonTier = j.tier
		}
		return j.server.open(ctx, &j.opts, j.backend)
	}
	if j.tier == engine.TierNative {
		return openNative(ctx, &j.opts, j.backend)
	}
	j.opts.PythonTier = j.tier
	return openPython(ctx, &j.opts, j.backend, line.step)
}

func (j *job) runIn(session *engine.Session, stop *stopper, std stdio) error {
	if err := j.changes.begin(stop.ctx, session, &j.opts); err != nil {
		return stop.explain(err)
	}
	proc, err := session.Run(stop.ctx, string(j.script), &j.runOpts)
	if err != nil {
		return stop.explain(err)
	}
	stop.onKill(proc.Kill)
	// Not with stop's context: its end stops the run, whose output and result are then soon there.
	ctx := context.Background()
	res, err := follow(ctx, proc, &sink{w: std.out, name: "stdout", stop: stop}, &sink{w: std.err, name: "stderr", stop: stop})
	if err != nil {
		_ = j.report.write(&res) // that the run is lost is worth more than that this is
		return stop.explain(err)
	}
	end := j.finish(&res, stop, std)
	// Once it is begun, a signal does not interrupt it halfway.
	if err := j.changes.end(ctx, session, end, std.err); end == nil {
		return err
	}
	return end
}

// follow passes the output on as it comes, and returns when the run has ended and all of it is written.
func follow(ctx context.Context, proc *engine.Process, stdout, stderr io.Writer) (engine.Result, error) {
	fromStdout, fromStderr := proc.Stdout(), proc.Stderr()
	var copies sync.WaitGroup
	copies.Go(func() { _, _ = io.Copy(stdout, fromStdout) }) // a sink does not fail, and a run's stream neither
	copies.Go(func() { _, _ = io.Copy(stderr, fromStderr) })
	copies.Wait()
	return proc.Wait(ctx)
}

// finish prints what is asked for about a run that has ended, and gives its exit code.
func (j *job) finish(res *engine.Result, stop *stopper, std stdio) error {
	end := &exitError{code: exitCode(res, stop)}
	if reason := stop.reason(); reason != nil {
		end.err = reason.err
	}
	if text := explain(res, &j.opts); text != "" {
		fmt.Fprintf(std.err, "sandbar: %s\n", text)
	}
	if j.stats {
		writeStats(std.err, res, end.code)
	}
	if err := j.report.write(res); err != nil { // the last line, where that is standard error too
		return err
	}
	if end.code == 0 {
		return nil
	}
	return end
}

// exitCode returns the exit code of sandbar for a run that has ended. How a stopped script left does not
// count: who waits for the code must learn that it was stopped, or that output was lost.
func exitCode(res *engine.Result, stop *stopper) int {
	switch reason := stop.reason(); {
	case reason != nil && (reason.code == exitClosed || reason.code == exitFailed):
		return reason.code // the run may have ended before it could be stopped
	case res.Reason == engine.ReasonTimeout:
		return exitTimeout
	case res.Reason == engine.ReasonMemory:
		return exitMemory
	case res.Reason == engine.ReasonCancelled:
		return stop.code()
	}
	return res.ExitCode
}

// A sink passes output on to a standard stream. When that fails, the run is stopped; what it still writes
// then is dropped, so that it never waits for us.
type sink struct {
	w      io.Writer
	name   string
	stop   *stopper
	failed bool
}

func (s *sink) Write(b []byte) (int, error) {
	// Who closed the pipe is gone, and does not want to hear how the script took it.
	if reason := s.stop.reason(); s.failed || (reason != nil && reason.code == exitClosed) {
		return len(b), nil
	}
	if _, err := s.w.Write(b); err != nil {
		s.failed = true
		s.stop.stop(outputError(s.name, err))
	}
	return len(b), nil
}

// outputError is the end for a stream that takes no more.
func outputError(name string, err error) *exitError {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return &exitError{code: exitClosed}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("write %s: %w", name, cause(err))}
}
