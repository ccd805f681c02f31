package sandbar_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
)

// names are the backends of which one has to work, with what SANDBOX_REQUIRE calls them.
var names = map[sandbar.Backend]string{sandbar.Bubblewrap: "bwrap", sandbar.Userns: "userns"}

// open opens a session that is closed with the test.
func open(t testing.TB, b sandbar.Backend, opts *sandbar.Options) *sandbar.Session {
	t.Helper()
	s, err := sandbar.OpenWith(t.Context(), b, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// run runs a script that exits with 0. It skips the test where the backend is not available.
func run(t testing.TB, s *sandbar.Session, typ engine.ScriptType, script string) string {
	t.Helper()
	out, err := s.RunCode(t.Context(), script, &sandbar.RunOptions{Type: typ})
	if errors.Is(err, engine.ErrNotAvailable) {
		name := names[sandbar.Backend(s.Info().Tiers[0].Backend)]
		if name != "" && strings.Contains(os.Getenv("SANDBOX_REQUIRE"), name) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%s %q: %v", typ, script, err)
	}
	return string(out)
}

// Both tiers work on the same files. That a shell script runs at all means that this test binary was the init of
// its cell, for no other reason than that it imports the package.
func TestOpenWith_BothTiers(t *testing.T) {
	for b := range names {
		t.Run(string(b), func(t *testing.T) {
			for name, opts := range map[string]*sandbar.Options{
				"defaults":   nil,
				"disk limit": {Limits: sandbar.Limits{Disk: 16 << 20}}, // a work directory in memory
			} {
				s := open(t, b, opts)
				run(t, s, sandbar.Shell, "seq 3 > numbers.txt")
				if got := run(t, s, sandbar.Python, "print(sum(map(int, open('numbers.txt'))))\nopen('word', 'w').write('back')"); got != "6\n" {
					t.Errorf("%s: python says %q", name, got)
				}
				if got := run(t, s, sandbar.Shell, "cat word"); got != "back" {
					t.Errorf("%s: the shell says %q", name, got)
				}
				if u := s.Usage(); u.Runs != 3 || u.ByTier[engine.TierWasm] != 1 || u.ByTier[engine.TierNative] != 2 {
					t.Errorf("%s: usage %+v", name, u)
				}
				if tiers := s.Info().Tiers; len(tiers) != 2 || tiers[0].Backend != string(b) {
					t.Errorf("%s: tiers %+v", name, tiers)
				}
			}
		})
	}
}

// With PythonTier native there is no other tier: what that one cannot hold is known in Open.
func TestOpenWith_PythonTierNative(t *testing.T) {
	s := open(t, sandbar.Userns, &sandbar.Options{PythonTier: engine.TierNative, Limits: sandbar.Limits{FileSize: 1 << 20}})
	if tiers := s.Info().Tiers; len(tiers) != 1 || tiers[0].Tier != engine.TierNative {
		t.Errorf("tiers %+v", tiers)
	}
	_, err := sandbar.OpenWith(t.Context(), sandbar.None, &sandbar.Options{PythonTier: engine.TierNative})
	if !errors.Is(err, engine.ErrNotEnforceable) {
		t.Errorf("OpenWith a backend that cannot block the network = %v", err)
	}
}

// A backend that cannot do what was asked refuses its own runs, and Python runs all the same.
func TestOpenWith_RefusedInTheFirstRun(t *testing.T) {
	s := open(t, sandbar.None, &sandbar.Options{Limits: sandbar.Limits{Memory: 128 << 20}})
	run(t, s, sandbar.Python, "pass")
	_, err := s.Run(t.Context(), "true", &sandbar.RunOptions{Type: sandbar.Shell})
	if !errors.Is(err, engine.ErrNotEnforceable) || !errors.Is(err, engine.ErrNotStarted) {
		t.Errorf("Run = %v", err)
	}
	s = open(t, sandbar.None, &sandbar.Options{Network: sandbar.NetworkOpen})
	if got := run(t, s, sandbar.Shell, "echo here"); got != "here\n" {
		t.Errorf("output %q", got)
	}
}

func TestOpenWith_UnknownBackend(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := sandbar.OpenWith(t.Context(), "chroot", nil)
	invalid, ok := errors.AsType[*engine.InvalidError](err)
	if !ok || invalid.Field != "Backend" {
		t.Errorf("OpenWith = %v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// BenchmarkOpen is a session that is opened and closed, with both tiers and with one. Its work directory is there.
func BenchmarkOpen(b *testing.B) {
	alone := wasm.New(nil)
	opts := &sandbar.Options{WorkDir: b.TempDir(), Limits: sandbar.Limits{Memory: 128 << 20}}
	for _, bb := range []struct {
		name string
		open func() (*sandbar.Session, error)
	}{
		{"wasm", func() (*sandbar.Session, error) { return alone.Open(b.Context(), opts) }},
		{"both", func() (*sandbar.Session, error) { return sandbar.Open(b.Context(), opts) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				s, err := bb.open()
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
