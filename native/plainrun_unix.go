//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/starter"
)

// plainRun is a run without a cell: engine.DriverRun, engine.Interrupter and engine.Resizer.
type plainRun struct {
	session *plainSession
	spec    *engine.RunSpec
	dirs    *runDirs
	proc    *os.Process // leads a session and a process group
	began   time.Time
	spent   time.Duration // processor time of the process before it became the script
	streams streams

	stopper stopper

	done chan struct{}
	exit engine.Exit
}

// start starts the script and what looks after it.
func (r *plainRun) start(ctx context.Context, c *starter.Command) (err error) {
	if r.proc, r.spent, err = c.Start(ctx); err != nil {
		return err
	}
	r.began = time.Now()
	r.stopper.ask, r.stopper.force = r.ask, r.kill
	r.streams.run(r.spec)
	go r.main()
	return nil
}

// Stop implements engine.DriverRun.
func (r *plainRun) Stop(grace time.Duration) {
	if r.stopper.stop(grace) {
		r.streams.stop()
	}
}

// ask has the script end by itself.
func (r *plainRun) ask() { r.signal(orderly(r.spec.Type)) }

// signal sends a signal to the processes of the run.
func (r *plainRun) signal(sig syscall.Signal) {
	signalSession(r.proc.Pid, sig)
	signalSession(r.proc.Pid, syscall.SIGCONT) // what is stopped gets no other signal
}

// Interrupt implements engine.Interrupter.
func (r *plainRun) Interrupt() error {
	r.stopper.unlessStopping(func() {
		if !r.streams.interrupt() {
			r.signal(syscall.SIGINT)
		}
	})
	return nil
}

// kill ends the run by force.
func (r *plainRun) kill() { signalSession(r.proc.Pid, syscall.SIGKILL) }

// Wait implements engine.DriverRun.
func (r *plainRun) Wait() engine.Exit {
	<-r.done
	return r.exit
}

// Resize implements engine.Resizer.
func (r *plainRun) Resize(size engine.TerminalSize) error { return r.streams.resize(size) }

// main waits for the end of the run. Until the main process has been reaped, nobody else can get its number,
// which is that of the session and of the group too: so it comes last.
func (r *plainRun) main() {
	defer close(r.done)
	waitEnded(r.proc.Pid)
	if r.spec.Background {
		waitAlone(r.proc.Pid)
	}
	r.exit.WallTime = time.Since(r.began)
	_, r.exit.Forced = r.stopper.end() // the number of the group is about to be given back
	if err := killSession(r.proc.Pid); err != nil {
		r.session.driver.opts.Logger.Warn("a run has left something", "session", r.session.spec.ID, "err", err)
		r.session.left(err)
	}
	r.streams.finish()
	r.conclude(r.proc.Wait())
	r.session.left(r.dirs.remove())
}

// conclude makes the exit of what is known.
func (r *plainRun) conclude(state *os.ProcessState, err error) {
	e := &r.exit
	e.Backend = string(r.session.driver.opts.Backend)
	e.CPUTime, e.PeakMemory = engine.Unknown, engine.Unknown
	if err != nil {
		e.Err = err
		return
	}
	e.CPUTime = max(state.UserTime()+state.SystemTime()-r.spent, 0)
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		e.Signal = int(status.Signal())
		e.Code, e.Reason = 128+e.Signal, engine.ReasonSignaled
		return
	}
	e.Code, e.Reason = state.ExitCode(), engine.ReasonExited
}
