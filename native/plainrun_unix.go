//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/starter"
)

// plainRun is a run without a cell: engine.DriverRun and engine.Resizer.
type plainRun struct {
	session *plainSession
	spec    *engine.RunSpec
	dirs    *runDirs
	proc    *os.Process // leads a session and a process group
	began   time.Time
	streams streams

	mu      sync.Mutex
	over    bool // the main process has ended: the number of its group is about to be given back
	stopped bool
	force   *time.Timer

	done chan struct{}
	exit engine.Exit
}

// start starts the script and what looks after it.
func (r *plainRun) start(ctx context.Context, c *starter.Command) (err error) {
	r.began = time.Now()
	if r.proc, err = c.Start(ctx); err != nil {
		return err
	}
	r.streams.run(r.spec)
	go r.main()
	return nil
}

// Stop implements engine.DriverRun.
func (r *plainRun) Stop(grace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.streams.stop()
	if !r.stopped && grace > 0 {
		signalSession(r.proc.Pid, r.orderly())
		signalSession(r.proc.Pid, syscall.SIGCONT) // what is stopped gets no other signal
	}
	r.stopped = true
	if grace <= 0 {
		r.forceLocked()
		return
	}
	if r.force == nil || r.force.Stop() {
		r.force = time.AfterFunc(grace, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.forceLocked()
		})
	}
}

// orderly is the signal that a script is first asked with to end, as in a cell.
func (r *plainRun) orderly() syscall.Signal {
	if r.spec.Type == engine.Python {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}

func (r *plainRun) forceLocked() {
	if r.over {
		return
	}
	r.exit.Forced = true
	signalSession(r.proc.Pid, syscall.SIGKILL)
}

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
	r.mu.Lock()
	r.over = true
	if r.force != nil {
		r.force.Stop()
	}
	r.mu.Unlock()
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
	e.CPUTime = state.UserTime() + state.SystemTime()
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		e.Signal = int(status.Signal())
		e.Code, e.Reason = 128+e.Signal, engine.ReasonSignaled
		return
	}
	e.Code, e.Reason = state.ExitCode(), engine.ReasonExited
}
