//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// streams are our ends of a run's stdin, stdout and stderr, or of its terminal.
type streams struct {
	in, out, err *os.File
	copies       sync.WaitGroup
	feed         sync.WaitGroup
	quit         chan struct{} // ends the feeding of stdin
	quitting     sync.Once

	mu     sync.Mutex
	master *os.File // of the terminal
}

// open makes the pipes and returns the script's ends, which the caller closes.
func (s *streams) open(rs *engine.RunSpec) (theirs []*os.File, err error) {
	s.quit = make(chan struct{})
	if rs.Terminal != nil {
		return nil, nil
	}
	defer func() {
		if err != nil {
			closeFiles(theirs)
			s.close()
		}
	}()
	if !atEnd(rs.Stdin) {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		s.in = w
		theirs = append(theirs, r)
	}
	for _, end := range []**os.File{&s.out, &s.err} {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		*end = r
		theirs = append(theirs, w)
	}
	return theirs, nil
}

// atEnd reports whether there is no input at all. Then the script gets /dev/null, and nobody has to feed it.
func atEnd(in engine.Stdin) bool {
	e, ok := in.(interface{ AtEnd() bool })
	return ok && e.AtEnd()
}

// terminal takes the master that came with the start of a run.
func (s *streams) terminal(rs *engine.RunSpec, fds []int) error {
	want := 0
	if rs.Terminal != nil {
		want = 1
	}
	if len(fds) != want {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		return fmt.Errorf("%w: %d descriptors with the start", spec.ErrProtocol, len(fds))
	}
	if want == 0 {
		return nil
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_ = unix.Close(fds[0])
		return os.NewSyscallError("fcntl O_NONBLOCK", err)
	}
	s.master = os.NewFile(uintptr(fds[0]), "terminal")
	return nil
}

// run begins to copy.
func (s *streams) run(rs *engine.RunSpec) {
	in := s.in
	if s.master != nil {
		in = s.master
		s.copies.Go(func() { drain(rs.Stdout, s.master) })
	} else {
		s.copies.Go(func() { drain(rs.Stdout, s.out) })
		s.copies.Go(func() { drain(rs.Stderr, s.err) })
	}
	if in != nil {
		s.feed.Go(func() { s.feedInput(rs.Stdin, in) })
	}
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// drain copies until nobody has the other end any more. When the deadline of r has passed, it takes what is
// there and does not wait.
func drain(w io.Writer, r *os.File) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			_, _ = w.Write(buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			drainNow(w, r, buf[:])
			return
		}
		if err != nil { // io.EOF, or EIO of a terminal that nobody has open
			return
		}
	}
}

// maxLate bounds what is taken from somebody outside the run who has one of its pipes and goes on writing.
const maxLate = 1 << 20

// drainNow takes what is in the pipe.
func drainNow(w io.Writer, r *os.File, buf []byte) {
	if r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < maxLate; {
		n := 0
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf)
			return true
		})
		if n <= 0 {
			return
		}
		_, _ = w.Write(buf[:n])
		total += n
	}
}

// feedInput writes the caller's input to the script.
func (s *streams) feedInput(in engine.Stdin, w *os.File) {
	closing := w != s.master
	if closing {
		defer w.Close()
	}
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	inLine := false
	for {
		n, err := in.Read(buf[:], s.quit)
		if n > 0 {
			inLine = buf[n-1] != '\n'
			if _, err := w.Write(buf[:n]); err != nil {
				return // the script has closed its end
			}
		}
		if err != nil {
			if !closing && errors.Is(err, io.EOF) {
				end := []byte{endOfTransmission, endOfTransmission}
				if !inLine {
					end = end[:1]
				}
				_, _ = w.Write(end)
			}
			return
		}
	}
}

// endOfTransmission is Ctrl-D: the end of the input of a terminal in its usual mode, termios(3). Within a line the
// first one ends the line.
const endOfTransmission = 4

// stop ends the feeding of stdin.
func (s *streams) stop() {
	s.quitting.Do(func() { close(s.quit) })
}

// lateOutput is how long output is waited for that comes from outside the run, from somebody whom the script
// gave one of its descriptors. All processes of the run are gone by then.
const lateOutput = 500 * time.Millisecond

// finish waits until all output has been written, and closes all.
func (s *streams) finish() {
	s.stop()
	for _, f := range []*os.File{s.out, s.err, s.master} {
		if f != nil {
			_ = f.SetReadDeadline(time.Now().Add(lateOutput))
		}
	}
	if s.in != nil {
		_ = s.in.SetWriteDeadline(time.Unix(1, 0))
	}
	s.copies.Wait()
	if s.master != nil {
		_ = s.master.SetWriteDeadline(time.Unix(1, 0))
	}
	s.feed.Wait()
	s.close()
}

func (s *streams) close() {
	closeFiles([]*os.File{s.in, s.out, s.err})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.master != nil {
		s.master.Close()
	}
}

// resize sets the size of the terminal; the kernel tells the foreground processes: ioctl_tty(2).
func (s *streams) resize(size engine.TerminalSize) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, err := s.master.SyscallConn()
	if err != nil {
		return nil //nolint:nilerr // it has been closed: the run has ended
	}
	var ioctlErr error
	err = raw.Control(func(fd uintptr) {
		ioctlErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Cols)})
	})
	if err != nil {
		return nil //nolint:nilerr // it has been closed: the run has ended
	}
	return os.NewSyscallError("ioctl TIOCSWINSZ", ioctlErr)
}

// interrupt sends SIGINT to the foreground processes of the terminal, whatever mode that is in: pty(4) of FreeBSD, TIOCSIG;
// Linux has the same. It reports false when there is no terminal, or none that knows this.
func (s *streams) interrupt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.master == nil {
		return false
	}
	raw, err := s.master.SyscallConn()
	if err != nil {
		return true // it has been closed: the run has ended
	}
	var ioctlErr error
	err = raw.Control(func(fd uintptr) {
		ioctlErr = unix.IoctlSetInt(int(fd), unix.TIOCSIG, int(unix.SIGINT))
	})
	return err != nil || ioctlErr == nil
}

// closeFiles closes files that were passed on.
func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
