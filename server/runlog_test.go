package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

func TestRunLog_Model(t *testing.T) { rapid.Check(t, checkRunLog) }

// checkRunLog writes at random, and reads at random offsets, a log and the whole of what was written.
func checkRunLog(t *rapid.T) {
	most := rapid.IntRange(1, 64).Draw(t, "most")
	l := newRunLog(most)
	var written [2][]byte
	var readers []*logReader
	t.Repeat(map[string]func(*rapid.T){
		"write": func(t *rapid.T) {
			i := rapid.IntRange(0, 1).Draw(t, "stream")
			p := rapid.SliceOfN(rapid.Byte(), 0, 3*most).Draw(t, "bytes")
			if n, err := (logWriter{l, i}).Write(p); n != len(p) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
			written[i] = append(written[i], p...)
		},
		"attach": func(t *rapid.T) {
			at := [2]int64{int64(rapid.IntRange(-1, len(written[0])+1).Draw(t, "stdout")), int64(rapid.IntRange(-1, len(written[1])+1).Draw(t, "stderr"))}
			r, err := l.reader(at)
			good := at[0] >= 0 && at[0] <= int64(len(written[0])) && at[1] >= 0 && at[1] <= int64(len(written[1]))
			if (err == nil) != good {
				t.Fatalf("reader at %v of %d and %d bytes: %v", at, len(written[0]), len(written[1]), err)
			}
			if good {
				readers = append(readers, r)
			}
		},
		"read": func(t *rapid.T) {
			if len(readers) == 0 {
				t.Skip("no reader")
			}
			r := readers[rapid.IntRange(0, len(readers)-1).Draw(t, "reader")]
			before := r.at
			var ev sandboxv2.RunEvent
			if _, ended := r.take(&ev); ended {
				t.Fatal("the log has not ended")
			}
			for i, got := range [][]byte{ev.GetStdout(), ev.GetStderr()} {
				skipped := []int64{ev.GetStdoutSkipped(), ev.GetStderrSkipped()}[i]
				start := max(before[i], int64(len(written[i])-most))
				if want := written[i][start:]; skipped != start-before[i] || !bytes.Equal(got, want) {
					t.Fatalf("stream %d from %d of %d: skipped %d and gave %q, want %d and %q", i, before[i], len(written[i]), skipped, got, start-before[i], want)
				}
			}
		},
	})
}

// Readers of a log that grows meanwhile each see every byte, or are told how many they have not seen.
func TestRunLog_Hammer(t *testing.T) {
	l := newRunLog(1000)
	const total = 200_000
	var all sync.WaitGroup
	for range 4 {
		r, err := l.reader([2]int64{})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			var at int64
			for ended := false; !ended; {
				var ev sandboxv2.RunEvent
				var more <-chan struct{}
				more, ended = r.take(&ev)
				at += ev.GetStdoutSkipped()
				for _, b := range ev.GetStdout() {
					if b != byte(at%251) {
						t.Errorf("byte %d is %d, want %d", at, b, at%251)
						return
					}
					at++
				}
				if !ended {
					<-more
				}
			}
			if at != total {
				t.Errorf("a reader has seen or skipped %d bytes of %d", at, total)
			}
		})
	}
	for at := 0; at < total; {
		p := make([]byte, min(rand.N(3000), total-at))
		for i := range p {
			p[i] = byte((at + i) % 251)
		}
		_, _ = logWriter{l, 0}.Write(p)
		at += len(p)
	}
	l.change(func() { l.open = 0 })
	all.Wait()
}

// What is forgotten is skipped, and the end is still told.
func TestRunLog_Forget(t *testing.T) {
	l := newRunLog(10)
	_, _ = logWriter{l, 0}.Write([]byte("hello"))
	l.change(func() { l.open = 0 })
	l.forget()
	r, err := l.reader([2]int64{2, 0})
	if err != nil {
		t.Fatal(err)
	}
	var ev sandboxv2.RunEvent
	if _, ended := r.take(&ev); !ended || ev.GetStdoutSkipped() != 3 || len(ev.GetStdout()) != 0 {
		t.Errorf("ended %v, %v; want the end, and 3 bytes skipped", ended, &ev)
	}
}

// A session keeps the output of the latest detached runs, within a bound.
func TestSession_ForgetsOutput(t *testing.T) {
	s := &session{runs: map[string]*known{}}
	for i := range 40 {
		l := newRunLog(1000)
		_, _ = logWriter{l, i % 2}.Write(make([]byte, 1000))
		id := fmt.Sprint(i)
		s.runs[id] = &known{log: l, over: &sandboxv2.Run{}}
		s.ended = append(s.ended, id)
		s.forgetOutput()
	}
	for i := range 40 {
		size, most := s.runs[fmt.Sprint(i)].log.size()
		want := int64(0)
		if i >= 40-2*keptOutputs { // each had half of what it can have
			want = 1000
		}
		if size != want || most != 2000 {
			t.Errorf("of run %d %d bytes of %d are kept, want %d", i, size, most, want)
		}
	}
}
