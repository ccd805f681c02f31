package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// errNotSent: the cell has not learned of the run.
var errNotSent = errors.New("the cell is gone")

// run is a run in a cell: engine.DriverRun, engine.Interrupter and engine.Resizer.
type run struct {
	session *session
	cell    *cell
	spec    *engine.RunSpec
	began   time.Time
	streams streams

	stopper stopper
	lost    *time.Timer // kills the cell when the init does not end the run; under the stopper's lock until its end
	stopped bool        // set at the end

	cpuSpent atomic.Bool
	done     chan struct{}
	exit     engine.Exit
}

// program is how a script is started.
func (s *session) program(rs *engine.RunSpec) (program, error) {
	p := s.shell
	if rs.Type == engine.Python {
		p = s.python
		if s.spec.Venv && p.path != "" {
			p.path = venvPython
		}
	}
	if p.path == "" {
		return p, notThere(rs.Type)
	}
	if limit := s.spec.Limits.FileSize; limit > 0 && int64(len(rs.Script)) > limit {
		return p, &engine.InvalidError{Field: "script", Problem: fmt.Sprintf("has %d bytes, more than Limits.FileSize of %d", len(rs.Script), limit)}
	}
	return p, nil
}

// begin starts a run in a cell. On an error the cell must be ended.
func (s *session) begin(c *cell, p program, rs *engine.RunSpec) (*run, error) {
	r := &run{session: s, cell: c, spec: rs, done: make(chan struct{})}
	r.stopper.ask, r.stopper.force = func() { c.signal(orderly(rs.Type)) }, r.kill
	if c.group != nil {
		if err := c.group.Reset(); err != nil {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
	}
	theirs, err := r.streams.open(rs)
	if err != nil {
		return nil, err
	}
	if err := s.own(theirs); err != nil {
		closeFiles(theirs)
		r.streams.close()
		return nil, err
	}
	msg := s.startMessage(p, rs)
	fds := make([]int, len(theirs))
	for i, f := range theirs {
		fds[i] = int(f.Fd())
	}
	r.began = time.Now()
	err = c.conn.send(spec.KindStart, msg, fds...)
	closeFiles(theirs)
	if err != nil {
		r.streams.close()
		return nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	if err := r.started(); err != nil {
		r.streams.close()
		return nil, err
	}
	r.streams.run(rs)
	go r.main()
	return r, nil
}

// own gives the script its ends of the pipes, so that it can open them again by their names: /dev/stdout.
func (s *session) own(files []*os.File) error {
	id, err := s.driver.host.identity()
	if err != nil || id.owner == nil {
		return err
	}
	for _, f := range files {
		if err := f.Chown(id.uid, id.gid); err != nil {
			return fmt.Errorf("give a pipe to the script: %w", err)
		}
	}
	return nil
}

func (s *session) startMessage(p program, rs *engine.RunSpec) []byte {
	script := path.Join(spec.ScriptDir, rs.Name)
	argv := append(append(append([]string{}, p.args...), script), rs.Args...)
	env := rs.Env
	if rs.Type == engine.Python {
		env = withPythonPath(env, rs.Cwd)
	}
	start := &spec.Start{Path: p.path, Argv: argv, Env: env, Dir: rs.Cwd, ScriptName: rs.Name, Script: rs.Script, Background: rs.Background}
	if t := rs.Terminal; t != nil {
		start.Rows, start.Cols = uint16(t.Rows), uint16(t.Cols)
	}
	return start.Append(make([]byte, 0, len(rs.Script)+2048))
}

// started waits until the script has been executed, or has not.
func (r *run) started() error {
	kind, payload, fds, err := r.cell.conn.receive()
	switch {
	case err != nil:
		return fmt.Errorf("start: the cell ended: %w", err)
	case kind == spec.KindNotStarted:
		f, err := spec.ParseFailed(payload)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", f.Step, &initError{f})
	case kind != spec.KindStarted:
		return fmt.Errorf("%w: %s instead of %s", spec.ErrProtocol, kind, spec.KindStarted)
	}
	return r.streams.terminal(r.spec, fds)
}

// Stop implements engine.DriverRun.
func (r *run) Stop(grace time.Duration) {
	if r.stopper.stop(grace) {
		r.streams.stop()
	}
}

// Interrupt implements engine.Interrupter. What is on its way when the run ends reaches nobody: the init takes one message
// after the other, and the next run's start comes behind it.
func (r *run) Interrupt() error {
	r.stopper.unlessStopping(func() {
		if !r.streams.interrupt() {
			r.cell.interrupt()
		}
	})
	return nil
}

// forcePatience is how long the init may take to kill a run. After that the cell itself is killed.
const forcePatience = 2 * time.Second

// kill ends the run by force.
func (r *run) kill() {
	r.cell.signal(unix.SIGKILL)
	if r.lost == nil {
		r.lost = time.AfterFunc(forcePatience, r.cell.kill)
	}
}

// Wait implements engine.DriverRun.
func (r *run) Wait() engine.Exit {
	<-r.done
	return r.exit
}

// Resize implements engine.Resizer.
func (r *run) Resize(size engine.TerminalSize) error { return r.streams.resize(size) }

// main waits for the end of the run.
func (r *run) main() {
	defer close(r.done)
	stopWatch := r.watchCPU()
	end, err := r.ended()
	stopWatch()
	wall := time.Since(r.began)
	r.stopped, r.exit.Forced = r.stopper.end()
	if r.lost != nil {
		r.lost.Stop()
	}
	r.streams.finish()
	r.conclude(end, err, wall)
	if err == nil && end.Dirt != "" {
		r.session.driver.opts.Logger.Info("a cell is given up", "session", r.session.spec.ID, "left", end.Dirt)
	}
	r.session.give(r.cell, err == nil && end.Dirt == "")
}

// ended receives how the run ended.
func (r *run) ended() (*spec.Exited, error) {
	kind, payload, fds, err := r.cell.conn.receive()
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	switch {
	case err != nil:
		return nil, err
	case kind != spec.KindExited:
		return nil, fmt.Errorf("%w: %s instead of %s", spec.ErrProtocol, kind, spec.KindExited)
	}
	return spec.ParseExited(payload)
}

const (
	codeKilled = 137 // 128 + SIGKILL
	codeCPU    = 152 // 128 + SIGXCPU
)

// conclude makes the exit of what is known. wall is how long the run took as seen from here.
func (r *run) conclude(end *spec.Exited, err error, wall time.Duration) {
	e := &r.exit
	e.Backend = string(r.session.driver.opts.Backend)
	e.WallTime, e.CPUTime, e.PeakMemory = wall, engine.Unknown, engine.Unknown
	kills := r.figures(end)
	switch {
	case err != nil:
		r.cellLost(kills, err)
	case r.cpuSpent.Load():
		e.Code, e.Signal, e.Reason = codeCPU, int(unix.SIGXCPU), engine.ReasonCPU
	default:
		e.Code, e.Signal, e.Reason = end.Code, end.Signal, engine.ReasonExited
		if end.Signal != 0 {
			e.Code, e.Reason = 128+end.Signal, engine.ReasonSignaled
		}
		if kills > 0 {
			r.outOfMemory()
		}
	}
}

// cellLost is the end of a run whose cell has ended.
func (r *run) cellLost(kills int64, err error) {
	e := &r.exit
	switch {
	case kills > 0:
		e.Code, e.Signal, e.Reason = codeKilled, int(unix.SIGKILL), engine.ReasonMemory
	case r.cpuSpent.Load():
		e.Code, e.Signal, e.Reason = codeCPU, int(unix.SIGXCPU), engine.ReasonCPU
	case r.stopped:
		e.Code, e.Signal, e.Reason = codeKilled, int(unix.SIGKILL), engine.ReasonSignaled
	case errors.Is(err, io.EOF):
		e.Err = errors.New("the cell ended")
	default:
		e.Err = err
	}
}

// outOfMemory tells a script that the memory limit ended from one that went on without a child.
func (r *run) outOfMemory() {
	e := &r.exit
	if e.Code == codeKilled {
		e.Signal, e.Reason = int(unix.SIGKILL), engine.ReasonMemory
		return
	}
	e.Advice = "a process of the run was killed because the run reached Limits.Memory"
}

// figures fills in what the init and the group counted and returns how many processes the memory limit has
// killed. end is nil when the cell has ended without a word.
func (r *run) figures(end *spec.Exited) (kills int64) {
	e := &r.exit
	if end != nil {
		e.WallTime, e.CPUTime = min(e.WallTime, end.Wall), end.CPU
	}
	if r.cell.group == nil {
		return 0
	}
	u, err := r.cell.group.Usage()
	if err != nil {
		return 0
	}
	e.PeakMemory = u.PeakMemory
	e.CPUTime = max(e.CPUTime, processorTime(u.CPU, end))
	return u.OOMKills
}

// processorTime is what the processes of a run took of what their group has counted. The init sees those alone that
// somebody waited for: a script that ignores SIGCHLD would hide its children.
func processorTime(group time.Duration, end *spec.Exited) time.Duration {
	if group == cgroup.Unknown || end == nil {
		return group
	}
	return group - end.Own
}

// cpuStep is how often the processor time of a run is looked at, at least.
const cpuStep = 10 * time.Millisecond

// watchCPU ends the run when it has spent Limits.CPU.
func (r *run) watchCPU() (stop func()) {
	limit := r.spec.Limits.CPU
	if limit <= 0 || r.cell.group == nil {
		return func() {}
	}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			u, err := r.cell.group.Usage()
			if err == nil && u.CPU >= limit {
				r.cpuSpent.Store(true)
				r.Stop(0)
				return
			}
			select {
			case <-quit:
				return
			case <-time.After(cpuStep):
			}
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}
