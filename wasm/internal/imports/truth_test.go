package imports_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm"
	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
)

// interpret runs a script in the tier, in a work directory, and returns the lines that it prints.
func interpret(t *testing.T, dir, script string) []string {
	t.Helper()
	d := wasm.New(nil)
	t.Cleanup(func() { d.Close() })
	s, err := d.Open(t.Context(), &engine.Options{WorkDir: dir, PythonTier: engine.TierWasm})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	out, err := s.Exec(t.Context(), script, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.ExitCode != 0 || len(out.Stderr) > 0 {
		t.Fatalf("code %d, stdout %s, stderr %s", out.Result.ExitCode, out.Stdout, out.Stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out.Stdout), "\n"), "\n")
}

// give writes a value as JSON for a script.
func give(t *testing.T, dir string, value any) {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "given.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// tableScript says for each row what is true of it: "ok" or the error of importing it, and for a use whether its
// module has it.
const tableScript = `
import contextlib, importlib, io, json

def attempt(name):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(name)
    except Exception as e:
        return e

for name, use in json.load(open("given.json")):
    module, _, attribute = name.rpartition(".") if use else (name, "", "")
    found = attempt(module)
    print("fails" if isinstance(found, Exception) else "there" if not use or hasattr(found, attribute) else "lacking")
`

// Each row of the tables is true: what is absent cannot be imported, what is useless can be, what is lacking is, and
// the other functions and classes are there.
func TestTruth_Table(t *testing.T) {
	var given [][2]any
	for _, row := range imports.Table() {
		given = append(given, [2]any{row.Name, row.Kind == imports.Use})
	}
	dir := t.TempDir()
	give(t, dir, given)
	got := interpret(t, dir, tableScript)
	for i, row := range imports.Table() {
		want := "there"
		switch {
		case row.Kind == imports.Absent, row.Kind == imports.Foreign:
			want = "fails"
		case row.Lacking:
			want = "lacking"
		}
		if got[i] != want {
			t.Errorf("%s (%s): is %s, want %s", row.Name, row.Kind, got[i], want)
		}
	}
}

// libraryScript compares what is built in and frozen, imports each module of the library, and looks at what
// sys.modules has then.
const libraryScript = `
import _imp, contextlib, importlib, io, json, sys

given = json.load(open("given.json"))
for kind, names in (("built in", sys.builtin_module_names), ("frozen", _imp._frozen_module_names())):
    for name in set(given[kind]) ^ set(names):
        print(name, "is not", kind, "in both lists")
if given["suffixes"] != _imp.extension_suffixes():
    print("suffixes", _imp.extension_suffixes())
for name in given["modules"]:
    if name in ("antigravity", "this") or name.endswith(".__main__"):
        continue
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(name)
    except Exception as e:
        print(name, "cannot be imported:", e)
for name in sorted(set(sys.modules) - set(given["modules"])):
    # Names that the interpreter gives its own copies of modules, and packages that are none.
    if not name.startswith(("_sysconfigdata_", "_frozen_importlib")) and name != "__mp_main__":
        print(name, "is in sys.modules and not in the library")
print("done")
`

// The library is the interpreter's, with all that is not in its archive.
func TestTruth_Library(t *testing.T) {
	modules, err := imports.LibraryModules()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	give(t, dir, map[string][]string{"built in": imports.BuiltInModules, "frozen": imports.FrozenModules, "modules": modules, "suffixes": imports.TierSuffixes})
	if got := interpret(t, dir, libraryScript); len(got) != 1 || got[0] != "done" {
		t.Error(strings.Join(got, "\n"))
	}
}
