package corpus

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar"
)

var update = flag.Bool("update", false, "write modules.golden again")

const modulesGolden = "modules.golden"

// TestModules_Golden imports each module of the standard library, each in a run of its own. The golden file
// tells which there are; the table in the documentation is made from it and from native.modules.
func TestModules_Golden(t *testing.T) {
	session, err := sandbar.Open(t.Context(), &sandbar.Options{PythonTier: sandbar.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	names, err := session.RunCode(t.Context(), "import sys; print(*sorted(sys.stdlib_module_names))", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for name := range strings.FieldsSeq(string(names)) {
		if name == "antigravity" { // opens a web browser
			continue
		}
		out, err := session.Exec(t.Context(), fmt.Sprintf(`
import importlib, io, sys
out, sys.stdout = sys.stdout, io.StringIO()
try:
    importlib.import_module(%q)
    text = "ok"
except BaseException as e:
    text = f"{type(e).__name__}: {e}"
print(text, end="", file=out)
`, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Result.ExitCode != 0 {
			t.Errorf("import %s: code %d, stderr %s", name, out.Result.ExitCode, out.Stderr)
		}
		fmt.Fprintf(&got, "%s: %s\n", name, out.Stdout)
	}
	if *update {
		if err := os.WriteFile(modulesGolden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := string(readFile(t, modulesGolden))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("importable modules differ from %s (-golden +got); run with -update if that is meant:\n%s", modulesGolden, diff)
	}
	sameNames(t, want)
}

// sameNames checks that native Python was asked for the same modules.
func sameNames(t *testing.T, modules string) {
	t.Helper()
	names := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			name, _, _ := strings.Cut(line, ":")
			all = append(all, name)
		}
		return all
	}
	if diff := cmp.Diff(names(string(readFile(t, "native.modules"))), names(modules)); diff != "" {
		t.Errorf("native.modules and %s have other names (-native +wasm):\n%s", modulesGolden, diff)
	}
}
