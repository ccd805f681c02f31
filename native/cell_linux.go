package native

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// cell is a set of namespaces with our init in it, seen from outside. It serves one run at a time.
type cell struct {
	conn  *conn
	proc  *os.Process // what we started: the init itself, or bwrap, which is its parent
	pidfd int         // of the init
	group *cgroup.Group
	mode  netpolicy.Mode
	ready spec.Ready

	// ended is closed when proc has ended; then end is how.
	ended chan struct{}
	end   error

	killing sync.Once
	mu      sync.Mutex
	closed  bool // pidfd is
}

// reapLauncher waits for what we started, and ends what that started: a bwrap that hangs in its set-up is two
// processes, of which we know one. It leads its process group, and keeps the number until it is reaped.
func (c *cell) reapLauncher(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	c.end = cmd.Wait()
	close(c.ended)
}

// launcherEnd tells how what we started ended, when its socket has been closed.
func (c *cell) launcherEnd() error {
	select {
	case <-c.ended:
		if c.end != nil {
			return fmt.Errorf("the launcher ended before the init was ready: %w", c.end)
		}
		return errors.New("the launcher ended before the init was ready")
	case <-time.After(lastWords):
		return errors.New("the init ended before it was ready")
	}
}

// signal sends a signal to all processes of the run.
func (c *cell) signal(sig unix.Signal) {
	_ = c.conn.send(spec.KindSignal, []byte{byte(sig)})
}

// interrupt sends SIGINT to all processes of the run. When the init has not read what was sent before, the socket is full:
// then interrupts are pending, and one more is dropped. To wait would hold up a stop.
func (c *cell) interrupt() {
	_ = c.conn.trySignal(unix.SIGINT)
}

// kill ends the cell at once: with its PID 1 every process in it goes.
func (c *cell) kill() {
	c.killing.Do(func() {
		c.mu.Lock()
		if c.pidfd >= 0 && !c.closed {
			_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0)
		}
		c.mu.Unlock()
		_ = c.conn.close()
		_ = c.proc.Kill()
		select {
		case <-c.ended:
		default:
			// A launcher that is no bwrap may have started others. It leads a process group of its own.
			_ = unix.Kill(-c.proc.Pid, unix.SIGKILL)
		}
	})
}

// closePatience bounds the wait for a cell that was killed. A process that sits in the kernel can take its time.
const closePatience = 10 * time.Second

// close ends the cell and waits until nothing of it is left.
func (c *cell) close() error {
	c.kill()
	var err error
	select {
	case <-c.ended:
	case <-time.After(closePatience):
		err = fmt.Errorf("process %d of a cell does not end", c.proc.Pid)
	}
	c.mu.Lock()
	if !c.closed && c.pidfd >= 0 {
		// With bwrap what we waited for is the parent; the init may be a moment behind.
		err = errors.Join(err, c.waitInit())
		_ = unix.Close(c.pidfd)
	}
	c.closed = true
	c.mu.Unlock()
	if c.group != nil {
		err = errors.Join(err, c.group.Close())
	}
	return err
}

// waitInit waits for the end of the init: pidfd_open(2), a pidfd is readable when its process has ended.
func (c *cell) waitInit() error {
	fds := []unix.PollFd{{Fd: int32(c.pidfd), Events: unix.POLLIN}}
	deadline := time.Now().Add(closePatience)
	for {
		n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n == 0:
			return errors.New("the init of a cell does not end")
		default:
			return nil
		}
	}
}
