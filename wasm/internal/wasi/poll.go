package wasi

import (
	"encoding/binary"
	"io"
	"math"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

const (
	subscriptionSize = 48
	eventSize        = 32
	// maxSubscriptions is enough for a select over two full sets of 1,024 and a timer.
	maxSubscriptions = 4096
)

// subscription is one of poll_oneoff's, as it was read: the events may be written over it.
type subscription struct {
	userdata uint64
	kind     uint8
	fd       uint32
	// wait is how long a clock has to run, in ns from the start of the call.
	wait uint64
	// err is to be reported as the event, at once.
	err sys.Errno
}

// pollOneoff is poll_oneoff(*subscriptions, *events, n, *nevents). It waits until at least one
// subscription has an event and reports all that have one; an interruption is EINTR, as it is for
// nanosleep and poll in POSIX.
//
// Files and directories are always ready, output is always ready for writing, input is ready when a read
// would not block. What can never happen, such as reading from an output stream, is waited for without
// end, as for the writing end of a pipe. A descriptor that is not open, and a clock that cannot be waited
// for, is an event with an error.
func pollOneoff(c call, p []uint64) sys.Errno {
	n := uint32(p[2])
	if n == 0 || n > maxSubscriptions {
		return sys.EINVAL
	}
	in, ok := c.array(uint32(p[0]), n, subscriptionSize)
	if !ok {
		return sys.EFAULT
	}
	out, ok := c.array(uint32(p[1]), n, eventSize)
	if !ok {
		return sys.EFAULT
	}
	if _, ok := c.mem.Read(uint32(p[3]), 4); !ok {
		return sys.EFAULT
	}
	subs, err := c.env.subscriptions(in)
	if err != 0 {
		return err
	}
	// After the absolute times were turned into waits: so none ends early.
	start := time.Now()
	if c.interrupted() {
		return sys.EINTR
	}
	w := c.env.wanted(subs)
	if err := c.wait(&w, start); err != 0 {
		return err
	}
	used := 0
	for i := range subs {
		if c.env.happened(&subs[i], &w) {
			c.env.putEvent(out[used:], &subs[i])
			used += eventSize
		}
	}
	c.mem.WriteUint32Le(uint32(p[3]), uint32(used/eventSize))
	return 0
}

// subscriptions reads the array. An unknown tag or flag is EINVAL for the whole call.
func (e *Env) subscriptions(in []byte) ([]subscription, sys.Errno) {
	le := binary.LittleEndian
	e.subs = e.subs[:0]
	for ; len(in) > 0; in = in[subscriptionSize:] {
		s := subscription{userdata: le.Uint64(in), kind: in[8]}
		switch s.kind {
		case eventClock:
			flags := le.Uint16(in[40:])
			if flags&^subclockAbstime != 0 {
				return nil, sys.EINVAL
			}
			s.wait, s.err = e.clockWait(le.Uint32(in[16:]), le.Uint64(in[24:]), flags&subclockAbstime != 0)
			if s.err == sys.EINVAL {
				return nil, sys.EINVAL
			}
		case eventFdRead, eventFdWrite:
			s.fd = le.Uint32(in[16:])
			if e.files.get(s.fd) == nil {
				s.err = sys.EBADF
			}
		default:
			return nil, sys.EINVAL
		}
		e.subs = append(e.subs, s)
	}
	return e.subs, 0
}

// clockWait gives the ns from now until a clock shows timeout, or until timeout has passed.
func (e *Env) clockWait(id uint32, timeout uint64, absolute bool) (uint64, sys.Errno) {
	switch id {
	case clockRealtime, clockMonotonic:
	case clockProcessCPUTime, clockThreadCPUTime:
		return 0, sys.ENOTSUP
	default:
		return 0, sys.EINVAL
	}
	if !absolute {
		return timeout, 0
	}
	now, _ := e.now(id)
	if timeout <= now {
		return 0, 0
	}
	return timeout - now, 0
}

// wanted is what a call waits for, and then what came.
type wanted struct {
	ready    bool   // something is ready without waiting
	clock    bool   // a clock runs
	shortest uint64 // its ns
	stdin    bool   // input is waited for

	stdinReady bool
	elapsed    uint64
}

func (e *Env) wanted(subs []subscription) wanted {
	w := wanted{shortest: math.MaxUint64}
	for i := range subs {
		s := &subs[i]
		switch {
		case s.err != 0:
			w.ready = true
		case s.kind == eventClock:
			w.clock = true
			w.shortest = min(w.shortest, s.wait)
		case e.isStdinRead(s):
			w.stdin = true
		case e.alwaysReady(s):
			w.ready = true
		}
	}
	w.ready = w.ready || w.clock && w.shortest == 0
	return w
}

func (e *Env) isStdinRead(s *subscription) bool {
	return s.kind == eventFdRead && e.files.get(s.fd).isStdin()
}

func (e *Env) alwaysReady(s *subscription) bool {
	d := e.files.get(s.fd)
	return !d.isStream() || d.out != nil && s.kind == eventFdWrite
}

// wait blocks until something wanted is there. EINTR means that it was interrupted.
func (c call) wait(w *wanted, start time.Time) sys.Errno {
	var err error
	switch in := c.env.stdin; {
	case w.stdin && (in == nil || in.Wait(closed) == nil):
		w.stdinReady = true
	case w.ready:
	case w.stdin && w.clock:
		err = c.waitBoth(time.Duration(min(w.shortest, math.MaxInt64)))
	case w.stdin:
		err = in.Wait(c.env.signals.Wait())
	default:
		c.waitClock(w)
	}
	if !w.ready && !w.stdinReady && c.interrupted() {
		return sys.EINTR
	}
	w.elapsed = uint64(time.Since(start))
	if w.stdin && !w.ready && !w.stdinReady {
		// An input that fails without an interruption is ready: a read will show the failure.
		w.stdinReady = err == nil || !w.clock || w.elapsed < w.shortest
	}
	return 0
}

// waitClock sleeps until the first clock has run out or Signals says so. Without a clock it waits for
// Signals alone.
func (c call) waitClock(w *wanted) {
	signal := c.env.signals.Wait()
	if !w.clock {
		<-signal
		return
	}
	t := c.env.startTimer(w.shortest)
	defer t.Stop()
	select {
	case <-t.C:
	case <-signal:
	}
}

// waitBoth waits for input, for at most d. Stdin takes one channel to cancel it, so a goroutine joins
// the two reasons to stop; it has ended when waitBoth returns.
func (c call) waitBoth(d time.Duration) error {
	cancel, stop, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	signal := c.env.signals.Wait()
	t := c.env.startTimer(uint64(d))
	go func() {
		defer close(done)
		select {
		case <-t.C:
			close(cancel)
		case <-signal:
			close(cancel)
		case <-stop:
		}
	}()
	defer func() {
		close(stop)
		<-done
		t.Stop()
	}()
	return c.env.stdin.Wait(cancel)
}

// startTimer starts the Env's one timer. Longer than 292 years is 292 years.
func (e *Env) startTimer(ns uint64) *time.Timer {
	d := time.Duration(min(ns, math.MaxInt64))
	if e.timer == nil {
		e.timer = time.NewTimer(d)
	} else {
		e.timer.Reset(d)
	}
	return e.timer
}

func (e *Env) happened(s *subscription, w *wanted) bool {
	switch {
	case s.err != 0:
		return true
	case s.kind == eventClock:
		return s.wait <= w.elapsed
	case e.isStdinRead(s):
		return w.stdinReady
	default:
		return e.alwaysReady(s)
	}
}

// putEvent writes an event. For a read it says how many bytes there are at least, which FIONREAD asks for.
func (e *Env) putEvent(out []byte, s *subscription) {
	le := binary.LittleEndian
	clear(out[:eventSize])
	le.PutUint64(out, s.userdata)
	le.PutUint16(out[8:], number(s.err))
	out[10] = s.kind
	if s.err == 0 && s.kind == eventFdRead {
		le.PutUint64(out[16:], e.readable(e.files.get(s.fd)))
	}
}

func (e *Env) readable(d *descriptor) uint64 {
	if d.isStdin() {
		return 1
	}
	if d.isDir() || d.filetype != filetypeRegularFile {
		return 0
	}
	st, err := d.file.Stat()
	if err != 0 {
		return 0
	}
	at, err := d.file.Seek(0, io.SeekCurrent)
	if err != 0 {
		return 0
	}
	return uint64(max(st.Size-at, 0))
}
