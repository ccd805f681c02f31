package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	progressDelay = 500 * time.Millisecond // what is over sooner is not worth a line; a filled cache takes less
	progressTick  = 200 * time.Millisecond
)

// A progress is one line on a terminal that tells what takes long before a script starts: the first use on
// a machine, when the interpreter is compiled. The line is gone when the script starts.
type progress struct {
	w       io.Writer
	columns int

	mu      sync.Mutex
	text    string
	begin   time.Time
	shown   int // columns of the line that is on the screen
	closed  bool
	stopped chan struct{} // closed by close; nil until the first step
}

// newProgress returns a progress that draws on f if it is a terminal, and else does nothing.
func newProgress(f *os.File) *progress {
	p := &progress{columns: 80}
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return p
	}
	p.w = f
	if columns, _, err := term.GetSize(fd); err == nil && columns > 0 {
		p.columns = columns
	}
	return p
}

// step tells what is being done: step done+1 of total. It can be called from any goroutine.
func (p *progress) step(step string, done, total int) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.text = step
	if total > 1 {
		p.text = fmt.Sprintf("%s, %d of %d", step, min(done+1, total), total)
	}
	if p.stopped == nil {
		p.begin = time.Now()
		p.stopped = make(chan struct{})
		go p.loop(p.stopped)
	}
}

func (p *progress) loop(stopped <-chan struct{}) {
	next := time.NewTimer(progressDelay)
	defer next.Stop()
	for {
		select {
		case <-stopped:
			return
		case <-next.C:
			p.draw()
			next.Reset(progressTick)
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	line := fmt.Sprintf("sandbar: first use, preparing Python: %s (%d s)", p.text, int(time.Since(p.begin).Seconds()))
	// A line as wide as the terminal would wrap, and a carriage return cannot undo that.
	line = line[:min(len(line), p.columns-1)]
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.shown-len(line))))
	p.shown = len(line)
}

// close takes the line off the screen. Nothing is drawn afterwards.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	if p.stopped != nil {
		close(p.stopped)
	}
	if p.shown > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.shown))
	}
}
