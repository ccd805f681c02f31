package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

func TestPolicy_Apply(t *testing.T) {
	narrow := &Policy{
		Backends: []string{"userns"}, Network: []netpolicy.Mode{netpolicy.Allowlist}, PythonTiers: []engine.Tier{engine.TierWasm, engine.TierNative},
		Max: engine.Limits{Memory: 1 << 30, CPU: time.Minute, OpenFiles: 64, Tmp: NoMaximum}, MaxTimeout: 30 * time.Second,
	}
	for _, tt := range []struct {
		name    string
		policy  *Policy
		opts    engine.Options
		backend string
		field   string // of the DeniedError; empty: allowed
		allows  string // in its text
	}{
		{"nil policy", nil, engine.Options{}, "", "", ""},
		{"nil policy, network", nil, engine.Options{Network: netpolicy.Open}, "", "Network", "blocked"},
		{"zero, nothing asked", &Policy{}, engine.Options{}, "", "", ""},
		{"zero, blocked", &Policy{}, engine.Options{Network: netpolicy.Blocked, PythonTier: engine.TierWasm}, "", "", ""},
		{"zero, backend", &Policy{}, engine.Options{}, "userns", "Backend", "server's default"},
		{"zero, none", &Policy{}, engine.Options{}, "none", "Backend", ""},
		{"zero, open", &Policy{}, engine.Options{Network: netpolicy.Open}, "", "Network", "blocked"},
		{"zero, unknown mode", &Policy{}, engine.Options{Network: "all"}, "", "Network", "blocked"},
		{"zero, gpu", &Policy{}, engine.Options{GPU: true}, "", "GPU", ""},
		{"zero, venv", &Policy{}, engine.Options{Venv: true}, "", "Venv", ""},
		{"zero, best effort", &Policy{}, engine.Options{BestEffort: true}, "", "BestEffort", ""},
		{"zero, default memory", &Policy{}, engine.Options{Limits: engine.Limits{Memory: 512 << 20}}, "", "", ""},
		{"zero, more memory", &Policy{}, engine.Options{Limits: engine.Limits{Memory: 512<<20 + 1}}, "", "Limits.Memory", "536870912"},
		{"zero, disk", &Policy{}, engine.Options{Limits: engine.Limits{Disk: 1 << 40}}, "", "", ""},
		{"zero, timeout", &Policy{}, engine.Options{Timeout: 61 * time.Second}, "", "Timeout", "1m0s"},
		{"zero, work dir", &Policy{}, engine.Options{WorkDir: "/"}, "", "WorkDir", "no path"},
		{"zero, overlay", &Policy{}, engine.Options{Overlay: "/"}, "", "Overlay", "no path"},
		{"zero, read only", &Policy{}, engine.Options{ReadOnly: []string{"/usr"}}, "", "ReadOnly[0]", "no path"},
		{"zero, read write", &Policy{}, engine.Options{ReadWrite: []string{"/usr"}}, "", "ReadWrite[0]", "no path"},
		{"narrow, its backend", narrow, engine.Options{}, "userns", "", ""},
		{"narrow, another backend", narrow, engine.Options{}, "bubblewrap", "Backend", "userns"},
		{"narrow, any backend", narrow, engine.Options{}, "*", "Backend", "userns"},
		{"narrow, its mode", narrow, engine.Options{Network: netpolicy.Allowlist}, "", "", ""},
		{"narrow, another mode", narrow, engine.Options{Network: netpolicy.Open}, "", "Network", "blocked, allowlist"},
		{"narrow, tier", narrow, engine.Options{PythonTier: engine.TierNative}, "", "", ""},
		{"narrow, auto", narrow, engine.Options{PythonTier: engine.TierAuto}, "", "PythonTier", "wasm, native"},
		{"narrow, memory", narrow, engine.Options{Limits: engine.Limits{Memory: 1 << 30}}, "", "", ""},
		{"narrow, more memory", narrow, engine.Options{Limits: engine.Limits{Memory: 1<<30 + 1}}, "", "Limits.Memory", "1073741824"},
		{"narrow, cpu", narrow, engine.Options{Limits: engine.Limits{CPU: 61 * time.Second}}, "", "Limits.CPU", "1m0s"},
		{"narrow, files", narrow, engine.Options{Limits: engine.Limits{OpenFiles: 65}}, "", "Limits.OpenFiles", "64"},
		{"narrow, tmp", narrow, engine.Options{Limits: engine.Limits{Tmp: 1 << 50}}, "", "", ""},
		{"narrow, no timeout", narrow, engine.Options{Timeout: engine.NoTimeout}, "", "Timeout", "30s"},
		{"default, much", DefaultPolicy(), engine.Options{
			Network: netpolicy.Open, Venv: true, BestEffort: true, Timeout: engine.NoTimeout,
			Limits: engine.Limits{Memory: 1 << 40, CPU: time.Hour, OpenFiles: 1 << 20, Disk: 1 << 40, Processes: 1 << 20},
		}, "userns", "", ""},
		{"default, none", DefaultPolicy(), engine.Options{}, "none", "Backend", "*"},
		{"default, gpu", DefaultPolicy(), engine.Options{GPU: true}, "", "GPU", ""},
		{"default, path", DefaultPolicy(), engine.Options{ReadOnly: []string{"/usr"}}, "", "ReadOnly[0]", ""},
		{"owner, none", OwnerPolicy(), engine.Options{GPU: true}, "none", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.opts
			err := tt.policy.Apply(&tt.opts, tt.backend)
			if tt.field == "" {
				if err != nil {
					t.Errorf("Apply = %v", err)
				}
				return
			}
			var denied *DeniedError
			if !errors.As(err, &denied) || !errors.Is(err, engine.ErrDenied) || denied.Field != tt.field || !strings.Contains(err.Error(), tt.allows) {
				t.Errorf("Apply = %v, want a denial of %s with %q", err, tt.field, tt.allows)
			}
			if !reflect.DeepEqual(tt.opts, before) {
				t.Errorf("a refusal has changed the options: %s", cmp.Diff(before, tt.opts))
			}
		})
	}
}

func TestPolicy_ApplyFills(t *testing.T) {
	p := &Policy{
		PythonTiers: []engine.Tier{engine.TierWasm}, MaxTimeout: 10 * time.Second,
		Max: engine.Limits{Memory: 64 << 20, CPU: time.Second, Output: 1 << 20, OpenFiles: 512, Disk: 1 << 30, Processes: NoMaximum},
	}
	var opts engine.Options
	if err := p.Apply(&opts, ""); err != nil {
		t.Fatal(err)
	}
	want := engine.Options{
		PythonTier: engine.TierWasm, Timeout: 10 * time.Second,
		// OpenFiles stays 0: its default is within the maximum.
		Limits: engine.Limits{Memory: 64 << 20, CPU: time.Second, Output: 1 << 20, Disk: 1 << 30},
	}
	if diff := cmp.Diff(want, opts); diff != "" {
		t.Error(diff)
	}
	opts = engine.Options{}
	if err := (&Policy{}).Apply(&opts, ""); err != nil || !reflect.DeepEqual(opts, engine.Options{}) {
		t.Errorf("the zero policy makes %+v, %v of nothing", opts, err)
	}
}

func TestPolicy_ApplyRun(t *testing.T) {
	p := &Policy{MaxTimeout: time.Minute}
	for _, tt := range []struct {
		policy *Policy
		asked  time.Duration
		detach bool
		want   error
	}{
		{p, 0, false, nil},
		{p, time.Minute, false, nil},
		{p, time.Minute + 1, false, engine.ErrDenied},
		{p, engine.NoTimeout, false, engine.ErrDenied},
		{p, -1, false, engine.ErrInvalid},
		{p, 0, true, engine.ErrDenied},
		{nil, 0, true, engine.ErrDenied},
		{nil, engine.DefaultTimeout + 1, false, engine.ErrDenied},
		{DefaultPolicy(), engine.NoTimeout, true, nil},
	} {
		opts := engine.RunOptions{Timeout: tt.asked}
		if err := tt.policy.ApplyRun(&opts, tt.detach); !errors.Is(err, tt.want) || opts.Timeout != tt.asked {
			t.Errorf("ApplyRun(%v, %v) = %v with %v, want %v", tt.asked, tt.detach, err, opts.Timeout, tt.want)
		}
	}
}

func TestPolicy_Lifespans(t *testing.T) {
	p := &Policy{MaxIdle: time.Hour, MaxLifetime: time.Hour}
	for _, tt := range []struct {
		policy           *Policy
		asked, def, most time.Duration
		want             time.Duration
		err              error
	}{
		{p, 0, time.Minute, 0, time.Minute, nil},
		{p, 0, 2 * time.Hour, 0, time.Hour, nil},
		{p, 0, 0, 0, time.Hour, nil},
		{p, time.Hour, time.Minute, 2 * time.Hour, time.Hour, nil},
		{p, time.Hour + 1, time.Minute, 2 * time.Hour, 0, engine.ErrDenied},
		{p, 3 * time.Hour, time.Minute, 2 * time.Hour, 0, engine.ErrInvalid},
		{p, -1, time.Minute, 0, 0, engine.ErrInvalid},
		{nil, 0, time.Minute, time.Hour, time.Minute, nil},
		{nil, 1<<63 - 1, time.Minute, 0, 1<<63 - 1, nil},
		{nil, 1<<63 - 1, time.Minute, time.Hour, 0, engine.ErrInvalid},
	} {
		for name, f := range map[string]func(_, _, _ time.Duration) (time.Duration, error){"idle": tt.policy.idleTimeout, "life": tt.policy.lifetime} {
			if got, err := f(tt.asked, tt.def, tt.most); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%s(%v, %v, %v) = %v, %v, want %v, %v", name, tt.asked, tt.def, tt.most, got, err, tt.want, tt.err)
			}
		}
	}
}

// Whatever is asked for, what Apply lets through is within each maximum. It goes over the fields of Limits itself, so that a new
// one that Apply does not know of fails here.
func TestPolicy_LimitsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-1<<31, 1<<31-1))
		var p Policy
		var opts engine.Options
		fill := func(l *engine.Limits, name string) {
			v := reflect.ValueOf(l).Elem()
			for i := range v.NumField() {
				v.Field(i).SetInt(value.Draw(t, fmt.Sprintf("%s %s", name, v.Type().Field(i).Name)))
			}
		}
		fill(&p.Max, "maximum of")
		if rapid.Bool().Draw(t, "asks") {
			fill(&opts.Limits, "asked")
		}
		p.MaxTimeout = time.Duration(value.Filter(func(v int64) bool { return v >= 0 }).Draw(t, "maximum timeout"))
		opts.Timeout = time.Duration(value.Draw(t, "timeout"))
		if p.Apply(&opts, "") != nil {
			return
		}
		most, got, def := reflect.ValueOf(p.Max), reflect.ValueOf(opts.Limits), reflect.ValueOf(engine.DefaultLimits())
		for i := range got.NumField() {
			m, g, d := most.Field(i).Int(), got.Field(i).Int(), def.Field(i).Int()
			if m == 0 {
				m = d
			}
			inForce := g
			if g == 0 {
				inForce = d
			}
			if g < 0 || m > 0 && (inForce == 0 || inForce > m) {
				t.Errorf("%s: %d in force, maximum %d", got.Type().Field(i).Name, inForce, m)
			}
		}
		timeout, most2 := opts.Timeout, p.MaxTimeout
		if timeout == 0 {
			timeout = engine.DefaultTimeout
		}
		if most2 == 0 {
			most2 = engine.DefaultTimeout
		}
		if timeout < 0 || timeout > most2 {
			t.Errorf("timeout %v, maximum %v", timeout, most2)
		}
	})
}

// makeDirs makes directories that only their owner can write.
func makeDirs(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// realTemp is a temporary directory by its path without links.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err) // Windows, without the right to make links
	}
}

func TestPolicy_ApplyPaths(t *testing.T) {
	dir := realTemp(t)
	makeDirs(t, dir, "root/a/b", "root2", "other")
	link(t, filepath.Join(dir, "other"), filepath.Join(dir, "root", "out"))
	link(t, "..", filepath.Join(dir, "root", "a", "up"))
	link(t, filepath.Join(dir, "root", "a"), filepath.Join(dir, "in"))
	link(t, "loop", filepath.Join(dir, "root", "loop"))
	roots := []string{filepath.Join(dir, "root")}
	p := &Policy{WorkDirs: roots, Overlays: roots, ReadOnly: roots, ReadWrite: roots}
	sep := string(filepath.Separator)
	for _, tt := range []struct {
		path string
		want string // what it leads to; empty: refused
	}{
		{"root", "root"},
		{"root/", "root"},
		{"root/a/b", "root/a/b"},
		{"root/a/up/a", "root/a"},
		{"in", "root/a"},
		{"in/b", "root/a/b"},
		{"other/../root/a", "root/a"},
		{"", ""},
		{"root2", ""},
		{"other", ""},
		{"root/out", ""},
		{"root/out/x", ""},
		{"root/../other", ""},
		{"root/a/../../root2", ""},
		{"root/a/up/..", ""},
		{"root/none", ""},
		{"none", ""},
		{"root/loop", ""},
		{"roo", ""},
		{"root/\x00", ""},
		{"ROOT2", ""},
	} {
		path := dir + sep + filepath.FromSlash(tt.path)
		want := filepath.Join(dir, filepath.FromSlash(tt.want))
		for _, opts := range []engine.Options{{WorkDir: path}, {Overlay: path}, {ReadOnly: []string{want, path}}, {ReadWrite: []string{path}}} {
			if tt.want == "" && opts.ReadOnly != nil {
				opts.ReadOnly[0] = roots[0]
			}
			err := p.Apply(&opts, "")
			switch {
			case tt.want == "" && !errors.Is(err, engine.ErrDenied) && !errors.Is(err, engine.ErrInvalid):
				t.Errorf("Apply(%q) = %v, want ErrDenied", tt.path, err)
			case tt.want != "" && err != nil:
				t.Errorf("Apply(%q) = %v", tt.path, err)
			case tt.want != "" && opts.WorkDir != "" && opts.WorkDir != want, tt.want != "" && opts.Overlay != "" && opts.Overlay != want:
				t.Errorf("Apply(%q) leads to %q%q, want %q", tt.path, opts.WorkDir, opts.Overlay, want)
			}
		}
	}
	if err := p.Apply(&engine.Options{WorkDir: "root"}, ""); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("Apply of a relative path = %v, want ErrInvalid", err)
	}
	if err := OwnerPolicy().Apply(&engine.Options{WorkDir: filepath.Join(dir, "other")}, ""); err != nil && runtime.GOOS != "windows" {
		t.Errorf("Apply by the owner = %v", err)
	}
}

// The answer does not tell what the host has.
func TestPolicy_ApplyPathsTellNothing(t *testing.T) {
	dir := realTemp(t)
	makeDirs(t, dir, "root", "there")
	p := &Policy{ReadOnly: []string{filepath.Join(dir, "root")}}
	there := p.Apply(&engine.Options{ReadOnly: []string{filepath.Join(dir, "there")}}, "")
	none := p.Apply(&engine.Options{ReadOnly: []string{filepath.Join(dir, "none")}}, "")
	if there == nil || none == nil || there.Error() != none.Error() {
		t.Errorf("for a path that is there: %v, for one that is not: %v", there, none)
	}
}
