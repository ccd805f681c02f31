package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

func newStream(limit int64) *stream {
	s := &stream{}
	s.init(limit, nil)
	return s
}

func (s *stream) mustWrite(t testing.TB, p string) {
	t.Helper()
	if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
		t.Errorf("Write(%d bytes) = %d, %v", len(p), n, err)
	}
}

func TestStream_UnclaimedWaitsAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(10)
		wrote := false
		go func() {
			s.mustWrite(t, "0123456789ABCDEF")
			wrote = true
		}()
		synctest.Wait()
		if wrote {
			t.Fatal("the writer did not wait")
		}
		s.claim()
		synctest.Wait()
		if !wrote {
			t.Fatal("the writer still waits for a reader that streams")
		}
		s.end()
		got, err := io.ReadAll(streamReader{s})
		if string(got) != "0123456789ABCDEF" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func TestStream_KeptDropsPastTheLimit(t *testing.T) {
	s := newStream(10)
	s.keep()
	s.mustWrite(t, "0123456")
	s.mustWrite(t, "789ABC")
	s.mustWrite(t, "DEF")
	s.end()
	if got := s.take(); string(got) != "0123456789" {
		t.Errorf("take() = %q", got)
	}
	if total, cut := s.written(); total != 16 || !cut {
		t.Errorf("written() = %d, %v, want 16, true", total, cut)
	}
}

func TestStream_KeptExactlyTheLimitIsNotTruncated(t *testing.T) {
	s := newStream(4)
	s.keep()
	s.mustWrite(t, "0123")
	if total, cut := s.written(); total != 4 || cut {
		t.Errorf("written() = %d, %v, want 4, false", total, cut)
	}
}

func TestStream_StreamedNeverLoses(t *testing.T) {
	for _, how := range []string{"read", "one byte", "writeTo"} {
		t.Run(how, func(t *testing.T) {
			s := newStream(10) // far less than what is written
			s.claim()
			var want bytes.Buffer
			rng := rand.New(rand.NewPCG(1, 2))
			size := 4 << 20
			if how == "one byte" {
				size = 300 << 10
			}
			for want.Len() < size {
				for range rng.IntN(100_000) {
					want.WriteByte(byte(rng.Uint32()))
				}
			}
			data := want.Bytes()
			go func() {
				rng := rand.New(rand.NewPCG(3, 4))
				for len(data) > 0 {
					n := min(len(data), 1+rng.IntN(90_000))
					_, _ = s.Write(data[:n])
					data = data[n:]
				}
				s.end()
			}()
			var r io.Reader = streamReader{s}
			switch how {
			case "one byte":
				r = iotest.OneByteReader(r)
			case "read":
				r = iotest.HalfReader(r)
			}
			var got bytes.Buffer
			if _, err := io.Copy(&got, r); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("got %d bytes, want %d, or in another order", got.Len(), want.Len())
			}
			if _, cut := s.written(); cut {
				t.Error("truncated")
			}
		})
	}
}

func TestStream_WindowBoundsTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(-1)
		s.claim()
		go func() { _, _ = s.Write(make([]byte, 1<<20)) }()
		synctest.Wait()
		s.mu.Lock()
		size := s.size
		s.mu.Unlock()
		if size != window {
			t.Errorf("%d bytes are buffered, want %d", size, window)
		}
		s.stop()
	})
}

func TestStream_StopUnblocksAndDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(DefaultMaxOutput)
		s.claim()
		const size = 1 << 20
		go func() {
			_, _ = s.Write(bytes.Repeat([]byte("x"), size))
			_, _ = s.Write([]byte("TAIL"))
			s.end()
		}()
		synctest.Wait()
		s.stop()
		got, _ := io.ReadAll(streamReader{s})
		if len(got) != size+4 || !bytes.HasSuffix(got, []byte("TAIL")) {
			t.Errorf("got %d bytes, want %d that end in TAIL", len(got), size+4)
		}
	})
}

func TestStream_StoppedWriterCannotFillTheMemory(t *testing.T) {
	for _, limit := range []int64{1, -1, 1 << 20} {
		s := newStream(limit)
		s.claim()
		s.stop()
		buf := make([]byte, 1<<20)
		for range 64 {
			_, _ = s.Write(buf)
		}
		if s.size > DefaultMaxOutput {
			t.Errorf("limit %d: %d bytes are kept", limit, s.size)
		}
		if _, cut := s.written(); !cut {
			t.Errorf("limit %d: not marked as truncated", limit)
		}
	}
}

func TestStream_CloseLetsTheWriterGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(-1)
		s.claim()
		done := false
		go func() {
			_, _ = s.Write(make([]byte, 5<<20))
			done = true
		}()
		synctest.Wait()
		_ = streamReader{s}.Close()
		synctest.Wait()
		if !done {
			t.Error("the writer waits for a reader that has gone")
		}
		if _, err := s.read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Read after Close: %v", err)
		}
		if total, cut := s.written(); total != 5<<20 || cut {
			t.Errorf("written() = %d, %v", total, cut)
		}
	})
}

func TestStream_CloseUnblocksTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(-1)
		s.claim()
		var err error
		go func() { _, err = s.read(make([]byte, 1)) }()
		synctest.Wait()
		s.close()
		synctest.Wait()
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Read = %v", err)
		}
	})
}

func TestStream_WritesAfterTheEndAreDropped(t *testing.T) {
	s := newStream(-1)
	s.end()
	s.mustWrite(t, "late")
	if got := s.take(); len(got) != 0 {
		t.Errorf("take() = %q", got)
	}
}

func TestStream_Lines(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   string
		most int64
		want []string
	}{
		{"none", "", -1, nil},
		{"one", "a\n", -1, []string{"a"}},
		{"no last newline", "one\ntwo", -1, []string{"one", "two"}},
		{"empty lines", "\n\na\n\n", -1, []string{"", "", "a", ""}},
		{"carriage return stays", "a\r\nb\r", -1, []string{"a\r", "b\r"}},
		{"not UTF-8", "ok\xff\xfe\nerr\xc3(\n", -1, []string{"ok\uFFFD", "err\uFFFD("}},
		{"NUL", "a\x00b\n", -1, []string{"a\x00b"}},
		{"pieces", "abcdefgh\nij", 3, []string{"abc", "def", "gh", "ij"}},
		{"just the most", "abc\ndef\n", 3, []string{"abc", "def"}},
		{"one more than the most", "abcd\n", 3, []string{"abc", "d"}},
		{"character cut by pieces of writes", "é☃𝄞\n", -1, []string{"é☃𝄞"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStream(-1)
			s.claim()
			go func() {
				for i := range len(tt.in) { // byte by byte: lines do not depend on how they arrive
					_, _ = s.Write([]byte{tt.in[i]})
				}
				s.end()
			}()
			var got []string
			for {
				line, ok := s.line(tt.most)
				if !ok {
					break
				}
				got = append(got, line)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || len(got) != len(tt.want) {
				t.Errorf("lines of %q = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestStream_LongLine(t *testing.T) {
	s := newStream(-1)
	s.claim()
	want := strings.Repeat("y", 3<<20)
	go func() {
		_, _ = s.Write([]byte(want + "\nnext"))
		s.end()
	}()
	if got, ok := s.line(-1); !ok || got != want {
		t.Errorf("a line of %d bytes, want %d", len(got), len(want))
	}
	if got, _ := s.line(-1); got != "next" {
		t.Errorf("then %q", got)
	}
}

// Claims, reads, stops and closes at random times neither race, nor hang, nor change what is read.
func TestStream_Hammer(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := newStream([]int64{-1, 100, 70_000, DefaultMaxOutput}[rng.IntN(4)])
		size := rng.IntN(600_000)
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7 / 5)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 10))
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rng.IntN(50_000))
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			s.end()
		})
		calls := []func(){s.keep, s.stop, func() { s.written() }}
		for range rng.IntN(3) {
			call := calls[rng.IntN(len(calls))]
			wg.Go(call)
		}
		s.claim()
		got, err := io.ReadAll(streamReader{s})
		if err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		total, cut := s.written()
		if total != int64(size) {
			t.Errorf("seed %d: counted %d, want %d", seed, total, size)
		}
		if !cut && !bytes.Equal(got, want) || cut && len(got) >= size {
			t.Errorf("seed %d: got %d bytes of %d, truncated %v", seed, len(got), size, cut)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for _, size := range []int{6, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("kept/%d", size), func(b *testing.B) {
			s := newStream(1 << 20)
			s.keep()
			p := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				_, _ = s.Write(p)
				if s.size > 1<<19 {
					s.take0()
				}
			}
		})
		for _, how := range []string{"read", "writeTo"} {
			b.Run(fmt.Sprintf("%s/%d", how, size), func(b *testing.B) {
				s := newStream(-1)
				s.claim()
				done := make(chan struct{})
				go func() {
					defer close(done)
					if how == "read" {
						buf := make([]byte, 64<<10)
						for {
							if _, err := s.read(buf); err != nil {
								return
							}
						}
					}
					_, _ = s.writeTo(io.Discard)
				}()
				p := make([]byte, size)
				b.SetBytes(int64(size))
				for b.Loop() {
					_, _ = s.Write(p)
				}
				s.end()
				<-done
			})
		}
	}
}

// take0 forgets what is kept, without the copy that take makes.
func (s *stream) take0() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.head != nil {
		s.pop().free()
	}
	s.size = 0
}
