package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// launching is a cell that is being made.
type launching struct {
	backend Backend
	setup   *spec.Setup
	serve   *spec.Serve
	group   *cgroup.Group // nil for none

	cell   *cell
	cmd    *exec.Cmd
	stderr launcherOutput
	step   string
}

// launch makes a cell. Command makes what starts its init, which gets theirs as descriptor
// spec.FDSocket. On an error nothing of the cell is left but the group, which is the caller's.
func (l *launching) launch(ctx context.Context, timeout time.Duration, command func(theirs *os.File) (*exec.Cmd, error)) (*cell, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, theirs, err := newConn()
	if err != nil {
		return nil, l.failure("socket", err)
	}
	defer theirs.Close()
	l.cell = &cell{conn: c, ended: make(chan struct{}), pidfd: -1}
	if l.cmd, err = command(theirs); err != nil {
		_ = c.close()
		return nil, err
	}
	err = l.stderr.connect(l.cmd)
	if err == nil {
		err = l.start()
	}
	l.stderr.started()
	if err != nil {
		_ = c.close()
		l.stderr.finish()
		return nil, l.failure("start "+l.cmd.Path, err)
	}
	theirs.Close() // so that the end of the cell is the end of the stream
	l.cell.proc = l.cmd.Process
	go l.cell.reapLauncher(l.cmd)

	unhook := context.AfterFunc(ctx, c.giveUp)
	err = l.dialogue()
	if !unhook() {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		// What does not end is worth a word, and no reason to hide why it was given up.
		err = errors.Join(err, l.cell.close())
		l.stderr.finish()
		return nil, l.failure(l.step, err)
	}
	l.stderr.discard()
	return l.cell, nil
}

// start starts the launcher, in the cell's group if there is one: so all that it starts is in it too.
func (l *launching) start() error {
	if l.group != nil {
		return l.group.Start(l.cmd)
	}
	return l.cmd.Start()
}

// dialogue leads the init through its stages: see the diagram of package spec.
func (l *launching) dialogue() error {
	c := l.cell
	l.step = "start of the init"
	if _, err := l.expect(spec.KindHello); err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(c.conn.pid, 0)
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	c.pidfd = fd
	l.step = "set-up"
	for _, m := range []struct {
		kind spec.Kind
		v    any
	}{{spec.KindSetup, l.setup}, {spec.KindServe, l.serve}} {
		payload, err := json.Marshal(m.v)
		if err != nil {
			return err
		}
		// An init that has ended says why: that is still to be read.
		if err := c.conn.send(m.kind, payload); err != nil && !hasEnded(err) {
			return err
		}
	}
	payload, err := l.expect(spec.KindReady)
	if err != nil {
		return err
	}
	return json.Unmarshal(payload, &c.ready)
}

// expect receives a message, which must be of that kind. What the init says of a failure becomes the error.
func (l *launching) expect(want spec.Kind) ([]byte, error) {
	kind, payload, fds, err := l.cell.conn.receive()
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
	switch {
	case hasEnded(err):
		return nil, l.cell.launcherEnd()
	case err != nil:
		return nil, err
	case kind == spec.KindFailed:
		f, err := spec.ParseFailed(payload)
		if err != nil {
			return nil, err
		}
		l.step = f.Step
		return nil, &initError{f}
	case kind != want || len(fds) > 0:
		return nil, fmt.Errorf("%w: %s instead of %s", spec.ErrProtocol, kind, want)
	}
	return payload, nil
}

// hasEnded reports that a socket failed because nobody has its other end.
func hasEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

// initError is a step that failed in the init.
type initError struct{ f *spec.Failed }

func (e *initError) Error() string { return e.f.Text }

// Unwrap gives the system's error.
func (e *initError) Unwrap() error {
	if e.f.Errno == 0 {
		return nil
	}
	return unix.Errno(e.f.Errno)
}

// failure makes the error that the caller sees.
func (l *launching) failure(step string, err error) error {
	e := &StartError{Backend: l.backend, Step: step, Err: err, Output: l.stderr.String()}
	e.Cause, e.Remedy = diagnose(l.backend, step, err, e.Output)
	return e
}

// launcherOutput keeps the beginning of what the launcher writes to stderr.
type launcherOutput struct {
	r, w *os.File
	done chan struct{}

	mu  sync.Mutex
	buf bytes.Buffer
}

// maxLauncherOutput is how much is kept.
const maxLauncherOutput = 4 << 10

// connect makes the pipe and starts to read it.
func (o *launcherOutput) connect(cmd *exec.Cmd) (err error) {
	if o.r, o.w, err = os.Pipe(); err != nil {
		return err
	}
	cmd.Stderr = o.w
	o.done = make(chan struct{})
	go func() {
		defer close(o.done)
		_, _ = io.Copy(o, o.r)
	}()
	return nil
}

// started closes our copy of the launcher's end.
func (o *launcherOutput) started() {
	if o.w != nil {
		o.w.Close()
	}
}

// Write implements io.Writer: it takes all and keeps the beginning.
func (o *launcherOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p[:min(len(p), maxLauncherOutput-o.buf.Len())])
	return len(p), nil
}

func (o *launcherOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// lastWords is how long the output of a launcher that failed is read on.
const lastWords = 100 * time.Millisecond

// finish reads what is still to come from a launcher that has ended, for a bounded time.
func (o *launcherOutput) finish() {
	if o.r == nil {
		return
	}
	_ = o.r.SetReadDeadline(time.Now().Add(lastWords))
	<-o.done
	o.r.Close()
}

// discard stops reading.
func (o *launcherOutput) discard() { o.r.Close() }
