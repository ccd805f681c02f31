//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// scriptEnds are the script's ends of a run's streams.
type scriptEnds struct {
	in, out, err *os.File
	close        func()
}

// connect opens the streams of a run.
func (r *plainRun) connect() (*scriptEnds, error) {
	theirs, err := r.streams.open(r.spec)
	if err != nil {
		return nil, err
	}
	if r.spec.Terminal != nil {
		return r.connectTerminal()
	}
	if len(theirs) == 2 { // no input
		null, err := os.Open(os.DevNull)
		if err != nil {
			closeFiles(theirs)
			r.streams.close()
			return nil, err
		}
		theirs = append([]*os.File{null}, theirs...)
	}
	return &scriptEnds{theirs[0], theirs[1], theirs[2], func() { closeFiles(theirs) }}, nil
}

// connectTerminal makes a terminal. Its master becomes a descriptor of its own for the streams: what made it has
// set it to block.
func (r *plainRun) connectTerminal() (*scriptEnds, error) {
	master, tty, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	defer master.Close()
	size := r.spec.Terminal
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(size.Rows), Cols: uint16(size.Cols)}); err != nil {
		tty.Close()
		return nil, fmt.Errorf("size of the terminal: %w", err)
	}
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err == nil {
		err = r.streams.terminal(r.spec, []int{fd})
	}
	if err != nil {
		tty.Close()
		return nil, fmt.Errorf("terminal: %w", err)
	}
	r.dirs.tty = tty.Name()
	return &scriptEnds{tty, tty, tty, func() { tty.Close() }}, nil
}
