package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

const module = "github.com/sandbar-dev/sandbar"

// A group is the packages at and below a path of the module; the longest path that fits a package counts.
// allowed are the groups that it may import beside itself; "*" is every group.
//
// Imports go one way: netpolicy <- engine <- tiers, remote, server <- root <- commands and examples. So
// the engine can be used without a tier, and a tier cannot reach into another.
var groups = []struct {
	path    string
	allowed []string
}{
	{"netpolicy", nil},
	{"engine", []string{"netpolicy"}},
	{"engine/enginetest", []string{"engine", "netpolicy"}},
	{"engine/remote", []string{"engine", "internal/wire", "netpolicy", "proto"}},
	{"wasm", []string{"engine", "netpolicy", "wasm/internal", "wasm/internal/imports", "wasm/internal/meter", "wasm/python"}},
	{"wasm/internal", nil},
	{"wasm/internal/imports", []string{"wasm/python"}}, // it reads names, and runs nothing
	{"wasm/internal/meter", nil},                       // a rewriter of hostile bytes: it can do nothing but compute
	{"wasm/python", nil},                               // a leaf: data, and no reason to compile anything with it
	{"native", []string{
		"engine", "netpolicy", "native/internal/cgroup", "native/internal/filter", "native/internal/rootfs", "native/internal/ruleset",
		"native/internal/spec", "native/internal/stage1", "native/internal/starter",
	}},
	{"native/internal", nil},        // a package here says in a row of its own what it needs
	{"native/internal/cgroup", nil}, // files of the kernel, and no idea of what a run is
	{"native/internal/filter", nil}, // it computes a program
	{"native/internal/rootfs", []string{"native/internal/spec"}},
	{"native/internal/ruleset", []string{"native/internal/rootfs", "native/internal/spec"}},
	{"native/internal/spec", nil},
	{"native/internal/stage1", []string{"native/internal/spec"}},
	{"native/internal/starter", nil}, // what becomes a script, and has all rights meanwhile
	{"proto", nil},
	{"server", []string{"engine", "internal/wire", "netpolicy", "proto", "server/console"}},
	{"server/console", nil}, // files, and their headers
	{"internal/wire", []string{"engine", "netpolicy", "proto"}},
	{"server/admin", []string{"engine", "server"}},
	{"server/metrics", []string{"engine", "internal/wire", "proto", "server"}},
	{"server/telemetry", []string{"engine", "internal/wire", "proto", "server"}},
	{".", []string{"engine", "engine/remote", "netpolicy", "wasm", "native"}},
	{"cmd", []string{"*"}},
	{"examples", []string{"*"}},
	{"bench", []string{"*"}},
	{"internal/integration", []string{"*"}},
	{"internal/daemon", []string{"engine", "native", "server", "server/admin", "server/metrics", "server/telemetry", "wasm"}}, // what both commands serve with
	{"internal/testneed", nil}, // for tests, whose imports nobody counts
	{"internal/testuser", nil},
	{"internal/testserver", nil},
	{"clients/python", nil}, // a test of programs in another language
}

// never lists what a package must not have among its dependencies, however far away.
var never = map[string][]string{
	"native/internal/stage1":  {module + "/engine", module + "/netpolicy", "log/slog", "net/http", "net", "os/exec"},
	"native/internal/starter": {module + "/engine", module + "/netpolicy", "log/slog", "net/http", "net"},
	// What plans a cell computes: it mounts, starts and asks nothing.
	"native/internal/spec":    planOnly,
	"native/internal/rootfs":  planOnly,
	"native/internal/ruleset": planOnly,
	"wasm/internal/imports":   {module + "/engine", "github.com/tetratelabs/wazero", "os/exec", "net", "net/http"},
	"wasm/internal/meter":     {"os/exec", "net", "net/http"},
	"engine":                  {"github.com/tetratelabs/wazero", "os/exec"},
	// Who embeds a server chooses what observes it.
	"server": {"github.com/prometheus/client_golang/prometheus", "go.opentelemetry.io/otel", "net/http/pprof"},
	// It puts profiles on http.DefaultServeMux.
	"server/admin": {"net/http/pprof"},
	"netpolicy":    {"os/exec"},
	"wasm/python":  {"os/exec", "net", "net/http"},
}

var planOnly = []string{"golang.org/x/sys/unix", "os/exec", "net", "net/http"}

// watched are the standard packages that the golden file lists. The others say little about what a
// package can do.
var watched = []string{"C", "net", "net/http", "os/exec", "plugin", "syscall", "unsafe"}

// A goPackage is what `go list` says of a package of this module.
type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImports_OneWay(t *testing.T) {
	for name, imports := range listImports(t) {
		from := groupOf(name)
		if from < 0 {
			t.Errorf("package %s is in no group: add it to the table of this test", name)
			continue
		}
		for _, path := range imports {
			local, ok := localName(path)
			if !ok {
				continue
			}
			if !mayImport(from, groupOf(local)) {
				t.Errorf("%s imports %s, which its group %q may not", name, local, groups[from].path)
			}
		}
	}
}

func TestImports_Never(t *testing.T) {
	for _, goos := range platforms {
		for _, pkg := range goList(t, goos) {
			name, _ := localName(pkg.ImportPath)
			for _, banned := range never[name] {
				if slices.Contains(pkg.Deps, banned) {
					t.Errorf("on %s, %s depends on %s", goos, name, banned)
				}
			}
		}
	}
}

// The golden file shows each new dependency to whoever reads the change that brings it.
func TestImports_Golden(t *testing.T) {
	all := listImports(t)
	var got bytes.Buffer
	fmt.Fprintln(&got, "# Imports per package on all platforms, without the standard library, except what reaches the kernel.")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&got, "\n%s\n", name)
		for _, path := range all[name] {
			if isStandard(path) && !slices.Contains(watched, path) {
				continue
			}
			fmt.Fprintf(&got, "\t%s\n", strings.TrimPrefix(path, module+"/"))
		}
	}
	golden := filepath.Join("testdata", "imports.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("imports differ from %s (-want +got); if it is meant, run this test with -update:\n%s", golden, diff)
	}
}

// platforms are the systems whose imports are looked at: each has files that the others leave out.
var platforms = []string{"linux", "darwin", "windows"}

// listImports returns the imports of each package of the module, over all platforms, sorted.
func listImports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, goos := range platforms {
		for _, pkg := range goList(t, goos) {
			name, ok := localName(pkg.ImportPath)
			if !ok {
				t.Fatalf("go list ./... names %s", pkg.ImportPath)
			}
			imports := append(all[name], pkg.Imports...)
			slices.Sort(imports)
			all[name] = slices.Compact(imports)
		}
	}
	return all
}

// goList runs `go list` on the whole module as if built for goos.
func goList(t *testing.T, goos string) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", goos, err, stderr.Bytes())
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg goPackage
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, pkg)
	}
}

// localName cuts the module's path off: "." is the root package.
func localName(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// isStandard reports whether path is of the standard library: its first element has no dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// groupOf returns the index of the group that a package belongs to, or -1.
func groupOf(name string) int {
	best := -1
	for i, g := range groups {
		if name != g.path && (g.path == "." || !strings.HasPrefix(name, g.path+"/")) {
			continue
		}
		if best < 0 || len(g.path) > len(groups[best].path) {
			best = i
		}
	}
	return best
}

// mayImport reports whether packages of the group from may import those of the group to.
func mayImport(from, to int) bool {
	if to < 0 {
		return false
	}
	allowed := groups[from].allowed
	return from == to || slices.Contains(allowed, "*") || slices.Contains(allowed, groups[to].path)
}

// The rules above are only worth something if they refuse.
func TestImports_TableRefuses(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"engine", "wasm", false},
		{"engine", "wasm/internal/meter", false},
		{"engine", "netpolicy", true},
		{"netpolicy", "engine", false},
		{"server", "wasm", false},
		{"server", "native", false},
		{"server", "engine", true},
		{"wasm", "native", false},
		{"wasm", "wasm/internal/guestfs", true},
		{"wasm/python", "engine", false},
		{"wasm/internal/meter", "wasm/internal/errno", false},
		{"native/internal/stage1", "engine", false},
		{"native/internal/stage1", "netpolicy", false},
		{"native/internal/stage1", "native/internal/rootfs", false},
		{"native/internal/stage1", "native/internal/spec", true},
		{"native/internal/spec", "native/internal/rootfs", false},
		{"native/internal/spec", "engine", false},
		{"native/internal/rootfs", "native/internal/spec", true},
		{"native/internal/rootfs", "native/internal/ruleset", false},
		{"native/internal/ruleset", "native/internal/rootfs", true},
		{"native/internal/ruleset", "native/internal/spec", true},
		{"native/internal/ruleset", "engine", false},
		{"native/internal/filter", "native/internal/spec", false},
		{"native/internal/cgroup", "native/internal/spec", false},
		{"native/internal/cgroup", "engine", false},
		{"native/internal/starter", "native/internal/spec", false},
		{"native/internal/new", "native/internal/spec", false},
		{"native", "internal/testuser", false},
		{"native", "native/internal/new", false},
		{"native", "native/internal/stage1", true},
		{"native", "netpolicy", true},
		{"native", "wasm", false},
		{"netpolicy", "native", false},
		{".", "wasm", true},
		{".", "cmd/sandbar", false},
		{"wasm", ".", false},
		{"cmd/sandbar", ".", true},
		{"engine", "nowhere", false},
	} {
		if got := mayImport(groupOf(tt.from), groupOf(tt.to)); got != tt.want {
			t.Errorf("%s imports %s: allowed = %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}
