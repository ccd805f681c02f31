package nativetests

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// randomScript changes what is in the work directory.
func randomScript(r *rand.Rand, lines int) string {
	var b strings.Builder
	path := func() string {
		all := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "d/e/f", "d/e/f/a", "g", "g/a"}
		return all[r.IntN(len(all))]
	}
	for range lines {
		p, q := path(), path()
		ops := []string{
			"echo %[1]s%[3]d > %[1]s", "echo %[3]d >> %[1]s", "rm -rf %[1]s", "rm -f %[1]s", "rmdir %[1]s", "mkdir -p %[1]s", "mkdir %[1]s", "mv -T %[1]s %[2]s", "mv %[1]s %[2]s",
			"ln %[1]s %[2]s", "ln -s %[2]s %[1]s", "[ -d %[1]s ] || chmod 6%[4]d%[4]d %[1]s", "chmod 7%[4]d0 %[1]s", "touch %[1]s", "[ -d %[1]s ] || cp -a %[1]s %[2]s", "case %[2]s in d*) ;; *) cp -r d/e %[2]s;; esac", "truncate -s %[3]d %[1]s",
		}
		fmt.Fprintf(&b, ops[r.IntN(len(ops))]+"\n", p, q, r.IntN(100), r.IntN(8))
	}
	return "exec 2>/dev/null\n" + b.String() + "exit 0\n"
}

// The same scripts in a copy and in an overlayfs make the same changes.
func TestOverlay_Alike(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("a program that is root has copies alone")
	}
	each(t, func(t *testing.T, d *native.Driver) {
		for seed := range uint64(6) {
			host := wideTemp(t)
			for _, name := range []string{"a", "d/a", "d/e/a", "d/e/f/a", "g/a"} {
				path := filepath.Join(host, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, host)
			var sessions []*engine.Session
			for _, driver := range []engine.Driver{d, noOverlay{d}} {
				s, err := engine.Open(t.Context(), []engine.Driver{driver}, &engine.Options{Overlay: host, Limits: engine.Limits{Disk: 8 << 20}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				sessions = append(sessions, s)
			}
			wantKind(t, sessions[0], true)
			r := rand.New(rand.NewPCG(seed, 0))
			script := ""
			for round := range 4 {
				more := randomScript(r, 12)
				script += more
				var lists [][]engine.Change
				for _, s := range sessions {
					output(t, s, more, shell(nil))
					list, err := s.Diff(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					lists = append(lists, list)
				}
				if !reflect.DeepEqual(lists[0], lists[1]) {
					t.Fatalf("seed %d, round %d: Diff of an overlayfs = %+v\nof a copy = %+v\nafter\n%s", seed, round, lists[0], lists[1], script)
				}
				if round == 2 {
					for _, s := range sessions {
						if err := s.Mark(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if after := tree(t, host); after != before {
				t.Fatalf("the host has\n%s, and had\n%s", after, before)
			}
			// The first one is committed, and what the host has then is what the second one has.
			want := fmt.Sprint(listed(t, sessions[1]))
			if _, err := sessions[0].Commit(t.Context()); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			s, err := engine.Open(t.Context(), []engine.Driver{d}, &engine.Options{Overlay: host, Limits: engine.Limits{Disk: 8 << 20}})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(listed(t, s)); got != want {
				t.Errorf("seed %d: committed is\n%s\nwant\n%s", seed, got, want)
			}
			for _, s := range append(sessions, s) {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// listed describes what a script sees.
func listed(t *testing.T, s *engine.Session) string {
	t.Helper()
	return output(t, s, `find . -mindepth 1 -printf '%P %y %m %l\n' | sort; find . -type f | sort | xargs -r cat; exit 0`, shell(nil))
}

// What is written has to have room; what the host has takes none.
func TestOverlay_Full(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		host := wideTemp(t)
		if err := errors.Join(os.WriteFile(filepath.Join(host, "big"), make([]byte, 8<<20), 0o644), os.WriteFile(filepath.Join(host, "small"), []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
		s, err := engine.Open(t.Context(), []engine.Driver{d}, &engine.Options{Overlay: host, Limits: engine.Limits{Disk: 1 << 20, DiskFiles: 20}})
		if os.Geteuid() == 0 {
			if !errors.Is(err, engine.ErrNoSpace) {
				t.Errorf("Open = %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		wantKind(t, s, true)
		printed(t, s, `wc -c < big; { echo y >> big; } 2>/dev/null || echo full; echo y >> small; cat small; i=0; while [ $i -lt 30 ]; do : > n$i || break; i=$((i+1)); done 2>/dev/null; [ $i -lt 20 ] && [ $i -gt 12 ] && rm n*`, shell(nil), "8388608\nfull\nxy\n")
		if err := s.PutBytes(t.Context(), "big", []byte("small"), nil); err != nil {
			t.Error(err)
		}
		if err := s.PutBytes(t.Context(), "other", make([]byte, 2<<20), nil); !errors.Is(err, engine.ErrNoSpace) {
			t.Errorf("Put = %v", err)
		}
		wantDiff(t, s, "changed big", "changed small")
	})
}
