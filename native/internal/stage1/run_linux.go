package stage1

import (
	"errors"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// running is a run under way.
type running struct {
	pid        int
	script     string
	background bool
	before     usage
	began      time.Time
	ended      time.Time // when the main process ended; with background, the last one
	status     unix.WaitStatus
	maxRSS     int64
}

// victimScore is the oom_score_adj of scripts: the kernel takes them first, and never the init.
const victimScore = "1000"

// start begins a run.
func (c *cell) start(payload []byte) {
	s, err := spec.ParseStart(payload)
	if err != nil {
		unix.Exit(1)
	}
	fds := append([]int(nil), c.host.fds...)
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		if len(payload) > 1<<20 {
			debug.FreeOSMemory()
		}
	}()
	if c.taken() || len(fds) > 3 {
		unix.Exit(1) // the host keeps one run at a time
	}
	step, terminal, r, err := c.launch(s, fds)
	if err != nil {
		var errno unix.Errno
		errors.As(err, &errno)
		c.scripts.remove(s.ScriptName)
		c.send(spec.KindNotStarted, (&spec.Failed{Step: step, Errno: int(errno), Text: err.Error()}).Append(nil))
		return
	}
	c.mu.Lock()
	c.run = r
	c.mu.Unlock()
	if terminal >= 0 {
		c.send(spec.KindStarted, nil, terminal)
		_ = unix.Close(terminal)
	} else {
		c.send(spec.KindStarted, nil)
	}
	c.begun <- r
}

func (c *cell) taken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run != nil
}

// launch writes the script and forks. It returns the master of the terminal, or -1.
func (c *cell) launch(s *spec.Start, fds []int) (step string, terminal int, r *running, err error) {
	if err := c.writeScript(s); err != nil {
		return "script", -1, nil, err
	}
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: &syscall.SysProcAttr{Setsid: true}}
	terminal = -1
	switch {
	case s.Rows > 0:
		var peer int
		if terminal, peer, err = openTerminal(s.Rows, s.Cols); err != nil {
			return "terminal", -1, nil, err
		}
		defer unix.Close(peer)
		attr.Files = []uintptr{uintptr(peer), uintptr(peer), uintptr(peer)}
		attr.Sys.Setctty = true
	case len(fds) == 2: // no input
		attr.Files = []uintptr{uintptr(c.null), uintptr(fds[0]), uintptr(fds[1])}
	case len(fds) == 3:
		attr.Files = []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])}
	default:
		unix.Exit(1)
	}
	r = &running{script: s.ScriptName, background: s.Background}
	r.before = readUsage()
	c.setScore(victimScore)
	r.began = time.Now()
	r.pid, err = syscall.ForkExec(s.Path, s.Argv, attr)
	c.setScore(c.score)
	if err != nil {
		if terminal >= 0 {
			_ = unix.Close(terminal)
		}
		return "execute " + s.Path, -1, nil, err
	}
	return "", terminal, r, nil
}

func (c *cell) writeScript(s *spec.Start) error {
	fd, err := unix.Openat(c.scripts.fd, s.ScriptName, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return os.NewSyscallError("open script", err)
	}
	defer unix.Close(fd)
	for p := s.Script; len(p) > 0; {
		n, err := unix.Write(fd, p)
		if err != nil {
			return os.NewSyscallError("write script", err)
		}
		p = p[n:]
	}
	return nil
}

func (c *cell) setScore(score string) { _, _ = unix.Pwrite(spec.FDScore, []byte(score), 0) }

// openTerminal makes a pseudo-terminal and returns both its ends: pty(7).
func openTerminal(rows, cols uint16) (master, peer int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, &os.PathError{Op: "open", Path: "/dev/ptmx", Err: err}
	}
	if err = ioctlIntPointer(master, unix.TIOCSPTLCK, 0); err == nil {
		err = unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}
	if err == nil {
		peer, err = ioctlInt(master, unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	}
	if err != nil {
		_ = unix.Close(master)
		return -1, -1, os.NewSyscallError("ioctl of a terminal", err)
	}
	return master, peer, nil
}

// reap waits for processes, a run at a time, and tells the host how each run ended.
func (c *cell) reap() {
	for r := range c.begun {
		r.wait()
		e := spec.Exited{Wall: r.ended.Sub(r.began), MaxRSS: r.maxRSS}
		if r.status.Signaled() {
			e.Signal = int(r.status.Signal())
		} else {
			e.Code = r.status.ExitStatus()
		}
		if err := c.clean(r); err != nil {
			e.Dirt = err.Error()
		}
		after := readUsage()
		e.CPU, e.Own = after.children-r.before.children, after.own-r.before.own
		c.mu.Lock()
		c.run = nil
		c.mu.Unlock()
		c.send(spec.KindExited, e.Append(nil))
	}
}

// usage is processor time: of all children that have ended, and of this process.
type usage struct{ children, own time.Duration }

func readUsage() usage { return usage{cpu(unix.RUSAGE_CHILDREN), cpu(unix.RUSAGE_SELF)} }

func cpu(who int) time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(who, &u) // it fails for no such who alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// wait reaps until no process is left. All that a script starts is a child of ours in the end, whatever it did
// to get away.
func (r *running) wait() {
	for {
		var ws unix.WaitStatus
		var ru unix.Rusage
		pid, err := unix.Wait4(-1, &ws, 0, &ru)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // ECHILD
			if r.background {
				r.ended = time.Now()
			}
			return
		}
		r.maxRSS = max(r.maxRSS, ru.Maxrss<<10)
		if pid != r.pid {
			continue
		}
		r.ended, r.status = time.Now(), ws
		if !r.background {
			// No process can fork its way out: a fork with SIGKILL pending does not happen.
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}
}
