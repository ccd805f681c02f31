package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A screenLine is a terminal of one line: what is on it after carriage returns.
type screenLine struct {
	mu   sync.Mutex
	line []byte
	col  int
	wide int
}

func (s *screenLine) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range b {
		if c == '\r' {
			s.col = 0
			continue
		}
		if s.col == len(s.line) {
			s.line = append(s.line, ' ')
		}
		s.line[s.col] = c
		s.col++
		s.wide = max(s.wide, s.col)
	}
	return len(b), nil
}

func (s *screenLine) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.line), " ")
}

func TestProgress_ShowsAndVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screenLine
		p := &progress{w: &s, columns: 80}
		p.step("compiling the interpreter", 0, 2)
		synctest.Wait()
		if s.String() != "" {
			t.Errorf("at once there is %q, want nothing", s.String())
		}
		time.Sleep(1200 * time.Millisecond)
		if got, want := s.String(), "sandbar: first use, preparing Python: compiling the interpreter, 1 of 2 (1 s)"; got != want {
			t.Errorf("after a second there is %q, want %q", got, want)
		}
		p.step("image", 1, 2)
		time.Sleep(time.Second)
		if got, want := s.String(), "sandbar: first use, preparing Python: image, 2 of 2 (2 s)"; got != want {
			t.Errorf("after two seconds there is %q, want %q", got, want)
		}
		p.close()
		if got := s.String(); got != "" {
			t.Errorf("after the end there is %q, want nothing", got)
		}
		p.step("too late", 0, 1)
		p.close()
		time.Sleep(time.Second)
		if got := s.String(); got != "" {
			t.Errorf("a late step shows %q", got)
		}
	})
}

func TestProgress_NarrowTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screenLine
		p := &progress{w: &s, columns: 20}
		p.step(strings.Repeat("long ", 20), 0, 1)
		time.Sleep(time.Second)
		p.close()
		if s.wide >= 20 {
			t.Errorf("wrote %d columns on a terminal of 20", s.wide)
		}
		if got := s.String(); got != "" {
			t.Errorf("%q is left", got)
		}
	})
}

// Without a terminal, or for what is quick, not a byte is written.
func TestProgress_Silent(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := newProgress(f)
	p.step("compiling", 0, 1)
	time.Sleep(2 * progressDelay)
	p.close()
	if st, err := f.Stat(); err != nil || st.Size() != 0 {
		t.Errorf("%d bytes in a file that is no terminal (%v)", st.Size(), err)
	}

	var b bytes.Buffer
	quick := &progress{w: &b, columns: 80}
	quick.step("compiling", 0, 1)
	quick.close()
	if b.Len() != 0 {
		t.Errorf("a quick step wrote %q", b.String())
	}
}
