package cases

import (
	"io"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// C173: guests that burn processor time do not stop the embedding program: the garbage collector ends, and
// other work gets its turn. Not parallel: it changes GOMAXPROCS.
func TestResponsive_BusyGuests(t *testing.T) {
	if raceEnabled {
		t.Skip("with the race detector a garbage collection is slow by itself")
	}
	for _, procs := range []int{1, 2} {
		t.Run("GOMAXPROCS="+strconv.Itoa(procs), func(t *testing.T) {
			session := open(t, &engine.Options{Limits: engine.Limits{Memory: 1 << 30}})
			mustStillWork(t, session)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for _, script := range []string{"while True: pass", "sum(range(10**12))", `import re; re.match(r"(a+)+$", "a" * 40 + "b")`, "10**10**8", "import itertools; any(itertools.repeat(0))"} {
				var busy []*engine.Process
				for range procs {
					p, err := session.Run(t.Context(), "print('begun', flush=True)\n"+script, &engine.RunOptions{Timeout: patience})
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.ReadFull(p.Stdout(), make([]byte, len("begun\n"))); err != nil {
						t.Fatal(err)
					}
					busy = append(busy, p)
				}
				collect := worst(10, runtime.GC)
				answer := worst(3, func() { mustStillWork(t, session) })
				for _, p := range busy {
					p.Kill()
					waitEnd(t, p, bound)
				}
				t.Logf("%q: runtime.GC took at most %v, a run beside it at most %v", script, collect, answer)
				if collect > bound || answer > bound {
					t.Error("the program does not answer")
				}
			}
		})
	}
}

// worst is the longest of n calls of f.
func worst(n int, f func()) time.Duration {
	var most time.Duration
	for range n {
		began := time.Now()
		f()
		most = max(most, time.Since(began))
	}
	return most.Round(100 * time.Microsecond)
}
