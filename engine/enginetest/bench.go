package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// Bench measures a tier, per script type: a trivial run in an open session, one at a time and
// in parallel, 1 MiB of output kept and streamed, and 1 MiB put and got.
func Bench(b *testing.B, open Open, caps Caps) {
	for _, sc := range allScripts {
		for _, typ := range caps.Types {
			if typ == sc.typ {
				b.Run(string(typ), func(b *testing.B) { benchType(b, &suite{open: open, caps: caps, scripts: sc}) })
			}
		}
	}
}

func benchType(b *testing.B, s *suite) {
	session := s.open(b, nil)
	const size = 1 << 20
	big := fmt.Sprintf(s.scripts.bigf, size-4)
	s.output(b, session, s.scripts.hello, nil) // what the first run prepares is not measured

	b.Run("trivial", func(b *testing.B) {
		for b.Loop() {
			s.bench(b, session, s.scripts.hello)
		}
	})
	b.Run("trivial parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				s.bench(b, session, s.scripts.hello)
			}
		})
	})
	b.Run("output kept 1MiB", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if out := s.bench(b, session, big); len(out.Stdout) != size {
				b.Fatalf("%d bytes", len(out.Stdout))
			}
		}
	})
	b.Run("output streamed 1MiB", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			p, err := session.Run(context.Background(), big, s.options(nil))
			if err != nil {
				b.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, p.Stdout()); n != size || err != nil {
				b.Fatalf("%d bytes, %v", n, err)
			}
		}
	})
	data := bytes.Repeat([]byte("x"), size)
	b.Run("put 1MiB", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if err := session.PutBytes(context.Background(), "f", data, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("get 1MiB", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if _, err := session.GetBytes(context.Background(), "f", size); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func (s *suite) bench(b *testing.B, session *engine.Session, script string) *engine.Output {
	out, err := session.Exec(context.Background(), script, s.options(nil))
	if err != nil || out.Result.ExitCode != 0 {
		b.Fatalf("%+v, %v", out, err)
	}
	return out
}
