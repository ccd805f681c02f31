package native

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

var updateProfiles = flag.Bool("update-profiles", false, "write testdata/*.sb.golden again")

// oddPaths have what could end a string or begin a rule, and what is no text at all.
var oddPaths = []string{
	`/Users/o"o`, `/Users/back\slash`, "/Users/new\nline", `/Users/")(allow default)(`, `/Users/;comment`, "/Users/#| x |#", "/Users/=D=x", "/Users/\xff\xfe", "/Users/ü ☃", "/Users/-D",
}

// profiles are the configurations that have a golden file.
var profiles = map[string]*profileConfig{
	"blocked": {work: "/private/var/folders/w/sandbar-1", script: "/private/var/folders/w/sandbar-run-2/script", tmp: "/private/var/folders/w/sandbar-run-2/tmp", network: netpolicy.Blocked},
	"open": {
		work: "/Users/me/work", script: "/private/tmp/sandbar-run-2/script", tmp: "/private/tmp/sandbar-run-2/tmp", tty: "/dev/ttys003",
		network: netpolicy.Open,
	},
	"odd": {
		work: oddPaths[0], script: oddPaths[1] + "/script", tmp: oddPaths[1] + "/tmp", network: netpolicy.Blocked,
		grants: []profileGrant{
			{path: oddPaths[2], real: oddPaths[2], writable: true},
			{path: "/Users/me/link", real: oddPaths[3]},
			{path: oddPaths[7], real: oddPaths[7]},
		},
	},
}

// goldenProfile shows a profile and its parameters.
func goldenProfile(p *profile) string {
	var b strings.Builder
	b.WriteString(p.text)
	b.WriteString("\nparameters:\n")
	for _, param := range p.params {
		fmt.Fprintf(&b, "%q\n", param)
	}
	return b.String()
}

func TestBuildProfile_golden(t *testing.T) {
	for name, c := range profiles {
		t.Run(name, func(t *testing.T) {
			file, got := filepath.Join("testdata", name+".sb.golden"), goldenProfile(buildProfile(c))
			if *updateProfiles {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s differs; if that is meant, run the test with -update-profiles and explain it in the commit (-want +got):\n%s", file, diff)
			}
		})
	}
}

// TestBuildProfile_paths checks that nothing of a path gets into the text, whatever is in it.
func TestBuildProfile_paths(t *testing.T) {
	build := func(dir string) *profile {
		return buildProfile(&profileConfig{
			work: dir + "/w", script: dir + "/run/script", tmp: dir + "/run/tmp", tty: dir + "/tty", network: netpolicy.Open,
			grants: []profileGrant{{path: dir + "/a", real: dir + "/a", writable: true}, {path: dir + "/link", real: dir + "/b"}},
		})
	}
	plain := build("/Users/plain")
	for _, dir := range oddPaths {
		p := build(dir)
		if p.text != plain.text {
			t.Errorf("the path %q changes the text:\n%s", dir, cmp.Diff(plain.text, p.text))
		}
		for i, param := range p.params {
			if want := strings.ReplaceAll(plain.params[i], "/Users/plain", dir); param != want {
				t.Errorf("parameter %q, want %q", param, want)
			}
		}
	}
}

// TestBuildProfile_wellFormed reads the text as the language does: strings, comments, lists; and each parameter is
// given once and used.
func TestBuildProfile_wellFormed(t *testing.T) {
	named, quoted := regexp.MustCompile(`\(param "([A-Z_0-9]+)"\)`), regexp.MustCompile(`"[^"\\]*"`)
	for name, c := range profiles {
		p := buildProfile(c)
		depth := 0
		for i, line := range strings.Split(p.text, "\n") {
			if strings.HasPrefix(line, ";") {
				continue
			}
			bare := quoted.ReplaceAllString(line, "")
			if strings.ContainsAny(bare, `"\;`) {
				t.Errorf("%s, line %d: an open string, or a comment: %s", name, i+1, line)
			}
			depth += strings.Count(bare, "(") - strings.Count(bare, ")")
			if depth < 0 || (depth > 0 && line == "") {
				t.Errorf("%s, line %d: depth %d", name, i+1, depth)
			}
		}
		if depth != 0 {
			t.Errorf("%s: %d lists are open at the end", name, depth)
		}
		var used, given []string
		for _, m := range named.FindAllStringSubmatch(p.text, -1) {
			used = append(used, m[1])
		}
		for _, param := range p.params {
			key, _, _ := strings.Cut(strings.TrimPrefix(param, "-D"), "=")
			given = append(given, key)
		}
		slices.Sort(used)
		slices.Sort(given)
		if unique := slices.Compact(slices.Clone(given)); !slices.Equal(unique, given) {
			t.Errorf("%s: a parameter is given twice: %q", name, given)
		}
		if !slices.Equal(slices.Compact(used), given) {
			t.Errorf("%s: parameters %q are given, %q used", name, given, used)
		}
	}
}

// TestBuildProfile_least looks for what must not be there.
func TestBuildProfile_least(t *testing.T) {
	blocked, open := buildProfile(profiles["blocked"]).text, buildProfile(profiles["open"]).text
	for _, text := range []string{blocked, open} {
		if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") {
			t.Errorf("it begins with %.60q", text)
		}
		for _, never := range []string{"(allow default", "(subpath \"/\")", "(subpath \"/private\")", "(subpath \"/Users\")", "/dev/ptmx", "import", "network*", "(allow mach-lookup)", "Keychain"} {
			if strings.Contains(text, never) {
				t.Errorf("%q is in\n%s", never, text)
			}
		}
	}
	if strings.Contains(blocked, "network") || strings.Contains(blocked, "socket") || strings.Contains(blocked, "TTY") {
		t.Errorf("a blocked run without a terminal has\n%s", blocked)
	}
	if writes := regexp.MustCompile(`(?s)\(allow file-write\* *\n(.*?)\)\)\)`).FindStringSubmatch(buildProfile(profiles["odd"]).text); writes == nil ||
		strings.Contains(writes[1], "GRANT_1") || !strings.Contains(writes[1], "GRANT_0") {
		t.Errorf("what may be written is %q", writes)
	}
}

func TestSandboxExec_NotThere(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("it is there")
	}
	d, err := New(&Options{Backend: SandboxExec})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Prepare(t.Context())
	var start *StartError
	if !errors.As(err, &start) || !errors.Is(err, engine.ErrNotAvailable) || start.Backend != SandboxExec || start.Remedy == "" {
		t.Errorf("Prepare = %v", err)
	}
	if !strings.Contains(err.Error(), runtime.GOOS) {
		t.Errorf("%v does not name this system", err)
	}
	info := d.Info()
	if info.Backend != string(SandboxExec) || len(info.Warnings) == 0 || !slices.Contains(info.Unenforced, "Memory") {
		t.Errorf("Info = %+v", info)
	}
}
