package cases

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// C140: 200 runs, 32 at a time, each in a session of its own or in a common one.
func TestMany_Concurrent(t *testing.T) {
	common := open(t, &engine.Options{Timeout: patience})
	mustStillWork(t, common)
	next := make(chan int)
	began := time.Now()
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for i := range next {
				session := common
				if i%4 == 0 {
					session = open(t, &engine.Options{Timeout: patience})
				}
				name := fmt.Sprintf("f%d", i)
				out := exec(t, session, fmt.Sprintf("open(%q, 'w').write('x' * %d); print(sum(i * i for i in range(20_000)), %d, len(open(%q).read()))", name, i, i, name), nil)
				checkPrinted(t, out, fmt.Sprintf("2666466670000 %d %d\n", i, i))
			}
		})
	}
	for i := range 200 {
		next <- i
	}
	close(next)
	workers.Wait()
	t.Logf("200 runs in %v", time.Since(began).Round(time.Millisecond))
}

// C143, C144: large scripts, arguments, variables and outputs.
func TestMany_Large(t *testing.T) {
	session := open(t, &engine.Options{MaxOutput: -1, Timeout: patience})
	script := "#" + fmt.Sprintf("%0200000d", 0) + "\nprint('ok')\n"
	checkPrinted(t, exec(t, session, script, nil), "ok\n")
	script = "x = '" + fmt.Sprintf("%05000000d", 0) + "'\nprint(len(x))\n"
	checkPrinted(t, exec(t, session, script, nil), "5000000\n")
	out := exec(t, session, "import os, sys; print(len(os.environ['BIG']), len(sys.argv[1]), len(sys.argv))", &engine.RunOptions{
		Env: map[string]string{"BIG": fmt.Sprintf("%0100000d", 0)}, Args: append([]string{fmt.Sprintf("%0130000d", 0)}, make([]string, 5000)...),
	})
	checkPrinted(t, out, "100000 130000 5002\n")
	tooLong(t, session)
	for _, n := range []int{0, 1, 4194303, 4194304, 4194305, 16777216, 67108864} {
		if testing.Short() && n > 5<<20 {
			continue
		}
		out := exec(t, session, fmt.Sprintf("import sys; sys.stdout.write('y' * %d)", n), nil)
		if len(out.Stdout) != n || out.Result.StdoutBytes != int64(n) || out.Result.Truncated {
			t.Errorf("%d bytes of %d: %+v", len(out.Stdout), n, out.Result)
		}
	}
}

// tooLong: what no program could be given by the kernel (execve(2)) is refused in this tier, too.
func tooLong(t *testing.T, session *engine.Session) {
	t.Helper()
	for _, opts := range []*engine.RunOptions{
		{Env: map[string]string{"BIG": fmt.Sprintf("%0200000d", 0)}},
		{Args: []string{fmt.Sprintf("%0300000d", 0)}},
	} {
		if _, err := session.Exec(t.Context(), "pass", opts); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%v", err)
		}
	}
}
