package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// isolating are the backends that are measured, where they work.
var isolating = []native.Backend{native.Userns, native.Bubblewrap}

// box is an open session of a backend, with the driver that it needs.
type box struct {
	*engine.Session
	driver *native.Driver
}

func openBox(ctx context.Context, backend native.Backend) (*box, error) {
	d, err := native.New(&native.Options{Backend: backend})
	if err != nil {
		return nil, err
	}
	s, err := d.Open(ctx, nil)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &box{s, d}, nil
}

func (b *box) Close() error { return errors.Join(b.Session.Close(), b.driver.Close()) }

// shellRun runs a shell script, which has to print nothing.
func shellRun(ctx context.Context, s *engine.Session, script string) error {
	out, err := s.Exec(ctx, script, &engine.RunOptions{Type: engine.Shell})
	if err != nil {
		return err
	}
	if out.Result.ExitCode != 0 || len(out.Stdout) > 0 {
		return fmt.Errorf("got %q, exit code %d: %s", out.Stdout, out.Result.ExitCode, out.Stderr)
	}
	return nil
}

// boxes opens a session of each backend that works here.
func boxes(ctx context.Context, r *report) (map[native.Backend]*box, error) {
	all := map[native.Backend]*box{}
	for _, backend := range isolating {
		b, err := openBox(ctx, backend)
		if err == nil {
			err = shellRun(ctx, b.Session, "")
		}
		switch {
		case errors.Is(err, engine.ErrNotAvailable):
			r.note("\nbackend %s does not work here: %v", backend, err)
			continue
		case err != nil:
			return all, err
		}
		all[backend] = b
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: no backend of the native tier works here", errSkip)
	}
	return all, nil
}

func closeBoxes(all map[native.Backend]*box) error {
	var err error
	for _, b := range all {
		err = errors.Join(err, b.Close())
	}
	return err
}

// shell is the time of the shell script `true` in an open session, beside the same shell with the same script and no
// sandbox, and beside one call of bwrap for it.
func shell(ctx context.Context, s *settings, r *report) (err error) {
	all, err := boxes(ctx, r)
	if err != nil {
		return err
	}
	defer also(&err, func() error { return closeBoxes(all) })
	dir, err := os.MkdirTemp("", "sandbar-bench-*")
	if err != nil {
		return err
	}
	defer also(&err, func() error { return os.RemoveAll(dir) })
	script := filepath.Join(dir, "main.sh")
	if err := os.WriteFile(script, []byte("true"), 0o644); err != nil {
		return err
	}
	const turn = 10
	cases := []*competitor{{name: "bash, fork and exec alone", turn: turn, run: bare(ctx, "/bin/bash", script)}}
	for _, backend := range isolating {
		if b := all[backend]; b != nil {
			cases = append(cases, &competitor{name: string(backend) + ", in an open session", turn: turn, away: true, run: func() error {
				return shellRun(ctx, b.Session, "true")
			}})
		}
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		args, err := bubblewrap(ctx, s.python)
		if err != nil {
			return err
		}
		args = with(args, "--ro-bind", script, "/main.sh")
		cases = append(cases, &competitor{name: "bwrap bash, each time", away: true, run: command(ctx, "", bwrap, with(args, "/bin/bash", "/main.sh")...)})
	}
	if err := compare(ctx, 2, s.rounds, cases); err != nil {
		return err
	}
	r.table(quantiles("A shell script: true", cases))
	return shellThroughput(ctx, s, r, all)
}

// bare runs a program with the environment that scripts have: with another locale bash reads other files.
func bare(ctx context.Context, name string, args ...string) func() error {
	return func() error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = []string{"HOME=/tmp", "LANG=C.UTF-8", "LOGNAME=sandbox", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=/tmp", "USER=sandbox"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
}

// shellThroughput is how many such scripts a second can have.
func shellThroughput(ctx context.Context, s *settings, r *report, all map[native.Backend]*box) error {
	var cases []*contest
	for _, backend := range isolating {
		b := all[backend]
		if b == nil {
			continue
		}
		run := func() error { return shellRun(ctx, b.Session, "true") }
		for _, workers := range []int{1, 2} {
			cases = append(cases, &contest{competitor: competitor{name: fmt.Sprintf("%s, %d at a time", backend, workers), away: true, run: run}, workers: workers})
		}
	}
	cases = append(cases, &contest{competitor: competitor{name: "bash, fork and exec alone, 1 at a time", run: bare(ctx, "/bin/bash", "-c", "true")}, workers: 1})
	for round := range 1 + max(2, s.rounds/10) {
		for _, c := range cases {
			if err := c.measure(ctx, round > 0); err != nil {
				return err
			}
		}
	}
	t := table{Title: "Shell scripts a second: true", Header: []string{"runs", "runs/s", "runs/s, best"}}
	for _, c := range cases {
		t.Rows = append(t.Rows, row{c.name, []figure{figure(c.runs), perSecond(c.times.at(0.5)), perSecond(c.times.at(0))}})
	}
	r.table(t)
	return nil
}

// cells is a session that is opened for one script: it makes a cell, and ends it.
func cells(ctx context.Context, s *settings, r *report) (err error) {
	all, err := boxes(ctx, r)
	if err != nil {
		return err
	}
	defer also(&err, func() error { return closeBoxes(all) })
	var cases []*competitor
	for _, backend := range isolating {
		b := all[backend]
		if b == nil {
			continue
		}
		cases = append(cases, &competitor{name: string(backend) + ", open, true, close", away: true, run: func() error {
			session, err := b.driver.Open(ctx, nil)
			if err != nil {
				return err
			}
			return errors.Join(shellRun(ctx, session, "true"), session.Close())
		}})
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		args, err := bubblewrap(ctx, s.python)
		if err != nil {
			return err
		}
		cases = append(cases, &competitor{name: "bwrap bash -c true", away: true, run: command(ctx, "", bwrap, with(args, "/bin/bash", "-c", "true")...)})
	}
	if err := compare(ctx, 2, s.rounds, cases); err != nil {
		return err
	}
	r.table(quantiles("A shell script in a session of its own", cases))
	return nil
}

// openSessions is how many sessions the idle section opens.
const openSessions = 64

// idle is the private memory of the inits of sessions that wait for their next run.
func idle(ctx context.Context, _ *settings, r *report) (err error) {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: it is measured by smaps_rollup, on Linux", errSkip)
	}
	all, err := boxes(ctx, r)
	if err != nil {
		return err
	}
	defer also(&err, func() error { return closeBoxes(all) })
	t := table{Title: fmt.Sprintf("%d open native sessions, idle", openSessions), Header: []string{"private MiB each, all its processes", "processes each"}}
	for _, backend := range isolating {
		if b := all[backend]; b != nil {
			private, processes, err := idleMemory(ctx, b)
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, row{string(backend), []figure{mib(private) / openSessions, figure(processes) / openSessions}})
		}
	}
	r.table(t)
	return nil
}

func idleMemory(ctx context.Context, b *box) (private int64, processes int, err error) {
	before, err := childMemory()
	if err != nil {
		return 0, 0, err
	}
	var sessions []*engine.Session
	defer func() {
		for _, s := range sessions {
			err = errors.Join(err, s.Close())
		}
	}()
	for range openSessions {
		s, err := b.driver.Open(ctx, nil)
		if err != nil {
			return 0, 0, err
		}
		sessions = append(sessions, s)
		if err := shellRun(ctx, s, "true"); err != nil {
			return 0, 0, err
		}
	}
	after, err := childMemory()
	if err != nil {
		return 0, 0, err
	}
	return after.private - before.private, after.processes - before.processes, nil
}

// family is this process's descendants.
type family struct {
	private   int64
	processes int
}

// childMemory sums Private_Dirty over the descendants of this process, proc_pid_smaps(5).
func childMemory() (family, error) {
	var f family
	parents := map[string]string{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return f, err
	}
	for _, dir := range dirs {
		if stat, err := os.ReadFile(dir + "/stat"); err == nil {
			_, after, _ := strings.Cut(string(stat), ") ")
			if fields := strings.Fields(after); len(fields) > 1 {
				parents[filepath.Base(dir)] = fields[1]
			}
		}
	}
	us := fmt.Sprint(os.Getpid())
	for pid := range parents {
		up := parents[pid]
		for up != us && up != "" {
			up = parents[up]
		}
		if up != us {
			continue
		}
		private, err := privateOf("/proc/" + pid + "/smaps_rollup")
		if err != nil {
			continue // it has ended meanwhile
		}
		f.private += private
		f.processes++
	}
	return f, nil
}
