package routingtests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/wasm"
)

// patience is for what must end, at whatever speed.
const patience = 2 * time.Minute

// A script is one row of the suite.
type script struct {
	name string
	text string
	// files are in the work directory, packages in the site-packages of the virtual environment.
	files, packages map[string]string
	cwd             string
	// native is a part of Result.Route of a script that auto sends to the native tier: the line, and the import or use.
	// Empty: it runs in the wasm tier.
	native string
	// refused is the module of the NeedsNativeError that PythonTier wasm gives, line its line. Empty: the script runs.
	refused string
	line    int
	// either leaves open whether PythonTier wasm refuses it.
	either bool
	// stdout is what it prints in the tier that auto picks. Empty: it is not looked at.
	stdout string
	// code is its exit code in the wasm tier.
	code int
}

// suite is all scripts; each file of tests has those of one kind.
var suite = slices.Concat(plainScripts, placeScripts, guardScripts, fileScripts, packageScripts, useScripts, textScripts)

// drivers are shared by all tests.
var drivers = sync.OnceValues(func() ([]engine.Driver, error) {
	n, err := native.New(&native.Options{Backend: native.Userns})
	if err != nil {
		return nil, err
	}
	w := wasm.New(nil)
	opened = []closer{w, n}
	if err := w.Prepare(context.Background()); err != nil {
		return nil, err
	}
	return []engine.Driver{w, n}, n.Prepare(context.Background())
})

type closer interface{ Close() error }

var opened []closer

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range opened {
		if err := d.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func TestSuite(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range suite {
		if seen[s.name] {
			t.Errorf("two scripts are named %q", s.name)
		}
		seen[s.name] = true
		if s.refused != "" && s.native == "" {
			t.Errorf("%s: refused, and would run here", s.name)
		}
	}
	if len(suite) < 90 {
		t.Errorf("%d scripts", len(suite))
	}
}

// Auto picks the tier that the table says, names the reason, and the script runs there.
func TestAuto(t *testing.T) {
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			session := open(t, engine.TierAuto, &s)
			out, err := run(t, session, &s)
			if err != nil {
				t.Fatal(err)
			}
			want := engine.TierWasm
			if s.native != "" {
				want = engine.TierNative
			}
			r := out.Result
			if r.Tier != want || !strings.Contains(r.Route, s.native) || r.Route == "" {
				t.Errorf("tier %s, route %q; want %s, %q", r.Tier, r.Route, want, s.native)
			}
			if strings.ContainsFunc(r.Route, func(c rune) bool { return c < ' ' }) {
				t.Errorf("route %q is not one line of text", r.Route)
			}
			if s.stdout != "" && string(out.Stdout) != s.stdout {
				t.Errorf("stdout %q, want %q; stderr %q", out.Stdout, s.stdout, out.Stderr)
			}
			if want == engine.TierWasm && r.ExitCode != s.code {
				t.Errorf("code %d, want %d; stderr %q", r.ExitCode, s.code, out.Stderr)
			}
		})
	}
}

// With PythonTier wasm a script that cannot get past an import is refused by an error that names it, and every other
// one runs in the wasm tier.
func TestWasm(t *testing.T) {
	for _, s := range suite {
		t.Run(s.name, func(t *testing.T) {
			out, err := run(t, open(t, engine.TierWasm, &s), &s)
			if s.either && errors.Is(err, engine.ErrNeedsNative) {
				return
			}
			if s.refused == "" {
				if err != nil || out.Result.Tier != engine.TierWasm {
					t.Errorf("%+v, %v", out, err)
				}
				return
			}
			var needs *engine.NeedsNativeError
			if !errors.As(err, &needs) || !errors.Is(err, engine.ErrNeedsNative) || out != nil {
				t.Fatalf("%+v, %v", out, err)
			}
			if needs.Module != s.refused || needs.Line != s.line || needs.Reason == "" || !strings.Contains(err.Error(), s.refused) {
				t.Errorf("%+v: %v, want line %d, %s", needs, err, s.line, s.refused)
			}
		})
	}
}

// With PythonTier native nothing is asked, and nothing is refused.
func TestNative(t *testing.T) {
	s := script{text: "print(1)"}
	out, err := run(t, open(t, engine.TierNative, &s), &s)
	if err != nil || out.Result.Tier != engine.TierNative || string(out.Stdout) != "1\n" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A session's runs are decided one by one, by what is in the work directory then.
func TestAuto_FilesChange(t *testing.T) {
	s := script{text: "import helper\nprint(helper.x)\n", files: map[string]string{"helper.py": "x = 1\n"}}
	session := open(t, engine.TierAuto, &s)
	for _, step := range []struct {
		helper string
		tier   engine.Tier
	}{{"x = 1\n", engine.TierWasm}, {"import ctypes\nx = 22\n", engine.TierNative}, {"x = 333\n", engine.TierWasm}, {"try:\n    import ctypes\nexcept ImportError:\n    pass\nx = 4444\n", engine.TierWasm}} {
		put(t, session, "helper.py", step.helper)
		out, err := run(t, session, &s)
		if err != nil {
			t.Fatal(err)
		}
		if out.Result.Tier != step.tier || out.Result.ExitCode != 0 {
			t.Errorf("%q: tier %s, want %s; %s %s", step.helper, out.Result.Tier, step.tier, out.Result.Route, out.Stderr)
		}
	}
}

// open opens a session with both tiers and the files of a script.
func open(t *testing.T, tier engine.Tier, s *script) *engine.Session {
	t.Helper()
	both, err := drivers()
	testneed.Feature(t, "userns", err)
	session, err := engine.Open(t.Context(), both, &engine.Options{PythonTier: tier, Venv: s.packages != nil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, content := range s.files {
		put(t, session, name, content)
	}
	if s.packages != nil {
		site := sitePackages(t, session)
		for name, content := range s.packages {
			put(t, session, site+"/"+name, content)
		}
	}
	return session
}

// sitePackages has the virtual environment made, and returns where packages are in it.
func sitePackages(t *testing.T, session *engine.Session) string {
	t.Helper()
	out, err := session.Exec(t.Context(), "echo .venv/lib/python3*/site-packages",
		&engine.RunOptions{Type: engine.Shell, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	site, _, _ := strings.Cut(string(out.Stdout), "\n")
	if out.Result.ExitCode != 0 || !strings.HasSuffix(site, "/site-packages") {
		t.Fatalf("no virtual environment: %q %s", site, out.Stderr)
	}
	return site
}

func put(t *testing.T, session *engine.Session, name, content string) {
	t.Helper()
	if err := session.PutBytes(t.Context(), name, []byte(content), nil); err != nil {
		t.Fatal(err)
	}
}

// run runs the script to its end.
func run(t *testing.T, session *engine.Session, s *script) (*engine.Output, error) {
	t.Helper()
	return session.Exec(t.Context(), s.text, &engine.RunOptions{Cwd: s.cwd, Timeout: patience})
}
