package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

var streamTests = []test{
	{"bytes are exact", func(t *testing.T, s *suite) { // cases C001
		session := s.open(t, nil)
		if got := s.output(t, session, s.scripts.bytes, nil); got != rawBytes {
			t.Errorf("output %q, want %q", got, rawBytes)
		}
		text, err := s.start(t, session, s.scripts.bytes, nil).CommunicateText(within(t), "")
		if want := "ok\uFFFD\x00\r\nlast\uFFFD"; err != nil || text.Stdout != want {
			t.Errorf("text %+v, %v; want %q", text, err, want)
		}
	}},
	{"both", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		out := s.exec(t, session, fmt.Sprintf(s.scripts.bothf, "to out", "to err"), nil)
		if string(out.Stdout) != "to out" || string(out.Stderr) != "to err" {
			t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
		}
	}},
	{"complete at the end", func(t *testing.T, s *suite) { // cases C004
		session := s.open(t, nil)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 8 {
					n := []int{0, 1, 65535, 65536, 65537, 300_000, 8191, 4096}[j] + i
					got := s.output(t, session, fmt.Sprintf(s.scripts.bigf, n), nil)
					if len(got) != n+4 || !strings.HasSuffix(got, "TAIL") {
						t.Errorf("%d bytes of %d", len(got), n+4)
					}
				}
			})
		}
		wg.Wait()
	}},
	{"kept up to MaxOutput", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{MaxOutput: 100_000})
		script := fmt.Sprintf(s.scripts.bigf, 3_000_000)
		out := s.exec(t, session, script, nil)
		wantEnd(t, out.Result, engine.ReasonExited, 0)
		if len(out.Stdout) != 100_000 || !out.Result.Truncated || out.Result.StdoutBytes != 3_000_004 {
			t.Errorf("%d bytes, %+v", len(out.Stdout), out.Result)
		}
		out = s.exec(t, session, script, &engine.RunOptions{MaxOutput: -1})
		if len(out.Stdout) != 3_000_004 || out.Result.Truncated {
			t.Errorf("without a cap: %d bytes, %+v", len(out.Stdout), out.Result)
		}
	}},
	{"streamed without loss", func(t *testing.T, s *suite) {
		session := s.open(t, &engine.Options{MaxOutput: 10})
		const size = 20_000_000
		p := s.start(t, session, fmt.Sprintf(s.scripts.bigf, size), nil)
		out := p.Stdout()
		head := make([]byte, 1000)
		if _, err := io.ReadFull(out, head); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, out)
		if err != nil || n != size+4-1000 {
			t.Errorf("then %d bytes, %v", n, err)
		}
		if r := wait(t, p); r.Truncated || r.StdoutBytes != size+4 {
			t.Errorf("result %+v", r)
		}
	}},
	{"only one of them is read", func(t *testing.T, s *suite) { // cases C008
		session := s.open(t, nil)
		p := s.start(t, session, fmt.Sprintf(s.scripts.bigErrf, 300_000), nil)
		if got, err := io.ReadAll(p.Stdout()); string(got) != "out\n" || err != nil {
			t.Errorf("stdout %q, %v", got, err)
		}
		if r := wait(t, p); r.StderrBytes != 300_000 {
			t.Errorf("result %+v", r)
		}
	}},
	{"lines", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, fmt.Sprintf(s.scripts.linesf, 1000), nil)
		i := 0
		for line := range p.StdoutLines() {
			if want := fmt.Sprint("line ", i); line != want {
				t.Fatalf("line %q, want %q", line, want)
			}
			i++
		}
		if i != 1000 {
			t.Errorf("%d lines", i)
		}
	}},
	{"lines before the end of the run", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.save, nil)
		for line := range p.StdoutLines() {
			if line != "ready" {
				t.Errorf("line %q", line)
			}
			break
		}
		p.Kill()
		wait(t, p)
	}},
	{"last line without a newline", func(t *testing.T, s *suite) { // cases C011
		session := s.open(t, nil)
		p := s.start(t, session, fmt.Sprintf(s.scripts.bothf, "one two", "e1 e2"), nil)
		got := append(slices.Collect(p.StdoutLines()), slices.Collect(p.StderrLines())...)
		if want := []string{"one two", "e1 e2"}; !slices.Equal(got, want) {
			t.Errorf("lines %q, want %q", got, want)
		}
	}},
	{"a reader that closes lets the script go on", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, fmt.Sprintf(s.scripts.bigf, 20_000_000), nil)
		p.Stdout().Close()
		wantEnd(t, wait(t, p), engine.ReasonExited, 0)
	}},
	{"a reader that does not read holds the script", func(t *testing.T, s *suite) { // cases C142
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.flood, &engine.RunOptions{Timeout: time.Second})
		p.Stdout()
		r := wait(t, p) // the timeout ends it all the same
		wantEnd(t, r, engine.ReasonTimeout, 124)
		if r.StdoutBytes == 0 {
			t.Error("nothing was written")
		}
	}},
}

// hostTests look at what a run does to this process.
var hostTests = []test{
	{"a flood takes no memory", func(t *testing.T, s *suite) { // cases C006
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.flood, nil)
		go func() { _, _ = p.Wait(context.Background()) }()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		time.Sleep(500 * time.Millisecond)
		runtime.GC()
		runtime.ReadMemStats(&after)
		p.Kill()
		r := wait(t, p)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
			t.Errorf("the heap grew by %d bytes while the script wrote %d", grown, r.StdoutBytes)
		}
	}},
}

var stdinTests = []test{
	{"none is the end at once", func(t *testing.T, s *suite) { // cases C023
		session := s.open(t, nil)
		if got := s.output(t, session, s.scripts.cat, nil); got != "" {
			t.Errorf("read %q", got)
		}
		s.exec(t, session, s.scripts.line, nil)
	}},
	{"reader", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, n := range []int{0, 1, 65536, 3_000_000} {
			in := strings.Repeat("i", n)
			for _, r := range []io.Reader{strings.NewReader(in), io.MultiReader(strings.NewReader(in))} {
				if got := s.output(t, session, s.scripts.cat, &engine.RunOptions{Stdin: r}); got != in && len(got) <= engine.DefaultMaxOutput {
					t.Errorf("%d bytes of %d arrive", len(got), n)
				}
			}
		}
	}},
	{"communicate", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.cat, &engine.RunOptions{StdinPipe: true})
		out, err := p.Communicate(within(t), []byte(rawBytes))
		if err != nil || string(out.Stdout) != rawBytes {
			t.Errorf("%+v, %v", out, err)
		}
	}},
	{"conversation", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		p := s.start(t, session, s.scripts.line, &engine.RunOptions{StdinPipe: true})
		go func() { _, _ = io.WriteString(p.Stdin(), "hey\n") }()
		for line := range p.StdoutLines() {
			if line != "got hey" {
				t.Errorf("line %q", line)
			}
			break
		}
		wantEnd(t, wait(t, p), engine.ReasonExited, 0) // although the pipe is open
		if _, err := p.Stdin().Write(bytes.Repeat([]byte("x"), 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write after the end: %v", err)
		}
	}},
	{"a script that does not read ends", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		r, w := io.Pipe()
		defer func() { _ = w.Close() }()
		if got := s.output(t, session, s.scripts.hello, &engine.RunOptions{Stdin: r}); got != "hello\n" {
			t.Errorf("output %q", got)
		}
		p := s.start(t, session, s.scripts.hello, &engine.RunOptions{StdinPipe: true})
		wantEnd(t, wait(t, p), engine.ReasonExited, 0)
	}},
}
