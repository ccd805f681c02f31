package server

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// outboxRoom is how much of each stream waits to be sent: what comes while a message is on its way goes with the next.
const outboxRoom = 256 << 10

// An outbox gathers what a run writes into messages for one client. Who fills it waits when the client is behind. What
// there is goes in one message, so that a short run takes as few as can be.
type outbox struct {
	news chan struct{} // a token: look again

	mu     sync.Mutex
	stdout gathered
	stderr gathered
	open   int  // streams that have not ended
	closed bool // nobody takes anything any more
}

// gathered is what waits of one stream.
type gathered struct {
	data []byte
	room sync.Cond
	left int64 // bytes that may still be sent; negative: no cap
	cut  bool  // some were not
}

// newOutbox makes one that sends most bytes of each stream and drops the rest. Negative is no cap.
func newOutbox(most int64) *outbox {
	b := &outbox{news: make(chan struct{}, 1), open: 2}
	for _, g := range []*gathered{&b.stdout, &b.stderr} {
		g.room.L, g.left = &b.mu, most
	}
	return b
}

// fill moves a stream into the outbox to its end.
func (b *outbox) fill(g *gathered, from io.Reader) {
	_, _ = io.Copy(&filler{b, g}, from) // a run's stream ends without error
	b.mu.Lock()
	b.open--
	b.mu.Unlock()
	wake(b.news)
}

// filler is one stream's way in.
type filler struct {
	b *outbox
	g *gathered
}

// Write implements io.Writer. It takes everything.
func (f *filler) Write(p []byte) (int, error) {
	n := len(p)
	b, g := f.b, f.g
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(p) > 0 && !b.closed {
		if g.left == 0 {
			g.cut = true
			break
		}
		room := int64(outboxRoom - len(g.data))
		if g.left > 0 {
			room = min(room, g.left)
		}
		if room == 0 {
			g.room.Wait()
			continue
		}
		k := min(int64(len(p)), room)
		g.data = append(g.data, p[:k]...)
		p = p[k:]
		if g.left > 0 {
			g.left -= k
		}
		wake(b.news)
	}
	return n, nil
}

// take moves what there is into ev, whose own bytes have been sent. It reports whether both streams have ended and ev has
// the rest.
func (b *outbox) take(ev *sandboxv2.RunEvent) (ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ev.Stdout, ev.Stderr = b.stdout.take(ev.GetStdout()), b.stderr.take(ev.GetStderr())
	return b.open == 0
}

// pending reports whether there is something to send.
func (b *outbox) pending() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open == 0 || len(b.stdout.data)+len(b.stderr.data) > 0
}

// take swaps the buffers.
func (g *gathered) take(sent []byte) []byte {
	out := g.data
	g.data = sent[:0]
	g.room.Broadcast()
	return out
}

// close lets the run go on without the client.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.stdout.data, b.stderr.data = nil, nil
	b.stdout.room.Broadcast()
	b.stderr.room.Broadcast()
}

// truncated reports whether the cap has dropped something.
func (b *outbox) truncated() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stdout.cut || b.stderr.cut
}

// await waits for news, and says that it is late when the timer has come first. An error is that of ctx.
func (b *outbox) await(ctx context.Context, timer *time.Timer) (late bool, err error) {
	select {
	case <-b.news:
		return false, nil
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
