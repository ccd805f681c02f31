package engine

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"
)

var allSignals = []Signal{SignalInterrupt, SignalTerminate, SignalKill}

// counts is a script that writes a line for each interrupt, and ends with code 7 at the third.
func counts(g *guest) Exit {
	_, _ = io.WriteString(g.Stdout, "ready\n")
	for range 3 {
		select {
		case <-g.interrupts:
			_, _ = io.WriteString(g.Stdout, "interrupt\n")
		case <-g.stop:
			return Exit{Code: 1}
		}
	}
	return Exit{Code: 7}
}

func TestProcess_SignalInterrupt(t *testing.T) {
	s := openWith(t, script(counts), nil)
	p := start(t, s, "x", nil)
	lines := 0
	for range p.StdoutLines() {
		if lines++; lines <= 3 {
			if err := p.Signal(SignalInterrupt); err != nil {
				t.Errorf("Signal: %v", err)
			}
		}
	}
	r, err := p.Wait(t.Context())
	if err != nil || lines != 4 || r.Reason != ReasonExited || r.ExitCode != 7 {
		t.Errorf("%d lines, %+v, %v", lines, r, err)
	}
}

func TestProcess_SignalEnds(t *testing.T) {
	for sig, want := range map[Signal]time.Duration{SignalTerminate: graceWasm, SignalKill: 0} {
		s, d := open(t, nil)
		p := start(t, s, "stubborn", nil)
		if err := p.Signal(sig); err != nil {
			t.Errorf("Signal(%s): %v", sig, err)
		}
		r, err := p.Wait(t.Context())
		if err != nil || r.Reason != ReasonCancelled || r.ExitCode != codeKilled {
			t.Errorf("after %s: %+v, %v", sig, r, err)
		}
		if !slices.Equal(d.stops, []time.Duration{want}) {
			t.Errorf("%s: the driver is asked for a stop within %v, want %v", sig, d.stops, want)
		}
	}
}

// The reason of a run that is being stopped stays when it is then killed.
func TestProcess_SignalKillAfterAStop(t *testing.T) {
	s, d := open(t, nil)
	p := start(t, s, "stubborn", nil)
	p.stop(ReasonOutput)
	for _, sig := range allSignals {
		if err := p.Signal(sig); err != nil {
			t.Errorf("Signal(%s): %v", sig, err)
		}
	}
	if r, err := p.Wait(t.Context()); err != nil || r.Reason != ReasonOutput {
		t.Errorf("%+v, %v", r, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.stops, 0) {
		t.Errorf("it was never forced: %v", d.stops)
	}
}

// An interrupt is no part of a stop: a script that cleans up is not disturbed.
func TestProcess_SignalInterruptWhileStopping(t *testing.T) {
	interrupts := make(chan int, 1)
	s := openWith(t, script(func(g *guest) Exit {
		<-g.kill
		interrupts <- len(g.interrupts)
		return Exit{}
	}), nil)
	p := start(t, s, "x", nil)
	p.Kill()
	if err := p.Signal(SignalInterrupt); err != nil {
		t.Errorf("Signal: %v", err)
	}
	<-p.Done()
	if n := <-interrupts; n != 0 {
		t.Errorf("%d interrupts reach a run that is being stopped", n)
	}
}

func TestProcess_SignalAfterTheEnd(t *testing.T) {
	s, d := open(t, nil)
	p := start(t, s, "hello", nil)
	<-p.Done()
	for _, sig := range allSignals {
		if err := p.Signal(sig); err != nil {
			t.Errorf("Signal(%s): %v", sig, err)
		}
	}
	wantField(t, "Signal(hup)", p.Signal("hup"), "Signal")
	if r, err := p.Wait(t.Context()); err != nil || r.Reason != ReasonExited || len(d.stops) > 0 {
		t.Errorf("%+v, %v; the driver is asked for %v", r, err, d.stops)
	}
}

func TestProcess_SignalUnknown(t *testing.T) {
	s, d := open(t, nil)
	p := start(t, s, "sleep", nil)
	for _, sig := range []Signal{"", "hup", "Interrupt", "SIGINT", "9"} {
		wantField(t, "Signal("+string(sig)+")", p.Signal(sig), "Signal")
	}
	d.mu.Lock()
	if len(d.stops) > 0 {
		t.Errorf("the driver is asked for %v", d.stops)
	}
	d.mu.Unlock()
	p.Kill()
	<-p.Done()
}

func TestProcess_SignalInterruptNotAvailable(t *testing.T) {
	d := newFake(basics)
	d.deaf = true
	s := openWith(t, d, nil)
	p := start(t, s, "stubborn", nil)
	wantErr(t, "Signal(interrupt)", p.Signal(SignalInterrupt), ErrNotAvailable)
	if err := p.Signal(SignalKill); err != nil {
		t.Errorf("Signal(kill): %v", err)
	}
	<-p.Done()
	if err := p.Signal(SignalInterrupt); err != nil {
		t.Errorf("Signal(interrupt) after the end: %v", err)
	}
}

// starting gives the run that the session is starting.
func starting(t *testing.T, s *Session) *Process {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.runs {
		return p
	}
	t.Fatal("no run is being started")
	return nil
}

// What comes while a run is being started reaches it when it has begun, in the tier where it then runs.
func TestProcess_SignalWhileStarting(t *testing.T) {
	needsNative := map[string]*fakeRefusal{"x": {NeedsNativeError{Module: "m"}, RefuseDoubtful}}
	for _, tt := range []struct {
		name    string
		sig     Signal
		deaf    bool
		refused bool
		want    Reason
		code    int
	}{
		{"interrupt", SignalInterrupt, false, false, ReasonExited, 7},
		{"interrupt, and another tier", SignalInterrupt, false, true, ReasonExited, 7},
		{"interrupt that the tier does not know", SignalInterrupt, true, false, ReasonCancelled, codeKilled},
		{"kill", SignalKill, false, false, ReasonCancelled, codeKilled},
		{"terminate", SignalTerminate, false, false, ReasonCancelled, codeKilled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			scripts := map[string]func(*guest) Exit{"x": func(g *guest) Exit {
				select {
				case <-g.interrupts:
					return Exit{Code: 7}
				case <-g.stop:
					return Exit{Code: 1}
				}
			}}
			wasm, native := newFake(scripts), newFake(scripts)
			native.tier = TierNative
			wasm.deaf = tt.deaf
			if tt.refused {
				wasm.refuses = needsNative
			}
			s := openTiers(t, &Options{PythonTier: TierAuto}, wasm, native)
			first := true
			wasm.starts = func(context.Context) error {
				if err := starting(t, s).Signal(tt.sig); err != nil {
					t.Errorf("Signal: %v", err)
				}
				first = false
				return nil
			}
			p := start(t, s, "x", nil)
			if first {
				t.Fatal("the run was not started where the test looks")
			}
			r, err := p.Wait(t.Context())
			if err != nil || r.Reason != tt.want || r.ExitCode != tt.code || (r.Tier == TierNative) != tt.refused {
				t.Errorf("%+v, %v", r, err)
			}
			if tt.sig == SignalKill && !slices.Equal(wasm.stops, []time.Duration{0}) {
				t.Errorf("stopped within %v", wasm.stops)
			}
		})
	}
}

// Signals from many goroutines, while runs begin and end.
func TestProcess_SignalHammer(t *testing.T) {
	s, _ := open(t, nil)
	var all sync.WaitGroup
	for i := range 200 {
		name := []string{"hello", "sleep", "stubborn"}[i%3]
		p := start(t, s, name, nil)
		for _, sig := range allSignals {
			all.Go(func() {
				if err := p.Signal(sig); err != nil {
					t.Errorf("Signal(%s): %v", sig, err)
				}
			})
		}
		all.Go(func() { <-p.Done() })
	}
	all.Wait()
}
