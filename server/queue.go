package server

import (
	"container/list"
	"context"
	"sync"

	"github.com/sandbar-dev/sandbar/engine"
)

// A queue hands out a number of slots for runs. Who waits is served in turn by principal, and within a principal in order of
// arrival: one that asks for a thousand does not keep the others waiting. It is safe for concurrent use.
type queue struct {
	slots   int
	waiting int // the most that may wait

	mu     sync.Mutex
	taken  int
	queued int
	closed error // why nobody is let in any more
	users  map[string]*user
	turns  *list.List // of *user that wait and could be served, the next one first
}

// user is a principal in a queue.
type user struct {
	name    string
	slots   int
	taken   int
	waiters *list.List // of *waiter
	turn    *list.Element
}

type waiter struct {
	ready  chan struct{} // closed when the slot is its own
	served bool
}

// bounds are those of one principal.
type bounds struct{ slots, waiting int }

func newQueue(slots, waiting int) *queue {
	return &queue{slots: slots, waiting: waiting, users: map[string]*user{}, turns: list.New()}
}

// acquire waits for a slot, which release gives back. It returns a *engine.LimitError when too many wait already or the principal
// may have no slot at all, the error of shut, and the cause of ctx when that ends first.
func (q *queue) acquire(ctx context.Context, name string, b bounds) (release func(), err error) {
	w, u, err := q.enter(name, b)
	if err != nil {
		return nil, err
	}
	release = sync.OnceFunc(func() { q.release(u) })
	select {
	case <-w.ready:
		return release, nil
	default:
	}
	select {
	case <-w.ready:
		return release, nil
	case <-ctx.Done():
		q.leave(u, w)
		return nil, context.Cause(ctx)
	}
}

// enter takes a slot, or a place among those who wait.
func (q *queue) enter(name string, b bounds) (*waiter, *user, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed != nil:
		return nil, nil, q.closed
	case b.slots <= 0: // it would wait for ever
		return nil, nil, &engine.LimitError{What: "runs", OfPrincipal: true}
	}
	u := q.users[name]
	if u == nil {
		u = &user{name: name, waiters: list.New()}
		q.users[name] = u
	}
	u.slots = b.slots
	w := &waiter{ready: make(chan struct{})}
	if u.waiters.Len() == 0 && q.free(u) {
		q.serve(u, w)
		return w, u, nil
	}
	var err error
	switch {
	case q.queued >= q.waiting:
		err = &engine.LimitError{What: "queue", Max: int64(q.waiting)}
	case u.waiters.Len() >= b.waiting:
		err = &engine.LimitError{What: "queue", Max: int64(b.waiting), OfPrincipal: true}
	}
	if err == nil {
		u.waiters.PushBack(w)
		q.queued++
	}
	q.lineUp(u)
	q.next() // its policy may allow it more slots than before
	q.forget(u)
	return w, u, err
}

// free reports whether the principal can have a slot now.
func (q *queue) free(u *user) bool { return q.taken < q.slots && u.taken < u.slots }

func (q *queue) serve(u *user, w *waiter) {
	q.taken++
	u.taken++
	w.served = true
	close(w.ready)
}

// lineUp gives the principal a turn if it waits, could be served but for the others, and has none.
func (q *queue) lineUp(u *user) {
	if u.turn == nil && u.waiters.Len() > 0 && u.taken < u.slots {
		u.turn = q.turns.PushBack(u)
	}
}

// release gives a slot back and serves who is next.
func (q *queue) release(u *user) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	u.taken--
	q.lineUp(u)
	q.next()
	q.forget(u)
}

// next serves those whose turn it is, as long as there are slots.
func (q *queue) next() {
	for q.taken < q.slots {
		first := q.turns.Front()
		if first == nil {
			return
		}
		u, _ := q.turns.Remove(first).(*user)
		u.turn = nil
		if u.waiters.Len() == 0 || u.taken >= u.slots {
			continue
		}
		w, _ := u.waiters.Remove(u.waiters.Front()).(*waiter)
		q.queued--
		q.serve(u, w)
		q.lineUp(u)
	}
}

// leave gives up waiting, or the slot that came at the same moment.
func (q *queue) leave(u *user, w *waiter) {
	q.mu.Lock()
	served := w.served
	if !served {
		for e := u.waiters.Front(); e != nil; e = e.Next() {
			if e.Value == w {
				u.waiters.Remove(e)
				q.queued--
				break
			}
		}
		q.forget(u)
	}
	q.mu.Unlock()
	if served {
		q.release(u)
	}
}

// forget drops what is known of a principal that has nothing here.
func (q *queue) forget(u *user) {
	if u.taken == 0 && u.waiters.Len() == 0 {
		if u.turn != nil {
			q.turns.Remove(u.turn)
			u.turn = nil
		}
		delete(q.users, u.name)
	}
}

// shut lets nobody in any more: acquire returns err. Who waits goes on waiting.
func (q *queue) shut(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = err
}

// lengths tells how many slots are taken and how many wait.
func (q *queue) lengths() (taken, queued int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken, q.queued
}
