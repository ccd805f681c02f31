package server

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

func TestOutbox_Cap(t *testing.T) {
	for _, test := range []struct {
		most, size, want int64
		cut              bool
	}{
		{most: 0, size: 0},
		{most: 0, size: 1, cut: true},
		{most: 10, size: 9, want: 9},
		{most: 10, size: 10, want: 10},
		{most: 10, size: 11, want: 10, cut: true},
		{most: -1, size: 3 * outboxRoom, want: 3 * outboxRoom},
		{most: 2 * outboxRoom, size: 3 * outboxRoom, want: 2 * outboxRoom, cut: true},
	} {
		b := newOutbox(test.most)
		go b.fill(&b.stdout, bytes.NewReader(make([]byte, test.size)))
		go b.fill(&b.stderr, bytes.NewReader(nil))
		var got int64
		for ended := false; !ended; {
			ev := &sandboxv2.RunEvent{}
			ended = b.take(ev)
			if len(ev.GetStdout()) > outboxRoom {
				t.Errorf("cap %d: %d bytes waited, more than %d", test.most, len(ev.GetStdout()), outboxRoom)
			}
			if got += int64(len(ev.GetStdout())); !ended {
				for !b.pending() {
					<-b.news
				}
			}
		}
		if got != test.want || b.truncated() != test.cut {
			t.Errorf("cap %d of %d bytes: %d came, truncated %v, want %d, %v", test.most, test.size, got, b.truncated(), test.want, test.cut)
		}
	}
}

// Two streams through an outbox whose buffers go round arrive whole, with more and take in any order.
func TestOutbox_Hammer(t *testing.T) {
	b := newOutbox(-1)
	var in [2][]byte
	for i := range in {
		in[i] = make([]byte, 4<<20)
		for j := range in[i] {
			in[i][j] = byte(j>>8 ^ j*(i+3))
		}
	}
	go b.fill(&b.stdout, pieces{bytes.NewReader(in[0])})
	go b.fill(&b.stderr, pieces{bytes.NewReader(in[1])})
	var out [2][]byte
	ev := &sandboxv2.RunEvent{}
	for ended := false; !ended; {
		ended = b.take(ev)
		out[0] = append(out[0], ev.GetStdout()...)
		out[1] = append(out[1], ev.GetStderr()...)
		for !ended && !b.pending() {
			<-b.news
		}
	}
	for i := range in {
		if !bytes.Equal(in[i], out[i]) {
			t.Errorf("stream %d: %d bytes came of %d, or others", i, len(out[i]), len(in[i]))
		}
	}
}

// pieces gives at most so many bytes at a time, and hides what io.Copy would use instead.
type pieces struct{ io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1+rand.N(9000))]) }

// Who fills an outbox that nobody takes from any more goes on to the end.
func TestOutbox_Close(t *testing.T) {
	b := newOutbox(-1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.fill(&b.stdout, bytes.NewReader(make([]byte, 10*outboxRoom)))
	}()
	<-b.news
	b.close()
	<-done
}
