package nativetests

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
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// C001: every byte passes as it is, on both streams, from both kinds of script; only the text helpers replace.
func TestC001_Bytes(t *testing.T) {
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	all = append(all, "\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\r\n\n\x00last\xe2\x98"...) // a surrogate, past the last rune, one cut off
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		if err := s.PutBytes(t.Context(), "all", all, nil); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			script string
			opts   *engine.RunOptions
		}{
			{"cat all; cat all >&2", shell(nil)},
			{"import sys\nb = open('all', 'rb').read()\nsys.stdout.buffer.write(b); sys.stderr.buffer.write(b)", python(nil)},
		} {
			out, err := s.Exec(t.Context(), tt.script, tt.opts)
			if err != nil || !bytes.Equal(out.Stdout, all) || !bytes.Equal(out.Stderr, all) {
				t.Errorf("%+v, %v; want %q on both", out, err, all)
			}
			text, err := start(t, s, tt.script, tt.opts).CommunicateText(t.Context(), "")
			if err != nil || !strings.ContainsRune(text.Stdout, '\uFFFD') || strings.ToValidUTF8(text.Stdout, "?") != text.Stdout {
				t.Errorf("text %+v, %v", text, err)
			}
		}
	})
}

// C004: the end of a run never overtakes its output, whoever writes last: the script, or a child of it, and however
// slowly it is read.
func TestC004_ExitComesLast(t *testing.T) {
	runs := 250
	if testing.Short() {
		runs = 60
	}
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		next := make(chan int)
		var workers sync.WaitGroup
		for range 16 {
			workers.Go(func() {
				for i := range next {
					n := 65_000 + i*37%4096
					script := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; printf TAIL", n)
					if i%2 == 1 {
						script = fmt.Sprintf("(head -c %d /dev/zero | tr '\\0' x; exec sh -c 'printf TAIL')", n)
					}
					complete(t, s, script, n, i%5 == 0)
				}
			})
		}
		for i := range runs {
			next <- i
		}
		close(next)
		workers.Wait()
	})
}

func complete(t *testing.T, s *engine.Session, script string, n int, slowly bool) {
	p, err := s.Run(t.Context(), script, shell(nil))
	if err != nil {
		t.Error(err)
		return
	}
	in := io.Reader(p.Stdout())
	if slowly {
		in = slow{in}
	}
	got, err := io.ReadAll(in)
	if r, waitErr := p.Wait(t.Context()); err != nil || waitErr != nil || r.ExitCode != 0 || r.StdoutBytes != int64(n+4) {
		t.Errorf("%+v, %v, %v", r, err, waitErr)
	}
	if len(got) != n+4 || !bytes.HasSuffix(got, []byte("TAIL")) {
		t.Errorf("%d bytes, want %d", len(got), n+4)
	}
}

// slow is a reader that takes its time: the script has ended long before all is read.
type slow struct{ io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(2 * time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 2048)])
}

// C005: when the init of a cell is killed behind our back, the run is lost: no exit code is made up, what came is
// there, and the session goes on. When it is stopped, the timeout ends the run all the same.
func TestC005_InitKilled(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		nothingMore(t)
		s := open(t, d, nil)
		for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			mark := marker()
			p := start(t, s, "echo started; sleep "+mark+"; echo finished", shell(&engine.RunOptions{Timeout: time.Second}))
			init := initOf(t, awaitText(t, "sleep "+mark, 1)[0])
			if err := syscall.Kill(init, sig); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			out, err := p.Communicate(ctx, nil)
			if out == nil {
				t.Fatalf("%v: %v", sig, err)
			}
			if string(out.Stdout) != "started\n" {
				t.Errorf("%v: stdout %q", sig, out.Stdout)
			}
			switch {
			case sig == syscall.SIGKILL && (!errors.Is(err, engine.ErrLost) || out.Result.Reason != engine.ReasonLost || out.Result.ExitCode != engine.Unknown):
				t.Errorf("%v: %+v, %v", sig, out.Result, err)
			case sig == syscall.SIGSTOP && (err != nil || out.Result.Reason != engine.ReasonTimeout):
				t.Errorf("%v: %+v, %v", sig, out.Result, err)
			}
			noneLeft(t, "sleep "+mark)
			stillWorks(t, s)
		}
	})
}

// initOf returns the init of the cell that a process is in: the last one of its ancestors that has our argument,
// bwrap aside, which has it too.
func initOf(tb testing.TB, p process) int {
	tb.Helper()
	for pid := p.parent; pid > 1; {
		q, err := processOf(pid)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.Contains(q.command, "sandbar-cell-init serve") {
			return pid
		}
		pid = q.parent
	}
	tb.Fatalf("no init above %v", p)
	return 0
}

// C006: a chatty script does not fill the host's memory, and does not stop other sessions.
func TestC006_Unbounded(t *testing.T) {
	size := int64(2 << 30)
	if testing.Short() {
		size = 256 << 20
	}
	each(t, func(t *testing.T, d *native.Driver) {
		s, other := open(t, d, &engine.Options{Timeout: patience}), open(t, d, nil)
		p := start(t, s, fmt.Sprintf("yes 0123456789abcdef | head -c %d", size), shell(nil))
		ended := make(chan engine.Result, 1)
		go func() {
			r, err := p.Wait(context.Background())
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		var most uint64
		for {
			select {
			case r := <-ended:
				if r.ExitCode != 0 || !r.Truncated || r.StdoutBytes != size {
					t.Errorf("%+v", r)
				}
				if most > 128<<20 {
					t.Errorf("the heap grew to %d MiB", most>>20)
				}
				return
			case <-time.After(50 * time.Millisecond):
				stillWorks(t, other)
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapInuse)
			}
		}
	})
}

// C008: a script that fills one stream ends whatever the caller does with each of the two.
func TestC008_OneStream(t *testing.T) {
	uses := map[string]func(io.ReadCloser){
		"read":   func(r io.ReadCloser) { _, _ = io.Copy(io.Discard, r) },
		"closed": func(r io.ReadCloser) { r.Close() },
		"kept":   nil,
	}
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, script := range []string{"head -c 300000 /dev/zero | tr '\\0' e >&2; echo out", "head -c 300000 /dev/zero | tr '\\0' o; echo err >&2"} {
			for outName, out := range uses {
				for errName, err := range uses {
					t.Run(outName+" "+errName, func(t *testing.T) {
						p := start(t, s, script, shell(nil))
						var wg sync.WaitGroup
						if out != nil {
							r := p.Stdout()
							wg.Go(func() { out(r) })
						}
						if err != nil {
							r := p.Stderr()
							wg.Go(func() { err(r) })
						}
						wg.Wait()
						r := result(t, p, patience)
						ended(t, r, engine.ReasonExited, 0)
						if r.StdoutBytes+r.StderrBytes != 300_004 {
							t.Errorf("%+v", r)
						}
					})
				}
			}
		}
	})
}

// C009: a background child that keeps stdout open does not keep the run, and is gone with it.
func TestC009_BackgroundHoldsStdout(t *testing.T) {
	mark := marker()
	scripts := map[string]string{
		"plain":   "sleep " + mark + " & echo hi",
		"setsid":  "setsid sleep " + mark + " & echo hi",
		"nohup":   "nohup sleep " + mark + " 2>/dev/null & echo hi",
		"deep":    "(((sleep " + mark + " &) &) &); echo hi",
		"coproc":  "coproc sleep " + mark + "; echo hi",
		"other":   "sleep " + mark + " 3>&1 1>/dev/null & echo hi",
		"stopped": "sleep " + mark + " & kill -STOP $!; echo hi",
		"exec":    "sleep " + mark + " & exec echo hi",
		"deaf":    "(trap '' TERM INT HUP; exec sleep " + mark + ") & echo hi",
	}
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for name, script := range scripts {
			t.Run(name, func(t *testing.T) {
				p := start(t, s, script, shell(nil))
				out, err := p.Communicate(t.Context(), nil)
				if err != nil || string(out.Stdout) != "hi\n" {
					t.Fatalf("%+v, %v", out, err)
				}
				ended(t, out.Result, engine.ReasonExited, 0)
				if left := withText("sleep " + mark); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
		out := exec(t, s, "import subprocess, os\nsubprocess.Popen(['sleep', '"+mark+"'], start_new_session=True)\nprint('hi')", python(nil))
		if out.Stdout != "hi\n" || len(withText("sleep "+mark)) > 0 {
			t.Errorf("%+v, left: %v", out, withText("sleep "+mark))
		}
	})
}

// C011: the last line is delivered once although it has no newline: at the end, and at a timeout.
func TestC011_NoNewline(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, tail := range []string{"", "; sleep 1000"} {
			const script = "printf 'one\\ntwo'; printf 'e1\\ne2' >&2"
			out := exec(t, s, script+tail, shell(&engine.RunOptions{Timeout: time.Second}))
			if out.Stdout != "one\ntwo" || out.Stderr != "e1\ne2" {
				t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
			}
			p := start(t, s, script+tail, shell(&engine.RunOptions{Timeout: time.Second}))
			got := append(slices.Collect(p.StdoutLines()), slices.Collect(p.StderrLines())...)
			if want := []string{"one", "two", "e1", "e2"}; !slices.Equal(got, want) {
				t.Errorf("lines %q, want %q", got, want)
			}
		}
	})
}

// C013: what native Python printed before the deadline is there, whichever way it was printed.
func TestC013_PythonAtTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		var all []*engine.Process
		for _, say := range []string{
			"print('step 1')", "print('step 1', end='')", "sys.stdout.write('step 1')", "sys.stdout.buffer.write(b'step 1')",
			"print('step 1'); signal.signal(signal.SIGINT, signal.SIG_IGN)", "os.write(1, b'step 1')", "print('step 1'); os.kill(os.getpid(), signal.SIGSTOP)",
		} {
			all = append(all, start(t, s, "import os, signal, sys, time\n"+say+"\ntime.sleep(1000)", python(&engine.RunOptions{Timeout: 2 * time.Second})))
		}
		for _, p := range all {
			out, err := p.CommunicateText(t.Context(), "")
			if err != nil || strings.TrimSpace(out.Stdout) != "step 1" || out.Result.Reason != engine.ReasonTimeout || out.Result.ExitCode != 124 {
				t.Errorf("%+v, %v", out, err)
			}
		}
	})
}

// C014: each stream keeps its own order and whole lines.
func TestC014_Order(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		s := open(t, d, nil)
		for _, tt := range []struct {
			script string
			opts   *engine.RunOptions
		}{
			{"for i in $(seq 1 2000); do echo o$i; echo e$i >&2; done", shell(nil)},
			{"import sys\nfor i in range(1, 2001):\n    print(f'o{i}')\n    print(f'e{i}', file=sys.stderr)", python(nil)},
			{"for i in $(seq 1 100); do /bin/echo o$i; /bin/echo e$i >&2; done; for i in $(seq 101 2000); do echo o$i; echo e$i >&2; done", shell(nil)},
		} {
			out := exec(t, s, tt.script, tt.opts)
			for name, text := range map[string]string{"o": out.Stdout, "e": out.Stderr} {
				var want strings.Builder
				for i := range 2000 {
					fmt.Fprintf(&want, "%s%d\n", name, i+1)
				}
				if text != want.String() {
					t.Errorf("stream %s is out of order", name)
				}
			}
		}
	})
}
