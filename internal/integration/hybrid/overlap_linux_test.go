package hybrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// patience is for what must end, at whatever speed.
const patience = 2 * time.Minute

func within(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// mustPrint runs a script that must end with code 0 in a tier, and returns its stdout.
func mustPrint(tb testing.TB, s *engine.Session, tier engine.Tier, script string, opts *engine.RunOptions) string {
	tb.Helper()
	out, err := s.Exec(within(tb), script, opts)
	if err != nil {
		tb.Fatalf("%.80q: %v", script, err)
	}
	if r := out.Result; r.ExitCode != 0 || r.Tier != tier {
		tb.Fatalf("%.80q: %+v, stderr %q", script, r, out.Stderr)
	}
	return string(out.Stdout)
}

// Runs in different tiers go on side by side, and ending one disturbs no other.
func TestTiers_Overlap(t *testing.T) {
	s := open(t, nil)
	start := func(typ engine.ScriptType, script string) *engine.Process {
		t.Helper()
		p, err := s.Run(within(t), script, &engine.RunOptions{Type: typ, StdinPipe: true, Timeout: engine.NoTimeout})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const echoPython = "import sys\nfor line in sys.stdin: print('python', line, end='', flush=True)"
	const echoShell = "while read -r line; do echo shell $line; done"
	stay := map[string]*engine.Process{
		"python": start(engine.Python, echoPython), "shell": start(engine.Shell, echoShell),
		"native": start(engine.Python, "import subprocess\n"+strings.Replace(echoPython, "'python'", "'native'", 1)),
	}
	say := func(round int) {
		t.Helper()
		for name, p := range stay {
			line := fmt.Sprintf("%s %d\n", name, round)
			if _, err := fmt.Fprintf(p.Stdin(), "%d\n", round); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(line))
			if _, err := io.ReadFull(p.Stdout(), got); err != nil || string(got) != line {
				t.Fatalf("%s said %q, %v; want %q", name, got, err, line)
			}
		}
	}
	say(1)
	for i, other := range []*engine.Process{
		start(engine.Python, "while True: pass"), start(engine.Shell, "while :; do :; done"),
		start(engine.Python, "import subprocess\nwhile True: pass"), start(engine.Shell, "kill -9 -1; sleep 1000"),
	} {
		say(10 + i)
		other.Kill()
		if _, err := other.Wait(within(t)); err != nil {
			t.Error(err)
		}
		say(20 + i)
	}
	for name, p := range stay {
		_ = p.Stdin().Close()
		if r, err := p.Wait(within(t)); err != nil || r.ExitCode != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// Snapshots are taken, branched and closed while both tiers write, and sessions are closed meanwhile.
func TestSnapshot_UnderLoad(t *testing.T) {
	s := open(t, &engine.Options{Timeout: patience})
	live := &engine.RunOptions{Interpreter: engine.InterpreterSession}
	mustPrint(t, s, engine.TierWasm, "n = 0", live)
	stop, stopped := context.WithCancel(t.Context())
	var writers, branches sync.WaitGroup
	write := func(opts *engine.RunOptions, script string) {
		writers.Go(func() {
			for stop.Err() == nil {
				if _, err := s.Exec(within(t), script, opts); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	write(&engine.RunOptions{Type: engine.Shell}, "mkdir -p d && echo $$ > d/$$ && rm -rf d")
	write(nil, "import os, shutil\nos.makedirs('p', exist_ok=True)\nopen('p/f', 'w').write('x' * 100000)\nshutil.rmtree('p', ignore_errors=True)")
	write(live, "n += 1\nwith open('count', 'w') as f: f.write(str(n))\nassert open('count').read() == str(n)")
	for range 4 {
		branches.Go(func() {
			for range 5 {
				if err := branch(t, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	branches.Wait()
	stopped()
	writers.Wait()
}

// branch opens a session from a snapshot, and uses both of its tiers.
func branch(t *testing.T, s *engine.Session) error {
	snap, err := s.Snapshot(within(t))
	if err != nil {
		return err
	}
	b, err := engine.Open(within(t), drivers(t), &engine.Options{From: snap})
	if err != nil {
		return errors.Join(err, snap.Close())
	}
	if err := snap.Close(); err != nil {
		return errors.Join(err, b.Close())
	}
	// The interpreter was between two runs: its variable and the file are of one of them.
	out, err := b.Exec(within(t), "n >= 0", &engine.RunOptions{Interpreter: engine.InterpreterSession})
	if err == nil && out.Result.Value != "True" {
		err = fmt.Errorf("%+v: %s", out.Result, out.Stderr)
	}
	if err == nil {
		_, err = b.RunCode(within(t), "ls > /dev/null", &engine.RunOptions{Type: engine.Shell})
	}
	return errors.Join(err, b.Close())
}

// A session that is closed while everything is under way leaves nothing, and says so in one way.
func TestClose_UnderLoad(t *testing.T) {
	for range 5 {
		s, err := engine.Open(t.Context(), drivers(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, opts := range []*engine.RunOptions{
			{Type: engine.Shell}, {}, {Interpreter: engine.InterpreterSession}, {Interpreter: engine.InterpreterSession},
		} {
			script := "while True: pass"
			if opts.Type == engine.Shell {
				script = "while :; do :; done"
			}
			all.Go(func() {
				out, err := s.Exec(within(t), script, opts)
				if err != nil && !errors.Is(err, engine.ErrClosed) || err == nil && out.Result.Reason != engine.ReasonCancelled {
					t.Errorf("%+v: %+v, %v", opts, out, err)
				}
			})
		}
		all.Go(func() {
			snap, err := s.Snapshot(within(t))
			if err == nil {
				err = snap.Close()
			}
			if err != nil && !errors.Is(err, engine.ErrClosed) {
				t.Errorf("Snapshot: %v", err)
			}
		})
		time.Sleep(20 * time.Millisecond)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}
