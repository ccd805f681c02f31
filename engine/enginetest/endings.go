package enginetest

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// soon is a timeout that a script reaches after it has begun.
const soon = time.Second

var endingTests = []test{
	{"timeout", func(t *testing.T, s *suite) { // cases C013, C123, C124
		session := s.open(t, nil)
		runs := map[string]*engine.Process{}
		for name, script := range map[string]string{"sleep": s.scripts.sleep, "busy": s.scripts.busy, "stubborn": s.scripts.stubborn} {
			runs[name] = s.start(t, session, script, &engine.RunOptions{Timeout: soon})
		}
		for name, p := range runs {
			out, err := p.Communicate(within(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			wantEnd(t, out.Result, engine.ReasonTimeout, 124)
			if !strings.HasPrefix(string(out.Stdout), "before\n") {
				t.Errorf("%s: what was written before is lost: %q", name, out.Stdout)
			}
			if out.Result.WallTime < soon/2 { // it is measured from when the script began, a moment after the clock
				t.Errorf("%s ran for %v of %v", name, out.Result.WallTime, soon)
			}
		}
	}},
	{"timeout of the session", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Timeout: soon})
		wantEnd(t, s.exec(t, session, s.scripts.sleep, nil).Result, engine.ReasonTimeout, 124)
		// A longer one of the run counts, and a very long one does not overflow.
		for _, timeout := range []time.Duration{engine.NoTimeout, engine.NoTimeout - 1, 365 * 24 * time.Hour} {
			if got := s.output(t, session, s.scripts.hello, &engine.RunOptions{Timeout: timeout}); got != "hello\n" {
				t.Errorf("timeout %v: %q", timeout, got)
			}
		}
	}},
	{"timeout of an instant", func(t *testing.T, s *suite) { // cases C159
		session := s.open(t, nil)
		for range 20 {
			r := s.exec(t, session, s.scripts.busy, &engine.RunOptions{Timeout: 1}).Result
			wantEnd(t, r, engine.ReasonTimeout, 124)
		}
	}},
	{"kill", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		var runs []*engine.Process
		for _, script := range []string{s.scripts.sleep, s.scripts.busy, s.scripts.stubborn, s.scripts.flood} {
			for _, delay := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
				p := s.start(t, session, script, nil)
				time.Sleep(delay)
				p.Kill()
				p.Kill()
				runs = append(runs, p)
			}
		}
		for _, p := range runs {
			wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
		}
	}},
	{"context", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p, err := session.Run(ctx, s.scripts.busy, s.options(nil))
		if err != nil {
			t.Fatalf("Run: %v", err)
		}
		time.AfterFunc(100*time.Millisecond, cancel)
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
	}},
	{"a wait that is given up does not end the run", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.sleep, nil)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := p.Wait(ctx)
		wantErr(t, "Wait", err, context.Canceled)
		select {
		case <-p.Done():
			t.Error("the run has ended")
		default:
		}
		p.Kill()
		wait(t, p)
	}},
	{"the script may save what it has", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.save, nil)
		stdout := p.Stdout()
		if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		p.Kill()
		if rest, err := io.ReadAll(stdout); string(rest) != "saved\n" || err != nil {
			t.Errorf("then %q, %v", rest, err)
		}
		wantEnd(t, wait(t, p), engine.ReasonCancelled, 137)
	}},
	{"a read of stdin", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		var runs []*engine.Process
		for range 3 {
			runs = append(runs, s.start(t, session, s.scripts.cat, &engine.RunOptions{StdinPipe: true, Timeout: soon}))
		}
		for _, p := range runs {
			wantEnd(t, wait(t, p), engine.ReasonTimeout, 124)
		}
	}},
	{"the next run is clean", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, script := range []string{s.scripts.busy, s.scripts.stubborn, s.scripts.sleep, s.scripts.flood} {
			s.exec(t, session, script, &engine.RunOptions{Timeout: 100 * time.Millisecond})
			if got := s.output(t, session, s.scripts.hello, nil); got != "hello\n" {
				t.Errorf("output %q", got)
			}
		}
	}},
}

var limitTests = []test{
	{"output", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Limits: engine.Limits{Output: 1 << 20}})
		out := s.exec(t, session, s.scripts.flood, nil)
		wantEnd(t, out.Result, engine.ReasonOutput, 137)
		if n := len(out.Stdout) + len(out.Stderr); n != 1<<20 {
			t.Errorf("%d bytes of output", n)
		}
	}},
	{"memory", func(t *testing.T, s *suite) { // cases C029
		if !s.caps.Memory {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{Memory: 128 << 20}})
		for range 2 {
			r := s.exec(t, session, s.scripts.memory, nil).Result
			wantEnd(t, r, engine.ReasonMemory, 137)
			if r.PeakMemory > 128<<20 {
				t.Errorf("it held %d bytes", r.PeakMemory)
			}
			if got := s.output(t, session, s.scripts.hello, nil); got != "hello\n" {
				t.Errorf("the next run: %q", got)
			}
		}
	}},
	{"cpu", func(t *testing.T, s *suite) {
		if !s.caps.CPU {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{CPU: 300 * time.Millisecond}})
		none := s.start(t, session, s.scripts.sleep, &engine.RunOptions{Timeout: 2 * soon}) // it takes none
		r := s.exec(t, session, s.scripts.busy, nil).Result
		if r.Reason != engine.ReasonCPU || r.ExitCode == 0 {
			t.Errorf("ended with %+v", r)
		}
		wantEnd(t, wait(t, none), engine.ReasonTimeout, 124)
	}},
	{"size of a file", func(t *testing.T, s *suite) {
		if !s.caps.FileSize {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{FileSize: 1 << 20}})
		for _, name := range []string{"f", "/tmp/f"} {
			if got := s.output(t, session, fmt.Sprintf(s.native.growf, name), nil); got != "full\n" {
				t.Errorf("%s grows without end: %q", name, got)
			}
		}
		if fi, err := session.Stat(within(t), "f"); err != nil || fi.Size != 1<<20 {
			t.Errorf("the file has %d bytes, %v", fi.Size, err)
		}
		put(t, session, "larger", strings.Repeat("x", 2<<20)) // it bounds scripts, not the caller
	}},
	{"open files", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{Limits: engine.Limits{OpenFiles: 64}})
		got := strings.TrimSpace(s.output(t, session, s.scripts.files, nil))
		if n, err := strconv.Atoi(got); err != nil || n > 64 || n < 32 {
			t.Errorf("%s open files under a limit of 64", got)
		}
		s.output(t, session, s.scripts.hello, nil)
	}},
	{"processes", func(t *testing.T, s *suite) { // cases C028
		if !s.caps.Processes || !s.caps.Native {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{Processes: 30}})
		p := s.start(t, session, s.native.children, &engine.RunOptions{Timeout: 2 * soon})
		last := 0
		for line := range p.StdoutLines() {
			if n, err := strconv.Atoi(line); err == nil {
				last = n
			}
			if last == 1 { // meanwhile
				s.output(t, s.open(t, nil), s.scripts.hello, nil)
			}
		}
		if last > 30+processSlack || last < 15 {
			t.Errorf("%d processes under a limit of 30", last)
		}
		wantEnd(t, wait(t, p), engine.ReasonTimeout, 124)
		s.output(t, session, s.scripts.hello, nil)
	}},
}

// processSlack is what a tier may give above Limits.Processes, for processes of its own in the same group.
const processSlack = 16
