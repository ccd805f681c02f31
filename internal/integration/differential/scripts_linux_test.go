package differential

import (
	"embed"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testuser"
)

// own are the scripts of this package. They are part of the test binary, so that a user who cannot enter this folder
// can run them too.
//
//go:embed all:scripts
var own embed.FS

// special are the scripts that do not run once with the defaults.
var special = map[string]settings{
	"environment": {opts: engine.Options{Env: map[string]string{
		"GREETING": "hello", "EMPTY": "", "LONG": strings.Repeat("x", 100_000), "BYTES": "\xff\xfe", "MULTI": "two\nlines", "EQ": "a=b=c", "lower": "case", "Ü": "umlaut",
	}}},
	"zone_variable":   {opts: engine.Options{Env: map[string]string{"TZ": "Europe/Zurich"}}},
	"disk_full":       {opts: engine.Options{Limits: engine.Limits{Disk: 1 << 20}}},
	"disk_files_full": {opts: engine.Options{Limits: engine.Limits{DiskFiles: 20}}},
	"file_too_big":    {opts: engine.Options{Limits: engine.Limits{FileSize: 100_000}, BestEffort: true}},
	"too_many_open":   {opts: engine.Options{Limits: engine.Limits{OpenFiles: 50}}},
	"tmp_full":        {opts: engine.Options{Limits: engine.Limits{Tmp: 1 << 20}}},
	"between_runs":    {runs: 3},
	"sqlite_file":     {runs: 2},
	"pickle_disk":     {runs: 2},
}

// The corpus of scripts that language models write.
func TestCorpus(t *testing.T) {
	compareAll(t, os.DirFS("../corpus/scripts"), 120)
}

// The scripts that look where the tiers could differ.
func TestScripts(t *testing.T) {
	scripts, err := fs.Sub(own, "scripts")
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, scripts, 80)
}

// The same from a program that is not root: files then belong to itself, in both tiers.
func TestUnprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	testuser.Again(t, "^(TestScripts|TestWorkspace_.*)$")
}

// compareAll runs each script of a folder in each place. Where it runs makes no difference, but for what the tables
// say: between the tiers, differences and hostPython; between the backends nothing.
func compareAll(t *testing.T, from fs.FS, least int) {
	minor := pythonMinor(t)
	for _, p := range natives {
		p.open(t) // skips
	}
	scripts, err := fs.Glob(from, "*.py")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < least {
		t.Fatalf("%d scripts, want at least %d", len(scripts), least)
	}
	for _, file := range scripts {
		name := strings.TrimSuffix(file, ".py")
		c := &script{name: name, from: from, settings: special[name]}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if why := leftOut[name]; why != "" {
				t.Skip(why)
			}
			c.compare(t, minor)
		})
	}
}

func (c *script) compare(t *testing.T, minor int) {
	wasm, userns, bubblewrap := c.runIn(t, inWasm), c.runIn(t, inUserns), c.runIn(t, inBubblewrap)
	if userns.text != bubblewrap.text {
		t.Errorf("the backends differ (-userns +bubblewrap):\n%s", diffLines(userns.text, bubblewrap.text))
	}
	want := expected(t, c.name, userns.text, minor)
	version, listed := hostPython[c.name]
	listed = listed && minor < version.since
	switch {
	case listed && want == wasm.text:
		t.Errorf("hostPython: Python 3.%d does the same as 3.13, against %q", minor, version.why)
	case !listed && want != wasm.text:
		t.Errorf("the tiers differ (-native +wasm):\n%s\nstderr of native\n%s\nof wasm\n%s", diffLines(want, wasm.text), userns.stderr, wasm.stderr)
	}
}

// expected puts the texts of the wasm tier into what the native one did, in one pass: what one row writes another
// does not change.
func expected(t *testing.T, name, native string, minor int) string {
	t.Helper()
	_, other := hostPython[name]
	var pairs []string
	for _, d := range differences[name] {
		if minor < d.since {
			continue
		}
		pairs = append(pairs, d.native, d.wasm)
		// A script that goes another way in an older Python may not come to the place.
		if !strings.Contains(native, d.native) && !other {
			t.Errorf("differences: %q (%s) is not what the native tier, with Python 3.%d, does", d.native, d.why, minor)
		}
	}
	return strings.NewReplacer(pairs...).Replace(native)
}

// A row without a script is stale; so is one that changes nothing.
func TestDifferences(t *testing.T) {
	exists := func(table, name string) {
		if _, err := own.Open("scripts/" + name + ".py"); err == nil {
			return
		}
		if _, err := os.Stat("../corpus/scripts/" + name + ".py"); err != nil {
			t.Errorf("%s: no script %s", table, name)
		}
	}
	reasons := map[string]bool{}
	for name, rows := range differences {
		exists("differences", name)
		for _, d := range rows {
			reasons[d.why] = true
			if d.native == d.wasm || d.native == "" || d.why == "" {
				t.Errorf("differences: %s: row %v", name, d)
			}
		}
	}
	for name, v := range hostPython {
		exists("hostPython", name)
		if v.why == "" || v.since < oldestPython || v.since > newestPython {
			t.Errorf("hostPython: %s: row %v", name, v)
		}
	}
	for name := range volatile {
		exists("volatile", name)
	}
	for name := range leftOut {
		exists("leftOut", name)
	}
	for name := range special {
		exists("special", name)
	}
	t.Logf("%d scripts differ between the tiers, for %d reasons; %d more, or these too, for the host's Python", len(differences), len(reasons), len(hostPython))
}

// diffLines compares line by line, each quoted, so that no byte is invisible.
func diffLines(want, got string) string {
	quoted := func(s string) []string {
		var lines []string
		for line := range strings.Lines(s) {
			lines = append(lines, strconv.QuoteToASCII(line))
		}
		return lines
	}
	return cmp.Diff(quoted(want), quoted(got))
}
