package server

import (
	"fmt"
	"io"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A runLog has the last output of a detached run, for any number of readers. The run never waits for them.
type runLog struct {
	mu      sync.Mutex
	streams [2]tail       // stdout, stderr
	open    int           // streams that have not ended
	more    chan struct{} // closed, and made anew, when something comes
}

// tail is the end of a stream.
type tail struct {
	most int
	ring []byte // grows up to most, and goes round then
	next int    // where the next byte goes once the ring is full
	end  int64  // bytes that were ever written
}

func newRunLog(most int) *runLog {
	l := &runLog{open: 2, more: make(chan struct{})}
	for i := range l.streams {
		l.streams[i].most = most
	}
	return l
}

// record has the log take what a run writes.
func (l *runLog) record(p *engine.Process) {
	for i, from := range []io.Reader{p.Stdout(), p.Stderr()} {
		go func() {
			_, _ = io.Copy(logWriter{l, i}, from) // a run's stream ends without error
			l.change(func() { l.open-- })
		}()
	}
}

type logWriter struct {
	log    *runLog
	stream int
}

func (w logWriter) Write(p []byte) (int, error) {
	w.log.change(func() { w.log.streams[w.stream].add(p) })
	return len(p), nil
}

// change alters the log and wakes the readers.
func (l *runLog) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.more)
	l.more = make(chan struct{})
}

func (t *tail) add(p []byte) {
	t.end += int64(len(p))
	p = p[max(0, len(p)-t.most):]
	if room := t.most - len(t.ring); room > 0 {
		n := min(room, len(p))
		t.ring = append(t.ring, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(t.ring[t.next:], p)
		t.next = (t.next + n) % t.most
		p = p[n:]
	}
}

// begin is the offset of the first byte that is still there.
func (t *tail) begin() int64 { return t.end - int64(len(t.ring)) }

// from copies at most n bytes from an offset that is there.
func (t *tail) from(offset int64, n int) []byte {
	n = int(min(int64(n), t.end-offset))
	if n == 0 {
		return nil
	}
	out := make([]byte, 0, n)
	i := (t.next + int(offset-t.begin())) % len(t.ring)
	for len(out) < n {
		k := min(n-len(out), len(t.ring)-i)
		out = append(out, t.ring[i:i+k]...)
		i = 0
	}
	return out
}

// size is how much the log has, and the most that it can have.
func (l *runLog) size() (now, most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.streams {
		now += int64(len(l.streams[i].ring))
		most += int64(l.streams[i].most)
	}
	return now, most
}

// forget drops what is there: for readers it is skipped. The streams have ended.
func (l *runLog) forget() {
	l.change(func() {
		for i := range l.streams {
			l.streams[i].ring, l.streams[i].next = nil, 0
		}
	})
}

// logReader reads a log for one client.
type logReader struct {
	log *runLog
	at  [2]int64
}

// reader reads from an offset of each stream. One that the stream has not reached is ErrInvalid.
func (l *runLog) reader(at [2]int64) (*logReader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, name := range []string{"stdout_offset", "stderr_offset"} {
		if at[i] < 0 || at[i] > l.streams[i].end {
			return nil, &engine.InvalidError{Field: name, Problem: fmt.Sprintf("is %d, and the stream has %d bytes", at[i], l.streams[i].end)}
		}
	}
	return &logReader{log: l, at: at}, nil
}

// take puts the next bytes into ev, and reports whether they are the last ones. More is closed when there are others.
func (r *logReader) take(ev *sandboxv2.RunEvent) (more <-chan struct{}, ended bool) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	var data [2][]byte
	var skipped [2]int64
	ended = l.open == 0
	for i := range l.streams {
		t := &l.streams[i]
		skipped[i] = max(0, t.begin()-r.at[i])
		r.at[i] += skipped[i]
		data[i] = t.from(r.at[i], filePiece)
		r.at[i] += int64(len(data[i]))
		if r.at[i] < t.end {
			ended = false
			more = alreadyMore
		}
	}
	ev.Stdout, ev.Stderr = data[0], data[1]
	ev.StdoutSkipped, ev.StderrSkipped = skipped[0], skipped[1]
	if more == nil {
		more = l.more
	}
	return more, ended
}

// alreadyMore is for who need not wait.
var alreadyMore = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()
