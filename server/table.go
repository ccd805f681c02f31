package server

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// An entry is what a table holds: something that a principal has made, and that ends when it is not used.
type entry interface {
	comparable
	key() string
	owner() string
	usage() *usage
}

// A table holds entries by their id. What is not there, and what is somebody else's, give the same error in the same time.
type table[E entry] struct {
	what string // for LimitError
	most int

	mu      sync.Mutex
	entries map[string]E
	owned   map[string]int // by principal, with those that are being made
	count   int
}

func (t *table[E]) init(what string, most int) {
	t.what, t.most = what, most
	t.entries, t.owned = map[string]E{}, map[string]int{}
}

// reserve counts an entry that is about to be made, or returns a *engine.LimitError. Add or unreserve follows.
func (t *table[E]) reserve(owner string, most int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.count >= t.most:
		return &engine.LimitError{What: t.what, Max: int64(t.most)}
	case t.owned[owner] >= most:
		return &engine.LimitError{What: t.what, Max: int64(most), OfPrincipal: true}
	}
	t.count++
	t.owned[owner]++
	return nil
}

// unreserve takes back a reserve, or counts an entry that is gone.
func (t *table[E]) unreserve(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count--
	if t.owned[owner]--; t.owned[owner] == 0 {
		delete(t.owned, owner)
	}
}

// add puts an entry in the place that was reserved. Its idle time begins.
func (t *table[E]) add(e E) {
	e.usage().touch()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries[e.key()] = e
}

// use finds an entry of the owner, and has it in use until done.
func (t *table[E]) use(id, owner string) (e E, done func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[id]
	if !ok || e.owner() != owner {
		var none E
		return none, nil, engine.ErrNoSession
	}
	u := e.usage()
	u.begin()
	return e, u.end, nil
}

// take removes an entry of the owner, which its caller then ends and unreserves. Any owner will do when all is set.
func (t *table[E]) take(id, owner string, all bool) (E, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[id]
	if !ok || !all && e.owner() != owner {
		var none E
		return none, engine.ErrNoSession
	}
	delete(t.entries, id)
	e.usage().leave()
	return e, nil
}

// takeDue removes the entries whose time has come.
func (t *table[E]) takeDue(now time.Time) []E {
	return t.takeIf(func(e E) bool { return e.usage().due(now) })
}

// takeAll removes all.
func (t *table[E]) takeAll() []E {
	return t.takeIf(func(E) bool { return true })
}

func (t *table[E]) takeIf(f func(E) bool) []E {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []E
	for id, e := range t.entries {
		if f(e) {
			out = append(out, e)
			delete(t.entries, id)
			e.usage().leave()
		}
	}
	return out
}

// list gives the entries of the owner, or all, the oldest first.
func (t *table[E]) list(owner string, all bool) []E {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []E
	for _, e := range t.entries {
		if all || e.owner() == owner {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b E) int {
		return cmp.Or(a.usage().created.Compare(b.usage().created), cmp.Compare(a.key(), b.key()))
	})
	return out
}

// length tells how many there are, with those that are being made.
func (t *table[E]) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// usage says when something ends: so long after its last use, and at the end of its life.
type usage struct {
	created time.Time
	idle    time.Duration
	expires time.Time // zero: never
	// gone ends, by leave, when the entry was taken out of its table.
	gone  context.Context
	leave context.CancelFunc

	mu    sync.Mutex
	users int
	last  time.Time
}

func newUsage(idle, life time.Duration) *usage {
	now := time.Now()
	u := &usage{created: now, idle: idle, last: now}
	u.gone, u.leave = context.WithCancel(context.Background())
	if life > 0 {
		u.expires = now.Add(life)
	}
	return u
}

func (u *usage) touch() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = time.Now()
}

func (u *usage) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users++
}

func (u *usage) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	u.last = time.Now()
}

// idleAt is when it ends if nobody uses it.
func (u *usage) idleAt() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.users > 0 {
		return time.Now().Add(u.idle)
	}
	return u.last.Add(u.idle)
}

func (u *usage) due(now time.Time) bool { return u.whyDue(now) != "" }

// whyDue says why it is to end, or nothing.
func (u *usage) whyDue(now time.Time) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case !u.expires.IsZero() && now.After(u.expires):
		return ClosedLifetime
	case u.users == 0 && now.Sub(u.last) > u.idle:
		return ClosedUnused
	}
	return ""
}
