package wasm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	modulesGolden = "python/testdata/modules.golden"
	tierDocument  = "../docs/python-tier.md"
)

// modulesScript tries to import every module that CPython has on some system, and every module of a package
// that can be imported, and prints a line for each: its name, and the error if there is one.
const modulesScript = `
import contextlib, importlib, io, os, pkgutil, sys

# Importing these has an effect, or no end.
SKIP = {"antigravity", "this", "__main__", "idlelib.idle"}

def attempt(name):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(name)
    except BaseException as e:
        return f" {type(e).__name__}: {e}"
    return ""

names = set(sys.stdlib_module_names) - SKIP
names |= {m.name for m in pkgutil.iter_modules(["/usr/lib/python3.13"])} - SKIP
result = {}
while names:
    name = min(names)
    names.remove(name)
    result[name] = attempt(name)
    path = getattr(sys.modules.get(name), "__path__", None)
    if path:
        found = {name + "." + m.name for m in pkgutil.iter_modules(path)}
        names |= {n for n in found if not n.endswith(".__main__")} - SKIP - set(result)
for name in sorted(result):
    print(name + result[name])
`

// Which modules there are is the same as before, and what is not there is in the document.
func TestModules(t *testing.T) {
	got := mustPrint(t, openSession(t, shared(t)), modulesScript)
	if *update {
		if err := os.MkdirAll("python/testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(modulesGolden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		updateDocument(t, got)
	}
	want, err := os.ReadFile(modulesGolden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the modules are not those of %s (-golden +now); go test ./wasm -run TestModules -update\n%s", modulesGolden, diff)
	}
	document, err := os.ReadFile(tierDocument)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), absentTable(got)) {
		t.Errorf("%s does not have the table of absent modules as it is now; go test ./wasm -run TestModules -update", tierDocument)
	}
}

// The advice that a script gets for an absent module knows every one of them.
func TestModules_Advice(t *testing.T) {
	golden, err := os.ReadFile(modulesGolden)
	if err != nil {
		t.Fatal(err)
	}
	s := openSession(t, shared(t))
	missing := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		name, problem, absent := strings.Cut(strings.TrimSpace(line), " ")
		if !absent || strings.Contains(name, ".") || !strings.HasPrefix(problem, "ModuleNotFoundError") || elsewhere[name] {
			continue
		}
		missing[name] = true
		exit, _, stderr := runScript(t, s, "import "+name)
		if !strings.HasPrefix(exit.Advice, "sandbar: the wasm tier has no module") || !strings.Contains(stderr, exit.Advice) {
			t.Errorf("import %s: advice %q, stderr %q", name, exit.Advice, stderr)
		}
	}
	for name := range strings.FieldsSeq(mustPrint(t, s, "import _sandbar_runner; print(*_sandbar_runner.ABSENT)")) {
		if !missing[name] {
			t.Errorf("%s counts as absent and is not", name)
		}
	}
	for _, name := range []string{"numpy", "nothing_of_this_name"} {
		if exit, _, _ := runScript(t, s, "import "+name); exit.Advice != "" {
			t.Errorf("import %s: advice %q, but it is not in a plain native Python either", name, exit.Advice)
		}
	}
}

// elsewhere are modules of other systems, of Debian's own tools, and of the interactive prompt.
var elsewhere = map[string]bool{
	"_overlapped": true, "_scproxy": true, "_winapi": true, "_wmi": true, "msvcrt": true, "nt": true, "winreg": true, "winsound": true,
	"asyncio.windows_events": true, "asyncio.windows_utils": true, "encodings.mbcs": true, "encodings.oem": true,
	"multiprocessing.popen_spawn_win32": true, "_android_support": true, "_apple_support": true, "_ios_support": true,
	"_distutils_system_mod": true,
}

const (
	tableBegin = "<!-- modules: go test ./wasm -run TestModules -update -->\n"
	tableEnd   = "<!-- end of modules -->\n"
)

// absentTable is the section of the document, from the golden's lines with an error.
func absentTable(golden string) string {
	var b strings.Builder
	b.WriteString(tableBegin + "| module | error |\n|---|---|\n")
	for line := range strings.Lines(golden) {
		if name, problem, absent := strings.Cut(strings.TrimSpace(line), " "); absent && !elsewhere[name] && !strings.HasPrefix(name, "_pyrepl.") {
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(problem, "|", "\\|"))
		}
	}
	return b.String() + tableEnd
}

// updateDocument puts the table in the place of the one between the marks, or a section at the end.
func updateDocument(t *testing.T, golden string) {
	t.Helper()
	b, err := os.ReadFile(tierDocument)
	if err != nil {
		t.Fatal(err)
	}
	document := string(b)
	begin, end := strings.Index(document, tableBegin), strings.Index(document, tableEnd)
	if begin < 0 || end < begin {
		t.Fatalf("%s lacks the marks %q and %q", tierDocument, tableBegin, tableEnd)
	}
	document = document[:begin] + absentTable(golden) + document[end+len(tableEnd):]
	if err := os.WriteFile(tierDocument, []byte(document), 0o644); err != nil {
		t.Fatal(err)
	}
}
