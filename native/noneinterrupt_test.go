//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"bufio"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// plainInterrupt sends an interrupt to a run.
func plainInterrupt(t testing.TB, p *engine.Process) {
	t.Helper()
	if err := p.Signal(engine.SignalInterrupt); err != nil {
		t.Errorf("Signal: %v", err)
	}
}

func TestNone_Interrupt(t *testing.T) {
	s := openNoneSession(t, nil)
	p := plainStart(t, s, "n=0 m=; trap 'n=$((n+1))' INT; while [ $n -lt 3 ]; do [ \"$n\" = \"$m\" ] || { m=$n; echo $n; }; sleep 0.02; done; exit 7", nil)
	lines := 0
	for range p.StdoutLines() {
		lines++
		plainInterrupt(t, p)
	}
	if lines != 3 {
		t.Errorf("%d lines", lines)
	}
	wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonExited, 7)

	for typ, script := range map[engine.ScriptType]string{
		engine.Shell:  "echo ready; while :; do :; done",
		engine.Python: "print('ready', flush=True)\nwhile True: pass",
	} {
		t.Run(string(typ), func(t *testing.T) {
			p := plainStart(t, s, script, &engine.RunOptions{Type: typ})
			for range p.StdoutLines() {
				plainInterrupt(t, p)
			}
			r := plainWait(t, p).Result
			wantPlainEnd(t, r, engine.ReasonSignaled, 130)
			if r.Signal != 2 {
				t.Errorf("signal %d", r.Signal)
			}
			plainInterrupt(t, p)
		})
	}
}

// A script that has stopped itself is let go on, to notice the interrupt.
func TestNone_InterruptStopped(t *testing.T) {
	s := openNoneSession(t, nil)
	p := plainStart(t, s, "echo ready; kill -STOP $$; echo on", nil)
	for range p.StdoutLines() {
		time.Sleep(50 * time.Millisecond)
		plainInterrupt(t, p)
	}
	wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonSignaled, 130)
}

// In a terminal an interrupt comes as SIGINT too when no character of it does.
func TestNone_InterruptTerminal(t *testing.T) {
	s := openNoneSession(t, nil)
	p := plainStart(t, s, "stty -echo -isig; trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.02; done",
		&engine.RunOptions{Terminal: &engine.TerminalSize{Rows: 24, Cols: 80}, StdinPipe: true})
	lines := bufio.NewReader(p.Stdout())
	if line, err := lines.ReadString('\n'); line != "ready\r\n" || err != nil {
		t.Errorf("first %q, %v", line, err)
	}
	plainInterrupt(t, p)
	if rest, err := io.ReadAll(lines); string(rest) != "interrupted\r\n" || err != nil {
		t.Errorf("then %q, %v", rest, err)
	}
	wantPlainEnd(t, plainWait(t, p).Result, engine.ReasonExited, 5)
}

// Interrupts race with the ends of runs: they reach nobody else.
func TestNone_InterruptHammer(t *testing.T) {
	s := openNoneSession(t, nil)
	for i := range 20 {
		p := plainStart(t, s, "echo hello", nil)
		var all sync.WaitGroup
		for j := range 4 {
			all.Go(func() {
				time.Sleep(time.Duration(i*j) * 100 * time.Microsecond)
				plainInterrupt(t, p)
			})
		}
		all.Go(func() {
			if got := plainOutput(t, s, "echo other", nil); got != "other\n" {
				t.Errorf("another run: %q", got)
			}
		})
		<-p.Done()
		all.Wait()
	}
}
