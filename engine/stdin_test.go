package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// readAll reads as a driver does.
func readAll(in Stdin) (string, error) {
	var all []byte
	buf := make([]byte, 7)
	for {
		if err := in.Wait(nil); err != nil {
			return string(all), err
		}
		n, err := in.Read(buf, nil)
		all = append(all, buf[:n]...)
		if err != nil {
			return string(all), err
		}
	}
}

func TestStdin_Readers(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	for _, tt := range []struct {
		name string
		in   Stdin
		want string
		err  error
	}{
		{"none", noStdin{}, "", io.EOF},
		{"memory", newReaderStdin(strings.NewReader(long)), long, io.EOF},
		{"empty memory", newReaderStdin(bytes.NewReader(nil)), "", io.EOF},
		{"another reader", newReaderStdin(iotest.HalfReader(strings.NewReader(long))), long, io.EOF},
		{"data with the end", newReaderStdin(iotest.DataErrReader(strings.NewReader("abc"))), "abc", io.EOF},
		{"an error", newReaderStdin(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrNoProgress))), "abc", io.ErrNoProgress},
		{"a reader that gives nothing", newReaderStdin(emptyReader{}), "", io.ErrNoProgress},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(tt.in)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("read %d bytes, %v; want %d, %v", len(got), err, len(tt.want), tt.err)
			}
			if _, err := tt.in.Read(make([]byte, 1), nil); !errors.Is(err, tt.err) {
				t.Errorf("the second end is %v", err)
			}
		})
	}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

func TestStdin_CancelLosesNothing(t *testing.T) {
	for _, name := range []string{"reader", "pipe"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var in Stdin
				var out io.WriteCloser
				if name == "pipe" {
					p := newPipe()
					in, out = p, p
				} else {
					r, w := io.Pipe()
					in, out = newReaderStdin(r), w
				}
				for _, f := range []func(chan struct{}) error{
					func(c chan struct{}) error { return in.Wait(c) },
					func(c chan struct{}) error { _, err := in.Read(make([]byte, 9), c); return err },
				} {
					cancel := make(chan struct{})
					var err error
					go func() { err = f(cancel) }()
					synctest.Wait()
					close(cancel)
					synctest.Wait()
					if !errors.Is(err, ErrInterrupted) {
						t.Fatalf("cancelled: %v, want ErrInterrupted", err)
					}
				}
				go func() {
					_, _ = io.WriteString(out, "kept")
					out.Close()
				}()
				if got, err := readAll(in); got != "kept" || !errors.Is(err, io.EOF) {
					t.Errorf("then %q, %v", got, err)
				}
			})
		})
	}
}

// countingReader tells whether it was asked.
type countingReader struct{ asked int }

func (r *countingReader) Read([]byte) (int, error) {
	r.asked++
	return 0, io.EOF
}

func TestStdin_IsReadOnlyWhenTheScriptReads(t *testing.T) {
	s, _ := open(t, nil)
	r := &countingReader{}
	exec(t, s, "hello", &RunOptions{Stdin: r})
	if r.asked != 0 {
		t.Errorf("a script that does not read took %d reads", r.asked)
	}
}

func TestStdin_BlockedReaderDoesNotHoldTheRun(t *testing.T) {
	s, _ := open(t, nil)
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	p := start(t, s, "cat", &RunOptions{Stdin: r})
	_, _ = io.WriteString(w, "one\n")
	for line := range p.StdoutLines() {
		if line != "one" {
			t.Errorf("line %q", line)
		}
		break
	}
	p.Kill()
	<-p.Done()
}

func TestPipe_WriteBlocksAtTheBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe()
		var n int
		var err error
		done := false
		go func() {
			n, err = p.Write(make([]byte, pipeBuffer+1))
			done = true
		}()
		synctest.Wait()
		if done {
			t.Fatal("Write took more than the buffer holds")
		}
		p.end()
		synctest.Wait()
		if !done || n != pipeBuffer || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write after the end of the run = %d, %v", n, err)
		}
		if _, err := p.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a later Write: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPipe_CloseEndsABlockedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe()
		var err error
		go func() { _, err = p.Write(make([]byte, 2*pipeBuffer)) }()
		synctest.Wait()
		_ = p.Close()
		synctest.Wait()
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write = %v", err)
		}
		if got, _ := readAll(p); len(got) != pipeBuffer {
			t.Errorf("%d bytes arrive, want those that were written", len(got))
		}
	})
}

func TestPipe_Hammer(t *testing.T) {
	p := newPipe()
	var wg sync.WaitGroup
	const writers, each = 4, 20_000
	for range writers {
		wg.Go(func() {
			for i := range each {
				_, _ = p.Write([]byte("abcdefghij"[:1+i%10]))
			}
		})
	}
	go func() {
		wg.Wait()
		p.finish([]byte("END"))
	}()
	got, err := readAll(p)
	if want := writers*each*11/2 + 3; len(got) != want || !errors.Is(err, io.EOF) || !strings.HasSuffix(got, "jEND") && !strings.HasSuffix(got, "END") {
		t.Errorf("%d bytes, %v; want %d", len(got), err, want)
	}
}
