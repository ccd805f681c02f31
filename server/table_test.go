package server

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// thing is an entry with nothing else.
type thing struct {
	id, who string
	use     *usage
}

func (t *thing) key() string   { return t.id }
func (t *thing) owner() string { return t.who }
func (t *thing) usage() *usage { return t.use }

func newTable(most int) *table[*thing] {
	t := &table[*thing]{}
	t.init("things", most)
	return t
}

func TestTable_Limits(t *testing.T) {
	tab := newTable(3)
	for i, step := range []struct {
		owner string
		most  int
		of    int64 // whose limit; 0: none, 1: the server's, 2: the principal's
	}{{"a", 2, 0}, {"a", 2, 0}, {"a", 2, 2}, {"b", 0, 2}, {"b", 2, 0}, {"b", 2, 1}, {"a", 2, 1}} {
		err := tab.reserve(step.owner, step.most)
		limit, _ := errors.AsType[*engine.LimitError](err)
		switch {
		case step.of == 0 && err == nil:
		case step.of > 0 && limit != nil && limit.What == "things" && limit.OfPrincipal == (step.of == 2):
		default:
			t.Errorf("step %d: %v", i, err)
		}
	}
	tab.unreserve("a")
	if err := tab.reserve("b", 2); err != nil {
		t.Error(err)
	}
	for _, who := range []string{"a", "b", "b"} {
		tab.unreserve(who)
	}
	if tab.length() != 0 || len(tab.owned) != 0 {
		t.Errorf("%d entries of %v are left", tab.length(), tab.owned)
	}
}

// What is not there and what is somebody else's give the same error, and an administrator may end both.
func TestTable_ForeignIsUnknown(t *testing.T) {
	tab := newTable(10)
	tab.add(&thing{"x", "a", newUsage(time.Hour, 0)})
	for _, id := range []string{"x", "y", ""} {
		if _, _, err := tab.use(id, "b"); err != engine.ErrNoSession { //nolint:errorlint // the very same
			t.Errorf("use(%q) = %v, want %v", id, err, engine.ErrNoSession)
		}
		if _, err := tab.take(id, "b", false); err != engine.ErrNoSession { //nolint:errorlint // as above
			t.Errorf("take(%q) = %v, want %v", id, err, engine.ErrNoSession)
		}
	}
	if got := tab.list("b", false); len(got) != 0 {
		t.Errorf("a foreigner sees %v", got)
	}
	e, err := tab.take("x", "admin", true)
	if err != nil || e.use.gone.Err() == nil {
		t.Errorf("an administrator's take: %v, and the entry is gone: %v", err, e.use.gone.Err())
	}
	if _, err := tab.take("x", "a", false); !errors.Is(err, engine.ErrNoSession) {
		t.Errorf("a second take = %v", err)
	}
}

func TestTable_ListIsByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab := newTable(10)
		for i := range 5 {
			tab.add(&thing{fmt.Sprint(9 - i), "a", newUsage(time.Hour, 0)})
			time.Sleep(time.Second)
		}
		list := tab.list("a", false)
		for i, e := range list {
			if e.id != fmt.Sprint(9-i) {
				t.Errorf("at %d is %s", i, e.id)
			}
		}
	})
}

// What is in use is not idle, however long. The idle time begins with the end of the last use, the lifetime with the making.
func TestUsage_Times(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUsage(time.Minute, time.Hour)
		why := func(want string) {
			t.Helper()
			if got := u.whyDue(time.Now()); got != want {
				t.Errorf("due: %q, want %q", got, want)
			}
		}
		time.Sleep(time.Minute)
		why("")
		u.begin() // a run
		u.begin() // and a call
		time.Sleep(10 * time.Minute)
		why("")
		u.end()
		time.Sleep(10 * time.Minute)
		why("")
		if left := time.Until(u.idleAt()); left != time.Minute {
			t.Errorf("in use, and idle in %v, want a minute", left)
		}
		u.end()
		time.Sleep(time.Minute)
		why("")
		time.Sleep(time.Nanosecond)
		why("not used")
		u.touch()
		why("")
		u.begin()
		time.Sleep(39*time.Minute - time.Nanosecond)
		why("lifetime over") // in use or not
	})
}

func TestTable_Hammer(t *testing.T) {
	tab := newTable(20)
	var all sync.WaitGroup
	for i := range 16 {
		who := fmt.Sprint(i % 4)
		all.Go(func() {
			for k := range 300 {
				if tab.reserve(who, 6) != nil {
					continue
				}
				id := fmt.Sprint(i, "-", k)
				tab.add(&thing{id, who, newUsage(0, 0)})
				if _, done, err := tab.use(id, who); err == nil {
					tab.list(who, k%2 == 0)
					done()
				}
				if _, err := tab.take(id, who, false); err == nil {
					tab.unreserve(who)
				}
			}
		})
	}
	stop := make(chan struct{})
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			for _, e := range tab.takeDue(time.Now().Add(time.Second)) {
				if e.use.gone.Err() == nil {
					t.Error("an entry that was taken is not gone")
				}
				tab.unreserve(e.who)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	all.Wait()
	close(stop)
	sweeper.Wait()
	if tab.length() != 0 || len(tab.entries) != 0 || len(tab.owned) != 0 {
		t.Errorf("%d are counted, %d are there, of %v", tab.length(), len(tab.entries), tab.owned)
	}
}
