package remote

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	"github.com/sandbar-dev/sandbar/internal/testserver"
)

// BenchmarkRun runs a small script in process and over loopback, in turns, so that both see the same machine.
func BenchmarkRun(b *testing.B) {
	url := testserver.Start(b, "--backend", "userns").URLs[0]
	far, err := remote.Open(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer far.Close()
	near, err := sandbar.Open(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	var times [2][]time.Duration
	one := func(i int, s *engine.Session) {
		began := time.Now()
		out, err := s.Exec(b.Context(), "print(2+2)", nil)
		if err != nil || string(out.Stdout) != "4\n" {
			b.Fatal(out, err)
		}
		times[i] = append(times[i], time.Since(began))
	}
	one(0, near)
	one(1, far)
	times = [2][]time.Duration{}
	for b.Loop() {
		one(0, near)
		one(1, far)
	}
	for i, name := range []string{"near", "far"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2].Microseconds()), name+"-p50-us")
	}
	b.ReportMetric(float64((times[1][len(times[1])/2] - times[0][len(times[0])/2]).Microseconds()), "more-us")
}

// BenchmarkThroughput runs as many small scripts as go, over one client.
func BenchmarkThroughput(b *testing.B) {
	url := testserver.Start(b, "--backend", "userns").URLs[0]
	for _, n := range []int{1, 2, 4, 8, 32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := remote.Open(b.Context(), url, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var all sync.WaitGroup
			todo := make(chan struct{}, 100)
			for range n {
				all.Go(func() {
					for range todo {
						if _, err := s.Exec(b.Context(), "print(2+2)", nil); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				todo <- struct{}{}
			}
			close(todo)
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
}

// BenchmarkBytes moves output and files.
func BenchmarkBytes(b *testing.B) {
	url := testserver.Start(b, "--backend", "userns").URLs[0]
	s, err := remote.Open(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const size = 256 << 20
	b.Run("output", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			p, err := s.Run(b.Context(), fmt.Sprintf("head -c %d /dev/zero", size), &engine.RunOptions{Type: engine.Shell})
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, p.Stdout()); n != size || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("put", func(b *testing.B) {
		b.SetBytes(size)
		data := bytes.Repeat([]byte("x"), size)
		for b.Loop() {
			if err := s.PutReader(b.Context(), "f", io.MultiReader(bytes.NewReader(data)), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if err := s.GetWriter(b.Context(), "f", io.Discard, size); err != nil {
				b.Fatal(err)
			}
		}
	})
}
