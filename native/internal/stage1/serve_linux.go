package stage1

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// cell is what stage 2 knows of its cell.
type cell struct {
	host host
	// sending is held for a message: the reader and the reaper both send.
	sending sync.Mutex
	null    int // /dev/null, for reading
	score   string
	empty   []directory
	scripts directory
	threads []int // that there are when the first run comes; the runtime keeps them
	posture posture
	begun   chan *running

	mu  sync.Mutex
	run *running // nil between runs
}

// serve is stage 2: it proves the confinement and serves runs until the host is gone.
func serve() {
	// One thread reads what the host sends and one waits for the end of processes; a third P is of no use.
	runtime.GOMAXPROCS(2)
	debug.SetGCPercent(50)
	c := &cell{host: host{fd: spec.FDSocket}, begun: make(chan *running)}
	if err := c.prepare(); err != nil {
		c.host.fail("second stage", err)
	}
	kind, payload, err := c.host.receive()
	var s spec.Serve
	if err == nil && kind == spec.KindServe {
		err = json.Unmarshal(payload, &s)
	} else if err == nil {
		err = fmt.Errorf("%w: %s", spec.ErrProtocol, kind)
	}
	if err != nil {
		c.host.fail("receive", err)
	}
	facts, err := selfTest(&s)
	if err != nil {
		c.host.fail("self-test", err)
	}
	// From here on nobody in the cell can look into this process: ptrace(2), access mode checking.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		c.host.fail("prctl PR_SET_DUMPABLE", err)
	}
	for _, path := range s.Empty {
		d, err := openDirectory(path)
		if err != nil {
			c.host.fail("second stage", err)
		}
		c.empty = append(c.empty, d)
	}
	go c.reap()
	if c.threads, err = threads(); err == nil {
		c.posture, err = readPosture(c.threads)
	}
	if err != nil {
		c.host.fail("second stage", err)
	}
	ready, err := json.Marshal(spec.Ready{Facts: facts})
	if err != nil {
		c.host.fail("second stage", err)
	}
	c.send(spec.KindReady, ready)
	c.read()
}

// prepare makes this process fit to be an init.
func (c *cell) prepare() error {
	if err := defaultSignals(); err != nil {
		return err
	}
	// Nothing else is open: stage 1 had every other descriptor closed by execve.
	for _, fd := range []int{spec.FDSocket, spec.FDScripts, spec.FDScore} {
		unix.CloseOnExec(fd)
	}
	var err error
	if c.null, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return &os.PathError{Op: "open", Path: "/dev/null", Err: err}
	}
	if c.scripts, err = openDirectory(fmt.Sprintf("/proc/self/fd/%d", spec.FDScripts)); err != nil {
		return err
	}
	buf := make([]byte, 16)
	n, err := unix.Pread(spec.FDScore, buf, 0)
	if err != nil {
		return os.NewSyscallError("pread oom_score_adj", err)
	}
	c.score = string(buf[:n])
	makeThreads()
	return nil
}

func (c *cell) send(k spec.Kind, payload []byte, fds ...int) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.host.send(k, payload, fds...)
}

// read serves the host. When the host is gone, receive ends this process, and the kernel ends every other one
// of the namespace.
func (c *cell) read() {
	for {
		kind, payload, err := c.host.receive()
		if err != nil {
			unix.Exit(1)
		}
		switch kind {
		case spec.KindStart:
			c.start(payload)
		case spec.KindSignal:
			c.signal(payload)
		default:
			unix.Exit(1)
		}
	}
}

// signal sends a signal to all processes of the run. What is stopped must go on to notice anything but
// SIGKILL.
func (c *cell) signal(payload []byte) {
	if len(payload) != 1 {
		unix.Exit(1)
	}
	sig := unix.Signal(payload[0])
	_ = unix.Kill(-1, sig)
	if sig != unix.SIGKILL {
		_ = unix.Kill(-1, unix.SIGCONT)
	}
}
