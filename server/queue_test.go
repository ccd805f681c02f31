package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/sandbar-dev/sandbar/engine"
)

// queueModel is a queue as a list of those who wait.
type queueModel struct {
	slots, waiting int

	bounds map[string]bounds
	taken  map[string]int
	inside int
	wait   []*place // in order of arrival
	turns  []string // principals that wait and may have a slot, the next one first
}

// place is one that has entered.
type place struct {
	name   string
	w      *waiter
	u      *user
	served bool
}

func (m *queueModel) waitingOf(name string) int {
	n := 0
	for _, p := range m.wait {
		if p.name == name {
			n++
		}
	}
	return n
}

// settle lines up who may be served, and serves in turn.
func (m *queueModel) settle(name string) {
	line := func(name string) {
		if m.waitingOf(name) > 0 && m.taken[name] < m.bounds[name].slots && !slices.Contains(m.turns, name) {
			m.turns = append(m.turns, name)
		}
	}
	line(name)
	for m.inside < m.slots && len(m.turns) > 0 {
		next := m.turns[0]
		m.turns = m.turns[1:]
		i := slices.IndexFunc(m.wait, func(p *place) bool { return p.name == next })
		if i < 0 || m.taken[next] >= m.bounds[next].slots {
			continue
		}
		m.wait[i].served = true
		m.wait = slices.Delete(m.wait, i, i+1)
		m.taken[next]++
		m.inside++
		line(next)
	}
}

func TestQueue_Model(t *testing.T) { rapid.Check(t, checkQueue) }

func checkQueue(t *rapid.T) {
	m := &queueModel{
		slots: rapid.IntRange(1, 4).Draw(t, "slots"), waiting: rapid.IntRange(0, 8).Draw(t, "waiting"),
		bounds: map[string]bounds{}, taken: map[string]int{},
	}
	q := newQueue(m.slots, m.waiting)
	var all []*place
	names := rapid.SampledFrom([]string{"a", "b", "c"})
	remove := func(t *rapid.T) *place {
		if len(all) == 0 {
			t.Skip("nobody is there")
		}
		i := rapid.IntRange(0, len(all)-1).Draw(t, "who")
		p := all[i]
		all = slices.Delete(all, i, i+1)
		return p
	}
	t.Repeat(map[string]func(*rapid.T){
		"enter": func(t *rapid.T) {
			name := names.Draw(t, "name")
			b := bounds{rapid.IntRange(0, 3).Draw(t, "slots"), rapid.IntRange(0, 4).Draw(t, "waiting")}
			p := &place{name: name}
			var err error
			p.w, p.u, err = q.enter(name, b)
			if what := m.enter(p, b); !limited(err, what) {
				t.Fatalf("enter(%q, %v) = %v, want a limit of %q", name, b, err, what)
			}
			if err == nil {
				all = append(all, p)
			}
		},
		"leave": func(t *rapid.T) { // as when its context ends, or as a release when it has a slot
			p := remove(t)
			q.leave(p.u, p.w)
			m.leave(p)
		},
		"": func(t *rapid.T) { m.check(t, q, all) },
	})
	for _, p := range all {
		q.leave(p.u, p.w)
	}
	if len(q.users) != 0 || q.turns.Len() != 0 || q.taken != 0 || q.queued != 0 {
		t.Fatalf("all have gone, and the queue has %+v", q)
	}
}

// limited reports whether err is a limit of what. Empty: none.
func limited(err error, what string) bool {
	limit, ok := errors.AsType[*engine.LimitError](err)
	return err == nil && what == "" || ok && limit.What == what
}

func (m *queueModel) enter(p *place, b bounds) (limit string) {
	if b.slots == 0 {
		return "runs"
	}
	m.bounds[p.name] = b
	waits := m.waitingOf(p.name)
	direct := waits == 0 && m.inside < m.slots && m.taken[p.name] < b.slots
	switch {
	case !direct && (len(m.wait) >= m.waiting || waits >= b.waiting):
		limit = "queue"
	default:
		m.wait = append(m.wait, p)
	}
	m.settle(p.name)
	return limit
}

func (m *queueModel) leave(p *place) {
	if p.served {
		m.taken[p.name]--
		m.inside--
		m.settle(p.name)
		return
	}
	m.wait = slices.DeleteFunc(m.wait, func(o *place) bool { return o == p })
	if m.taken[p.name] == 0 && m.waitingOf(p.name) == 0 {
		m.turns = slices.DeleteFunc(m.turns, func(n string) bool { return n == p.name })
	}
}

func (m *queueModel) check(t *rapid.T, q *queue, all []*place) {
	if taken, queued := q.lengths(); taken != m.inside || queued != len(m.wait) || taken > m.slots || queued > m.waiting {
		t.Fatalf("%d have a slot and %d wait, want %d of %d and %d of %d", taken, queued, m.inside, m.slots, len(m.wait), m.waiting)
	}
	for _, p := range all {
		if p.w.served != p.served {
			t.Fatalf("one of %s is served: %v, want %v", p.name, p.w.served, p.served)
		}
		if free := m.inside < m.slots && m.taken[p.name] < m.bounds[p.name].slots; free && !p.served {
			t.Fatalf("one of %s waits while a slot is free for it", p.name)
		}
	}
}

// One principal with a thousand that wait does not keep another one waiting for longer than one slot.
func TestQueue_Fair(t *testing.T) {
	q := newQueue(1, 2000)
	many := bounds{1, 2000}
	_, first, err := q.enter("greedy", many)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, _, err := q.enter("greedy", many); err != nil {
			t.Fatal(err)
		}
	}
	w, other, err := q.enter("other", many)
	if err != nil {
		t.Fatal(err)
	}
	q.release(first)
	q.release(first)
	if !w.served {
		t.Error("after two slots have become free, the other principal still waits")
	}
	q.release(other)
	if taken, queued := q.lengths(); taken != 1 || queued != 998 {
		t.Errorf("%d have a slot and %d wait, want 1 and 998", taken, queued)
	}
}

// A principal whose policy allows it more while it waits is served, and not with its next release.
func TestQueue_RaisedBounds(t *testing.T) {
	q := newQueue(10, 10)
	var waiters []*waiter
	for _, b := range []bounds{{1, 10}, {1, 10}, {3, 10}} {
		w, _, err := q.enter("a", b)
		if err != nil {
			t.Fatal(err)
		}
		waiters = append(waiters, w)
	}
	for i, w := range waiters {
		if !w.served {
			t.Errorf("the %d. waits while a slot is free for it", i)
		}
	}
}

func TestQueue_Refuses(t *testing.T) {
	q := newQueue(1, 1)
	if _, err := q.acquire(t.Context(), "a", bounds{0, 10}); !limited(err, "runs") || err == nil {
		t.Errorf("acquire of a principal without slots = %v, want a limit of runs", err)
	}
	release, err := q.acquire(t.Context(), "a", bounds{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := q.acquire(ctx, "a", bounds{1, 1}); !errors.Is(err, gone) {
		t.Errorf("acquire of who has gone = %v, want %v", err, gone)
	}
	q.shut(engine.ErrDraining)
	if _, err := q.acquire(t.Context(), "a", bounds{1, 1}); !errors.Is(err, engine.ErrDraining) {
		t.Errorf("acquire of a queue that is shut = %v, want %v", err, engine.ErrDraining)
	}
	release()
	release() // it counts once
	if taken, queued := q.lengths(); taken != 0 || queued != 0 || len(q.users) != 0 {
		t.Errorf("%d have a slot, %d wait and %d are known, want none", taken, queued, len(q.users))
	}
}

func TestQueue_Hammer(t *testing.T) {
	const slots, each = 3, 2
	q := newQueue(slots, 1000)
	var inside atomic.Int32
	var mine [4]atomic.Int32
	var all sync.WaitGroup
	for i := range 32 {
		who := i % len(mine)
		all.Go(func() {
			for range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.N(3) == 0 {
					go cancel()
				}
				release, err := q.acquire(ctx, fmt.Sprint(who), bounds{each, 1000})
				if err == nil {
					if inside.Add(1) > slots || mine[who].Add(1) > each {
						t.Error("more slots were given out than there are")
					}
					mine[who].Add(-1)
					inside.Add(-1)
					release()
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if taken, queued := q.lengths(); taken != 0 || queued != 0 || len(q.users) != 0 || q.turns.Len() != 0 {
		t.Errorf("all have gone, and the queue has %d slots taken, %d waiting, %d users", taken, queued, len(q.users))
	}
}
