package engine

import (
	"fmt"
	"slices"
	"testing"
)

// badSizes are sizes that no terminal has: struct winsize has 16 bits for each.
var badSizes = []TerminalSize{{}, {0, 80}, {24, 0}, {-1, 80}, {24, -1}, {65536, 80}, {24, 65536}, {1 << 40, 1 << 40}}

func TestSession_Terminal(t *testing.T) {
	s := openTiers(t, nil, newNative())
	for _, size := range []TerminalSize{{1, 1}, {24, 80}, {65535, 65535}} {
		out := exec(t, s, "asked", &RunOptions{Type: Shell, Terminal: &size})
		if want := fmt.Sprint("blocked false ", size); string(out.Stdout) != want {
			t.Errorf("the driver gets %q, want %q", out.Stdout, want)
		}
	}
	for _, size := range badSizes {
		_, err := s.Run(t.Context(), "asked", &RunOptions{Type: Shell, Terminal: &size})
		wantField(t, fmt.Sprint("Run with a terminal of ", size), err, "Terminal")
	}
}

func TestSession_TerminalNeedsTheNativeTier(t *testing.T) {
	wasm := newFake(basics)
	s := openTiers(t, &Options{PythonTier: TierWasm}, wasm, newNative())
	size := &TerminalSize{24, 80}
	_, err := s.Run(t.Context(), "asked", &RunOptions{Type: Python, Terminal: size})
	wantErr(t, "a python run with a terminal", err, ErrNotAvailable)
	exec(t, s, "asked", &RunOptions{Type: Shell, Terminal: size})
	for _, tier := range []Tier{TierNative, TierAuto} {
		s = openTiers(t, &Options{PythonTier: tier}, wasm, newNative())
		if out := exec(t, s, "asked", &RunOptions{Type: Python, Terminal: size}); out.Result.Tier != TierNative {
			t.Errorf("with %s: %+v", tier, out.Result)
		}
	}
}

func TestProcess_Resize(t *testing.T) {
	d := newNative()
	s := openTiers(t, nil, d)
	p := start(t, s, "sleep", &RunOptions{Type: Shell, Terminal: &TerminalSize{24, 80}})
	want := []TerminalSize{{1, 1}, {50, 132}, {65535, 65535}}
	for _, size := range want {
		if err := p.Resize(size); err != nil {
			t.Errorf("Resize(%v): %v", size, err)
		}
	}
	for _, size := range badSizes {
		wantField(t, fmt.Sprintf("Resize(%v)", size), p.Resize(size), "Terminal")
	}
	p.Kill()
	<-p.Done()
	if err := p.Resize(TerminalSize{2, 2}); err != nil {
		t.Errorf("Resize after the end: %v", err)
	}
	wantField(t, "Resize to a bad size after the end", p.Resize(TerminalSize{}), "Terminal")
	if !slices.Equal(d.resizes, want) {
		t.Errorf("the driver is asked for %v, want %v", d.resizes, want)
	}
}

func TestProcess_ResizeWithoutATerminal(t *testing.T) {
	d := newNative()
	s := openTiers(t, nil, d)
	p := start(t, s, "sleep", &RunOptions{Type: Shell})
	wantField(t, "Resize", p.Resize(TerminalSize{24, 80}), "Terminal")
	p.Kill()
	<-p.Done()
	wantField(t, "Resize after the end", p.Resize(TerminalSize{24, 80}), "Terminal")
	if len(d.resizes) != 0 {
		t.Errorf("the driver is asked for %v", d.resizes)
	}
}
