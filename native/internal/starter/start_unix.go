//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Start starts the program as the leader of a session and of a process group of its own, and returns when it
// has been executed. spent is the processor time that the process had used before that. On an error nothing of it was. The ctx is asked before that is decided, not after: what
// has begun is the caller's to end. The caller waits for the process.
func (c *Command) Start(ctx context.Context) (p *os.Process, spent time.Duration, err error) {
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	payload, err := c.request()
	if err != nil {
		return nil, 0, err
	}
	self, err := program()
	if err != nil {
		return nil, 0, err
	}
	theirRequest, request, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer request.Close()
	defer theirRequest.Close()
	status, theirStatus, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer status.Close()
	defer theirStatus.Close()

	// The environment is for the script alone. This program's own start must not depend on it.
	p, err = os.StartProcess(self, []string{"sandbar", Arg}, &os.ProcAttr{
		Dir: c.Dir, Env: []string{},
		Files: []*os.File{c.Stdin, c.Stdout, c.Stderr, theirRequest, theirStatus},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal},
	})
	if err != nil {
		return nil, 0, err
	}
	theirRequest.Close()
	theirStatus.Close() // so that the end of the child is the end of the stream
	deadline := time.Now().Add(c.Timeout)
	err = send(ctx, request, payload, deadline)
	if err == nil {
		spent, err = executed(status, deadline)
	}
	if err != nil {
		_ = p.Kill()
		_, _ = p.Wait()
		return nil, 0, err
	}
	return p, spent, nil
}

// program is the path of this program. On Linux it stays right when the file is gone or has been replaced.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		const path = "/proc/self/exe"
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return os.Executable()
}

// send writes the request. Until it has been sent, nothing is executed.
func send(ctx context.Context, w *os.File, payload []byte, deadline time.Time) error {
	if err := w.SetWriteDeadline(deadline); err != nil {
		return err
	}
	unhook := context.AfterFunc(ctx, func() { _ = w.SetWriteDeadline(time.Unix(1, 0)) })
	defer unhook()
	_, err := w.Write(payload)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.EPIPE):
		return errGone
	case err != nil:
		return fmt.Errorf("tell what to execute: %w", err)
	}
	return w.Close()
}

// executed waits until the program has been executed, or has not.
func executed(r *os.File, deadline time.Time) (spent time.Duration, err error) {
	if err := r.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	answer, err := io.ReadAll(r)
	if err != nil {
		return 0, fmt.Errorf("wait for execve: %w", err)
	}
	if len(answer) == 0 {
		return 0, errGone
	}
	spent, answer, ok := cutReady(answer)
	if ok && len(answer) == 0 {
		return spent, nil
	}
	e := &Error{}
	if err := json.Unmarshal(answer, e); err != nil {
		return 0, fmt.Errorf("answer of the process that was to become the script: %w", err)
	}
	return 0, e
}
