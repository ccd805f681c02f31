package server

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

func TestOpenPolicies(t *testing.T) {
	dir := realTemp(t)
	makeDirs(t, dir, "work", "data")
	work, data := filepath.Join(dir, "work"), filepath.Join(dir, "data")
	link(t, work, filepath.Join(dir, "link"))
	path := filepath.Join(t.TempDir(), "policies.yaml")
	writeConfig(t, path, fmt.Sprintf(`
# who asks for nothing
default:
wide:
  backends: [userns, "*"]
  network: [open]
  python_tiers: [wasm, auto]
  gpu: true
  venv: true
  work_dirs: [%q]
  overlays: [%q]
  read_only: [%q]
  read_write: [%q]
  max_limits:
    memory: 2GiB
    cpu: 90s
    output: none
    open_files: 1024
    file_size: 1 MiB
    tmp: 1048576
    tmp_files: none
    disk: 1TiB
    disk_files: 5
    processes: 64
  max_timeout: 10m
  max_idle_timeout: 1h
  max_lifetime: 24h
  max_sessions: 20
  max_runs: 4
  max_queued_runs: 0
  max_snapshots: 0
  allow_detach: true
  allow_best_effort: true
no-timeout: {max_timeout: none}
`, filepath.Join(dir, "link"), data, data, work))
	policies, err := OpenPolicies(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	wide := &Policy{
		Backends: []string{"userns", "*"}, Network: []netpolicy.Mode{netpolicy.Open}, PythonTiers: []engine.Tier{engine.TierWasm, engine.TierAuto},
		GPU: true, Venv: true, WorkDirs: []string{work}, Overlays: []string{data}, ReadOnly: []string{data}, ReadWrite: []string{work},
		Max: engine.Limits{
			Memory: 2 << 30, CPU: 90 * time.Second, Output: NoMaximum, OpenFiles: 1024, FileSize: 1 << 20, Tmp: 1 << 20, TmpFiles: NoMaximum,
			Disk: 1 << 40, DiskFiles: 5, Processes: 64,
		},
		MaxTimeout: 10 * time.Minute, MaxIdle: time.Hour, MaxLifetime: 24 * time.Hour,
		MaxSessions: 20, MaxRuns: 4, MaxQueued: -1, MaxSnapshots: -1, AllowDetach: true, AllowBestEffort: true,
	}
	for name, want := range map[string]*Policy{"default": {}, "wide": wide, "no-timeout": {MaxTimeout: engine.NoTimeout}} {
		got, ok := policies.Named(name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("policy %s: %s", name, diff)
		}
	}
	if _, ok := policies.Named("other"); ok {
		t.Error("there is a policy that the file does not have")
	}
}

func TestOpenPolicies_Bad(t *testing.T) {
	dir := realTemp(t)
	makeDirs(t, dir, "work/in")
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "no policy"},
		{"no default", "other: {}", "no policy"},
		{"unknown field", "default: {gpus: true}", "gpus"},
		{"unknown limit", "default: {max_limits: {ram: 1}}", "ram"},
		{"policy twice", "default: {}\ndefault: {}", "already"},
		{"field twice", "default:\n  gpu: true\n  gpu: false", "already"},
		{"two documents", "default: {}\n---\ndefault: {gpu: true}", "document"},
		{"no YAML", "default: [", "yaml"},
		{"list", "- default", "yaml"},
		{"name", `{default: {}, "a b": {}}`, "a b"},
		{"mode", "default: {network: [none]}", "mode"},
		{"tier", "default: {python_tiers: [native, fast]}", "fast"},
		{"backend", `default: {backends: ["a b"]}`, "name"},
		{"negative memory", "default: {max_limits: {memory: -1}}", "line 1"},
		{"no memory", "default: {max_limits: {memory: 0}}", "line 1"},
		{"large memory", "default: {max_limits: {memory: 8388608TiB}}", "line 1"},
		{"unit", "default: {max_limits: {memory: 1GB}}", "line 1"},
		{"fraction", "default: {max_limits: {memory: 1.5GiB}}", "line 1"},
		{"none with a unit", "default: {max_limits: {memory: noneGiB}}", "line 1"},
		{"list as size", "default: {max_limits: {memory: [1]}}", "line 1"},
		{"large count", "default: {max_limits: {processes: 4294967296}}", "line 1"},
		{"time without a unit", "default: {max_timeout: 60}", "line 1"},
		{"negative time", "default: {max_timeout: -1s}", "line 1"},
		{"zero time", "default: {max_timeout: 0s}", "line 1"},
		{"long time", "default: {max_timeout: 9999999h}", "line 1"},
		{"infinite time", "default: {max_timeout: .inf}", "line 1"},
		{"no idle timeout", "default: {max_idle_timeout: none}", "max_idle_timeout"},
		{"negative number", "default: {max_runs: -1}", "line 1"},
		{"relative root", "default: {read_only: [usr]}", "absolute"},
		{"root that is not there", fmt.Sprintf("default: {read_only: [%q]}", filepath.Join(dir, "none")), "none"},
		{"root in a root", fmt.Sprintf("default: {work_dirs: [%q], read_only: [%q]}", filepath.Join(dir, "work"), filepath.Join(dir, "work", "in")), "scripts can write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "policies.yaml")
			writeConfig(t, path, tt.text)
			if _, err := OpenPolicies(path, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("OpenPolicies = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestOpenPolicies_RootModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	dir := realTemp(t)
	makeDirs(t, dir, "good/in", "group/in", "others/in", "sticky/in")
	for name, mode := range map[string]os.FileMode{"group": 0o770, "others": 0o707, "sticky": 0o777 | os.ModeSticky} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for root, ok := range map[string]bool{
		"good": true, "good/in": true, "sticky/in": true,
		"sticky": false, "group": false, "others": false, "group/in": false, "others/in": false,
	} {
		path := filepath.Join(t.TempDir(), "policies.yaml")
		writeConfig(t, path, fmt.Sprintf("default: {read_only: [%q]}", filepath.Join(dir, root)))
		if _, err := OpenPolicies(path, nil); (err == nil) != ok {
			t.Errorf("OpenPolicies with the root %s = %v, want success %v", root, err, ok)
		}
	}
}

// A policy that is changed holds for the next call, and one that is taken out leaves its principals nothing.
func TestOpenPolicies_Reload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policies.yaml")
	writeConfig(t, path, "{default: {}, ml: {gpu: true}}")
	policies, err := OpenPolicies(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: time.Now().Add(time.Hour)}
	policies.file.now = clock.Now
	token, hash := NewToken()
	lines := filepath.Join(t.TempDir(), "tokens")
	writeConfig(t, lines, "ada "+hash+" policy=ml\n")
	tokens, err := OpenTokens(lines, &FileOptions{Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	header := authorization("Bearer " + token)
	gpu := engine.Options{GPU: true}
	p, err := tokens.Authenticate(header, nil)
	if err != nil || p.Policy.Apply(&gpu, "") != nil {
		t.Fatalf("Authenticate = %+v, %v", p, err)
	}
	writeConfig(t, path, "{default: {}, ml: {gpu: false}}")
	clock.step(watchEvery)
	if p, err = tokens.Authenticate(header, nil); err != nil || p.Policy.Apply(&gpu, "") == nil {
		t.Errorf("after a change: %+v, %v", p, err)
	}
	writeConfig(t, path, "{default: {gpu: true}}")
	clock.step(watchEvery)
	p, err = tokens.Authenticate(header, nil)
	checkRefused(t, p, err, token)
}

func FuzzPolicies(f *testing.F) {
	f.Add([]byte("default: {max_limits: {memory: 2GiB, cpu: 1s}, max_timeout: none, network: [open]}\nother:\n"))
	f.Add([]byte("a: &x {gpu: true}\ndefault: {<<: *x}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		policies, err := parsePolicies(text)
		if err != nil {
			return
		}
		for name, p := range policies {
			if !isName(name) || p == nil || p.MaxTimeout < 0 || p.MaxIdle < 0 || p.MaxLifetime < 0 {
				t.Errorf("%q makes %+v", text, p)
			}
			var opts engine.Options
			if err := p.Apply(&opts, ""); err != nil {
				t.Errorf("a session without options is refused: %v, %q", err, text)
			}
			most := opts.Limits.Memory
			if most == 0 {
				most = engine.DefaultLimits().Memory
			}
			if p.Max.Memory > 0 && most > p.Max.Memory {
				t.Errorf("%q: memory %d, maximum %d", text, most, p.Max.Memory)
			}
		}
	})
}

// The example that is delivered can be used as it is.
func TestOpenPolicies_Example(t *testing.T) {
	text, err := os.ReadFile("../deploy/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := parsePolicies(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{defaultPolicy, "builders"} {
		if got[name] == nil {
			t.Errorf("it has no policy %q", name)
		}
	}
}
