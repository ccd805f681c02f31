package cases

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

// C001: bytes that are not UTF-8 pass as they are; only the text helpers replace.
func TestOutput_NotUTF8(t *testing.T) {
	session := open(t, nil)
	const script = `
import sys
sys.stdout.buffer.write(b"ok\377\376\n")
print("after")
sys.stderr.buffer.write(b"err\303(\n\0\r")
`
	out, err := session.Exec(t.Context(), script, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out.Stdout), "ok\377\376\nafter\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got, want := string(out.Stderr), "err\303(\n\x00\r"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	p, err := session.Run(t.Context(), script, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.CommunicateText(t.Context(), "")
	if err != nil || text.Result.ExitCode != 0 {
		t.Fatalf("%+v, %v", text, err)
	}
	if want := "ok\uFFFD\nafter\n"; strings.ReplaceAll(text.Stdout, "\uFFFD\uFFFD", "\uFFFD") != want {
		t.Errorf("text %q, want %q", text.Stdout, want)
	}
}

// C004: the end of a run never overtakes its output. 500 runs, 32 at a time, of changing length.
func TestOutput_ExitComesLast(t *testing.T) {
	session := open(t, nil)
	runs := 500
	if testing.Short() {
		runs = 100
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for i := range next {
				n := 65_000 + i*37%4096
				p, err := session.Run(t.Context(), fmt.Sprintf("import sys; sys.stdout.write('x' * %d); sys.stdout.write('TAIL')", n), nil)
				if err != nil {
					t.Error(err)
					continue
				}
				got, err := io.ReadAll(p.Stdout())
				if err != nil {
					t.Error(err)
				}
				if result, err := p.Wait(t.Context()); err != nil || result.ExitCode != 0 || result.StdoutBytes != int64(n+4) {
					t.Errorf("run %d: %+v, %v", i, result, err)
				}
				if len(got) != n+4 || !bytes.HasSuffix(got, []byte("TAIL")) {
					t.Errorf("run %d: %d bytes, want %d", i, len(got), n+4)
				}
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	workers.Wait()
}

// C006: a chatty script does not fill the host's memory, and does not stop other runs.
func TestOutput_Unbounded(t *testing.T) {
	session := open(t, nil)
	size := int64(1 << 30)
	if testing.Short() {
		size = 128 << 20
	}
	noisy := make(chan *engine.Output, 1)
	go func() {
		out, err := session.Exec(t.Context(), fmt.Sprintf("import sys\nblock = b'0123456789abcde\\n' * 65536\nfor _ in range(%d): sys.stdout.buffer.write(block)", size>>20), &engine.RunOptions{Timeout: patience})
		if err != nil {
			t.Error(err)
		}
		noisy <- out
	}()
	mustStillWork(t, session)
	var most uint64
	var out *engine.Output
	for out == nil {
		select {
		case out = <-noisy:
			if out == nil {
				return
			}
		case <-time.After(20 * time.Millisecond):
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapInuse)
		}
	}
	if out.Result.ExitCode != 0 || !out.Result.Truncated || out.Result.StdoutBytes != size || len(out.Stdout) != 8<<20 {
		t.Errorf("kept %d bytes: %+v", len(out.Stdout), out.Result)
	}
	if most > 256<<20 {
		t.Errorf("the heap grew to %d MiB", most>>20)
	}
	t.Logf("%d MiB written, heap at most %d MiB", size>>20, most>>20)
}

// C008: whichever stream is read, the other does not block the script.
func TestOutput_BothStreams(t *testing.T) {
	const script = "import sys\nsys.stderr.write('e' * 300000)\nprint('out')\nsys.stderr.write('e' * 300000)\nsys.stdout.write('o' * 300000)"
	session := open(t, nil)
	for _, tt := range []struct {
		name string
		read func(p *engine.Process) (int, error)
		want int
	}{
		{"nothing", func(*engine.Process) (int, error) { return 0, nil }, 0},
		{"stdout", func(p *engine.Process) (int, error) { b, err := io.ReadAll(p.Stdout()); return len(b), err }, 300004},
		{"stderr", func(p *engine.Process) (int, error) { b, err := io.ReadAll(p.Stderr()); return len(b), err }, 600000},
		{"one after the other", func(p *engine.Process) (int, error) {
			b, err := io.ReadAll(p.Stderr())
			if err != nil {
				return 0, err
			}
			c, err := io.ReadAll(p.Stdout())
			return len(b) + len(c), err
		}, 900004},
		{"closed", func(p *engine.Process) (int, error) { return 0, p.Stdout().Close() }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := session.Run(t.Context(), script, nil)
			if err != nil {
				t.Fatal(err)
			}
			type outcome struct {
				n   int
				err error
			}
			read := make(chan outcome, 1)
			go func() {
				n, err := tt.read(p)
				read <- outcome{n, err}
			}()
			select {
			case got := <-read:
				if got.err != nil || got.n != tt.want {
					t.Errorf("read %d bytes, %v, want %d", got.n, got.err, tt.want)
				}
			case <-time.After(patience):
				t.Fatal("the script waits for a reader that does not come")
			}
			if result, err := p.Wait(t.Context()); err != nil || result.ExitCode != 0 || result.StderrBytes != 600000 {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// C011, C013: what was written before the deadline is delivered, also a line without its newline and text
// that Python itself still holds, and a line iterator gives the last line once.
func TestOutput_TailAtTimeout(t *testing.T) {
	session := open(t, nil)
	const script = "import sys, time\nsys.stdout.write('one\\ntwo')\nsys.stderr.write('e1\\ne2')\ntime.sleep(60)"
	out := exec(t, session, script, &engine.RunOptions{Timeout: time.Second})
	if out.Result.Reason != engine.ReasonTimeout || out.Stdout != "one\ntwo" || !strings.HasPrefix(out.Stderr, "e1\ne2") {
		t.Errorf("stdout %q, stderr %q, reason %s", out.Stdout, out.Stderr, out.Result.Reason)
	}
	p, err := session.Run(t.Context(), script, &engine.RunOptions{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range p.StdoutLines() {
		got = append(got, line)
	}
	if strings.Join(got, "|") != "one|two" {
		t.Errorf("lines %q", got)
	}
	out = exec(t, session, "import time\nprint('step 1')\ntime.sleep(60)", &engine.RunOptions{Timeout: time.Second})
	if out.Stdout != "step 1\n" || out.Result.Reason != engine.ReasonTimeout {
		t.Errorf("stdout %q, reason %s", out.Stdout, out.Result.Reason)
	}
}

// C014: each stream keeps its own order and whole lines.
func TestOutput_Order(t *testing.T) {
	out := exec(t, open(t, nil), "import sys\nfor i in range(2000):\n    print(f'o{i}')\n    print(f'e{i}', file=sys.stderr)", nil)
	for name, text := range map[string]string{"o": out.Stdout, "e": out.Stderr} {
		var want strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&want, "%s%d\n", name, i)
		}
		if text != want.String() {
			t.Errorf("stream %s is out of order", name)
		}
	}
}
