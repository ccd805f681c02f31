package remote

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/testneed"
)

// needBackend skips a test where a backend does not work.
func needBackend(t *testing.T, b sandbar.Backend) {
	t.Helper()
	s, err := sandbar.OpenWith(t.Context(), b, nil)
	if err == nil {
		_, err = s.Exec(t.Context(), "true", &engine.RunOptions{Type: engine.Shell})
		err = errors.Join(err, s.Close())
	}
	feature := string(b)
	if b == sandbar.Bubblewrap {
		feature = "bwrap" // as CI calls it
	}
	testneed.Feature(t, feature, err)
}

// TestKilled kills a server with fifty runs under way: cases C152. Nothing of it is left, its clients know, and a server that
// follows on the same directory knows nothing of its sessions.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts fifty runs")
	}
	needBackend(t, sandbar.Userns)
	needBackend(t, sandbar.Bubblewrap)
	dir := t.TempDir()
	p := launchIn(t, setup{}, dir)
	seconds := mark()
	kinds := []struct {
		backend string
		n       int
		script  string
		opts    engine.RunOptions
	}{
		{"userns", 20, fmt.Sprintf("echo x > keep.txt; sleep %d", seconds), engine.RunOptions{Type: engine.Shell}},
		{"bubblewrap", 20, fmt.Sprintf("trap '' TERM; (setsid sleep %[1]d &) ; sleep %[1]d", seconds), engine.RunOptions{Type: engine.Shell}},
		{"", 10, "import time; time.sleep(600)", engine.RunOptions{Type: engine.Python}},
	}
	var runs []*engine.Process
	var ids []string
	var sessions []*engine.Session
	for _, k := range kinds {
		for range 2 { // several runs of one session, too
			s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: k.backend}})
			ids, sessions = append(ids, s.ID()), append(sessions, s)
			for range k.n / 2 {
				r, err := s.Run(t.Context(), k.script, &k.opts)
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, r)
			}
		}
	}
	until(t, "all sleep", func() bool { return asleep(t, seconds) == 20+2*20 })
	if len(entries(t, dir)) == 0 {
		t.Fatal("the server has nothing in its temporary directory: there is nothing to test")
	}

	p.kill()
	var all sync.WaitGroup
	for _, r := range runs {
		all.Go(func() {
			if result, err := r.Wait(t.Context()); !errors.Is(err, engine.ErrLost) {
				t.Errorf("a run of a killed server: %v, %v, want ErrLost", result, err)
			}
		})
	}
	all.Wait()
	for _, s := range sessions {
		if _, err := s.Exec(t.Context(), "echo", &engine.RunOptions{Type: engine.Shell}); err == nil {
			t.Error("a run after the server was killed has succeeded")
		}
	}

	again := launchIn(t, setup{}, dir)
	until(t, "no process of the runs is left", func() bool { return asleep(t, seconds) == 0 })
	until(t, "no group is left", func() bool { return groups(p.pid()) == 0 })
	until(t, "no directory is left", func() bool { return len(entries(t, dir)) == 0 })
	if text, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(text), dir) {
		t.Errorf("mounts are left, or %v", err)
	}
	c := client(t, again.url(), nil)
	for _, id := range ids {
		if _, err := c.Attach(t.Context(), id); !errors.Is(err, engine.ErrNoSession) && !errors.Is(err, engine.ErrClosed) {
			t.Errorf("a session of before: %v, want that it is not there", err)
		}
	}
}

// TestRestarted has a client whose server comes back on the same socket: its session is closed, and says so.
func TestRestarted(t *testing.T) {
	dir := t.TempDir()
	c := setup{Listen: []string{"unix:" + dir + "/s"}}
	p := launchIn(t, c, dir)
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	mustExec(t, s, "echo before")
	p.kill()
	launchIn(t, c, dir)
	if _, err := s.Exec(t.Context(), "echo after", &engine.RunOptions{Type: engine.Shell}); !errors.Is(err, engine.ErrClosed) && !errors.Is(err, engine.ErrLost) {
		t.Errorf("a run after the restart: %v, want ErrClosed", err)
	}
	if _, err := s.Stat(t.Context(), "."); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("Stat after the restart: %v, want ErrClosed", err)
	}
}
