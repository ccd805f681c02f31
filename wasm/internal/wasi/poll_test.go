package wasi

import (
	"encoding/binary"
	"math"
	goruntime "runtime"
	"testing"
	"time"
)

// Where polls have their arrays.
const (
	atSubs   = 32 << 10
	atEvents = 64 << 10
)

func clockSub(userdata, id, timeout, flags uint64) []byte {
	b := make([]byte, subscriptionSize)
	le := binary.LittleEndian
	le.PutUint64(b, userdata)
	b[8] = eventClock
	le.PutUint32(b[16:], uint32(id))
	le.PutUint64(b[24:], timeout)
	le.PutUint16(b[40:], uint16(flags))
	return b
}

func fdSub(userdata uint64, kind uint8, fd uint64) []byte {
	b := make([]byte, subscriptionSize)
	binary.LittleEndian.PutUint64(b, userdata)
	b[8] = kind
	binary.LittleEndian.PutUint32(b[16:], uint32(fd))
	return b
}

type event struct {
	userdata uint64
	err      uint16
	kind     uint8
	nbytes   uint64
}

func (g *guest) subscribe(subs ...[]byte) []uint64 {
	for i, s := range subs {
		g.put(atSubs+uint32(i*subscriptionSize), s)
	}
	return []uint64{atSubs, atEvents, uint64(len(subs)), atResult}
}

func (g *guest) poll(subs ...[]byte) []event {
	g.Helper()
	g.want(ok, "poll_oneoff", g.subscribe(subs...)...)
	events := make([]event, g.u32(atResult))
	for i := range events {
		b := g.bytes(atEvents+uint32(i*eventSize), eventSize)
		le := binary.LittleEndian
		events[i] = event{le.Uint64(b), le.Uint16(b[8:]), b[10], le.Uint64(b[16:])}
	}
	return events
}

func (g *guest) wantEvents(got []event, want ...event) {
	g.Helper()
	if len(got) != len(want) {
		g.Fatalf("events = %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			g.Errorf("event %d = %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestPoll_Clocks(t *testing.T) {
	const ms = uint64(time.Millisecond)
	for _, test := range []struct {
		name string
		id   uint64
		abs  bool
		wait uint64
	}{
		{"relative monotonic", clockMonotonic, false, 30 * ms},
		{"relative realtime", clockRealtime, false, 30 * ms},
		{"absolute monotonic", clockMonotonic, true, 30 * ms},
		{"absolute realtime", clockRealtime, true, 30 * ms},
		{"zero", clockMonotonic, false, 0},
		{"now", clockRealtime, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGuest(t)
			start := time.Now()
			timeout, flags := test.wait, uint64(0)
			if test.abs {
				now, _ := g.env.now(uint32(test.id))
				timeout, flags = now+test.wait, subclockAbstime
			}
			g.wantEvents(g.poll(clockSub(math.MaxUint64, test.id, timeout, flags)), event{userdata: math.MaxUint64, kind: eventClock})
			// A wall clock can be set while we wait; by 1 ms it may.
			if took := time.Since(start); took < time.Duration(test.wait)-time.Millisecond {
				t.Errorf("took %v, want %v at least", took, time.Duration(test.wait))
			}
		})
	}
}

func TestPoll_AbsoluteInThePast(t *testing.T) {
	g := newGuest(t)
	for _, id := range []uint64{clockRealtime, clockMonotonic} {
		for _, at := range []uint64{0, 1} {
			g.wantEvents(g.poll(clockSub(7, id, at, subclockAbstime)), event{userdata: 7})
		}
	}
}

func TestPoll_FirstClockWins(t *testing.T) {
	g := newGuest(t)
	got := g.poll(
		clockSub(1, clockMonotonic, math.MaxUint64, 0),
		clockSub(2, clockMonotonic, uint64(5*time.Millisecond), 0),
		clockSub(3, clockRealtime, math.MaxUint64, subclockAbstime),
		clockSub(4, clockMonotonic, 0, subclockAbstime),
		clockSub(5, clockRealtime, math.MaxInt64, 0),
		clockSub(6, clockMonotonic, uint64(math.MaxInt64)+1, 0),
	)
	g.wantEvents(got, event{userdata: 4})
	got = g.poll(
		clockSub(1, clockMonotonic, math.MaxUint64, 0),
		clockSub(2, clockMonotonic, uint64(5*time.Millisecond), 0),
		clockSub(3, clockMonotonic, uint64(5*time.Millisecond), 0),
	)
	g.wantEvents(got, event{userdata: 2}, event{userdata: 3})
}

func TestPoll_Invalid(t *testing.T) {
	g := newGuest(t)
	good := clockSub(1, clockMonotonic, 0, 0)
	badTag := clockSub(1, clockMonotonic, 0, 0)
	badTag[8] = 3
	for name, subs := range map[string][][]byte{
		"unknown tag":   {good, badTag},
		"unknown clock": {good, clockSub(1, 4, 0, 0)},
		"unknown flag":  {good, clockSub(1, clockMonotonic, 0, 2)},
	} {
		if got := g.call("poll_oneoff", g.subscribe(subs...)...); got != eINVAL {
			t.Errorf("%s: %d, want EINVAL", name, got)
		}
	}
	g.want(eINVAL, "poll_oneoff", atSubs, atEvents, 0, atResult)
	g.want(eINVAL, "poll_oneoff", 0, 0, maxSubscriptions+1, atResult)
	g.want(eINVAL, "poll_oneoff", 0, 0, math.MaxUint32, atResult)
	g.want(eFAULT, "poll_oneoff", 0, 0, maxSubscriptions, atResult)
}

func TestPoll_Descriptors(t *testing.T) {
	g := newGuest(t)
	g.host("f", "0123456789")
	file := g.open("f", 0, rightsReadWrite, 0)
	g.want(ok, "fd_seek", file, 4, 0, atResult)
	got := g.poll(
		fdSub(10, eventFdRead, file),
		fdSub(11, eventFdWrite, file),
		fdSub(12, eventFdWrite, 1),
		fdSub(13, eventFdWrite, 2),
		fdSub(14, eventFdRead, 99),
		fdSub(15, eventFdRead, 0),  // has nothing
		fdSub(16, eventFdRead, 1),  // never
		fdSub(17, eventFdWrite, 0), // never
		fdSub(18, eventFdRead, preopenFd),
		clockSub(19, clockProcessCPUTime, 0, 0),
		clockSub(20, clockMonotonic, math.MaxUint64, 0),
	)
	g.wantEvents(got,
		event{10, 0, eventFdRead, 6},
		event{11, 0, eventFdWrite, 0},
		event{12, 0, eventFdWrite, 0},
		event{13, 0, eventFdWrite, 0},
		event{14, eBADF, eventFdRead, 0},
		event{18, 0, eventFdRead, 0},
		event{19, eNOTSUP, eventClock, 0},
	)
}

func TestPoll_Stdin(t *testing.T) {
	g := newGuest(t)
	never := clockSub(2, clockMonotonic, math.MaxUint64, 0)
	soon := clockSub(3, clockMonotonic, uint64(20*time.Millisecond), 0)
	in := fdSub(1, eventFdRead, 0)
	ready := event{1, 0, eventFdRead, 1}

	g.wantEvents(g.poll(in, soon), event{userdata: 3})
	for _, subs := range [][][]byte{{in}, {in, never}} {
		go func() {
			time.Sleep(20 * time.Millisecond)
			g.stdin.data <- []byte("x")
		}()
		g.wantEvents(g.poll(subs...), ready)
		g.wantEvents(g.poll(subs...), ready) // still there
		if got := g.read(0, 10); got != "x" {
			t.Errorf("read %q", got)
		}
	}
	close(g.stdin.data)
	g.wantEvents(g.poll(in, never), ready)
	g.wantEvents(g.poll(in, in), ready, ready)
}

func TestPoll_NoStdin(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Stdin = nil })
	g.wantEvents(g.poll(fdSub(1, eventFdRead, 0)), event{1, 0, eventFdRead, 1})
}

// The events may lie where the subscriptions are.
func TestPoll_EventsOverSubscriptions(t *testing.T) {
	g := newGuest(t)
	args := g.subscribe(fdSub(1, eventFdWrite, 1), fdSub(2, eventFdWrite, 2), fdSub(3, eventFdWrite, 1))
	args[1] = args[0]
	g.want(ok, "poll_oneoff", args...)
	if g.u32(atResult) != 3 {
		t.Fatalf("%d events", g.u32(atResult))
	}
	for i := range uint32(3) {
		if got := g.u64(atSubs + i*eventSize); got != uint64(i+1) {
			t.Errorf("userdata %d = %d", i, got)
		}
	}
}

// Polls leave no goroutine, however they end.
func TestPoll_NoGoroutines(t *testing.T) {
	g := newGuest(t)
	soon := clockSub(3, clockMonotonic, uint64(time.Millisecond), 0)
	in := fdSub(1, eventFdRead, 0)
	g.poll(in, soon)
	base := goruntime.NumGoroutine()
	for range 50 {
		g.poll(in, soon)
		g.poll(soon)
	}
	if n := goruntime.NumGoroutine(); n > base {
		t.Errorf("%d goroutines, %d before", n, base)
	}
}
