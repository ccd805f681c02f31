package imports_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/wasm/internal/imports"
)

// treesScript runs the script of each tree as a session of its own would, and prints whether an import ends it.
const treesScript = `
import importlib, json, os, sys

path, before = sys.path[1:], set(sys.modules)
for name in json.load(open("given.json")):
    root = os.path.join(os.getcwd(), name)
    sys.path[:] = [root, *path, os.path.join(root, ".venv/lib/python3.11/site-packages")]
    importlib.invalidate_caches()
    try:
        exec(compile(open(os.path.join(root, "main.script")).read(), name, "exec"), {"__name__": "__main__"})
    except (ImportError, KeyError) as e:  # a KeyError: CPython misses the parent of a namespace package
        print("fails:", e)
    else:
        print("runs")
    for module in set(sys.modules) - before:
        del sys.modules[module]
`

// trees is how many random trees of modules the interpreter is asked about. In about one of 1500 an __init__.py binds a
// name that a module of the package has as well, which findings do not show: not in these.
const trees = 200

// What Decide says of a random tree of modules is what the interpreter does with it: whether an ImportError ends the
// script.
func TestTruth_Trees(t *testing.T) {
	dir := t.TempDir()
	names := make([]string, trees)
	made := make([]*forest, trees)
	for i := range trees {
		names[i] = fmt.Sprintf("t%d", i)
		made[i] = newForest(int64(i))
		made[i].write(t, filepath.Join(dir, names[i]))
	}
	give(t, dir, names)
	got := interpret(t, dir, treesScript)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	failed := 0
	for i, f := range made {
		files := made[i].files(imports.Tree{Root: root}, names[i])
		o, err := imports.Decide(f.main.findings, imports.Config{Cwd: names[i], Venv: names[i] + "/.venv", Files: files, Auto: true})
		if err != nil {
			t.Fatal(err)
		}
		if fails := got[i] != "runs"; fails != (o != nil) {
			t.Errorf("tree %d: the interpreter says %q, Decide %v\n%s", i, got[i], o, f)
		} else if fails {
			failed++
		}
	}
	if failed < trees/10 || failed > trees*9/10 {
		t.Errorf("of %d trees %d fail: the trees test nothing", trees, failed)
	}
}

// forest is a random tree of modules: the script and what it can import.
type forest struct {
	random  *rand.Rand
	main    *source
	sources map[string]*source // by path
	exists  map[string]bool
	others  []string // files that are no source
}

// source is a file, as text and as findings.
type source struct {
	text     strings.Builder
	findings []imports.Finding
	lines    int
	tries    int
}

func (s *source) line(format string, args ...any) {
	fmt.Fprintf(&s.text, format+"\n", args...)
	s.lines++
}

// places are where the forest may have modules. A place below a package that is not there is a namespace package.
var places = []string{
	"a.py", "b.py", "c.py", "d/__init__.py", "d/x.py", "d/y.py", "d/e/__init__.py", "d/e/x.py", "n/x.py", "ssl.py", "fast.so", "d/fast.so",
	".venv/lib/python3.11/site-packages/a.py", ".venv/lib/python3.11/site-packages/p/__init__.py", ".venv/lib/python3.11/site-packages/p/x.py",
	".venv/lib/python3.11/site-packages/p/fast.so", ".venv/lib/python3.11/site-packages/n/y.py", ".venv/lib/python3.11/site-packages/q.py",
	".venv/lib/python3.11/site-packages/fast.py", ".venv/lib/python3.11/site-packages/json.py", ".venv/lib/python3.11/site-packages/b/__init__.py",
}

// targets are what a file may import.
var targets = []string{
	"a", "a", "b", "b", "c", "c", "d", "d.x", "d.y", "d.e", "d.e.x", "n", "n.x", "n.y", "p", "p.x", "q", "fast", "d.fast", "p.fast", "ssl", "json", "os.path",
	"ctypes", "fcntl", "xml.etree.ElementTree", "nothing", "json.nothing", "collections.abc",
}

// members are what a file may import from a package: a module of it, or v, which every source has.
var members = [][2]string{
	{"d", "x"},
	{"d", "y"},
	{"d", "e"},
	{"d.e", "x"},
	{"d.e", "v"},
	{"d", "v"},
	{"a", "v"},
	{"b", "v"},
	{"c", "*"},
	{"n", "x"},
	{"n", "y"},
	{"p", "x"},
	{"p", "v"},
	{"p", "fast"},
	{"q", "v"},
	{"xml", "etree"},
	{"json", "loads"},
	{"os", "getuid"},
	{"os", "path"},
	{"collections", "OrderedDict"},
}

func newForest(seed int64) *forest {
	f := &forest{random: rand.New(rand.NewSource(seed)), sources: map[string]*source{}, exists: map[string]bool{}}
	for _, place := range places {
		f.exists[place] = f.random.Intn(5) >= 2
	}
	for _, place := range places {
		switch {
		case !f.exists[place]:
		case strings.HasSuffix(place, ".so"):
			f.others = append(f.others, place)
		default:
			f.sources[place] = f.source(place, f.random.Intn(4))
		}
	}
	f.main = f.source("main.script", 1+f.random.Intn(4))
	return f
}

// source makes a file of some import statements.
func (f *forest) source(place string, statements int) *source {
	s := &source{}
	s.line("v = 1")
	for range statements {
		if f.random.Intn(3) > 0 {
			f.statement(s, place, imports.Finding{})
			continue
		}
		s.tries++
		n := s.tries
		s.line("try:")
		f.statement(s, place, imports.Finding{Guard: n})
		if f.random.Intn(3) == 0 {
			f.statement(s, place, imports.Finding{Guard: n})
		}
		s.line("except ImportError:")
		if f.random.Intn(2) == 0 {
			s.line("    pass")
		} else {
			f.statement(s, place, imports.Finding{Fallback: n, Maybe: true})
		}
	}
	return s
}

// statement adds an import statement.
func (f *forest) statement(s *source, place string, finding imports.Finding) {
	indent := ""
	if finding.Guard+finding.Fallback > 0 {
		indent = "    "
	}
	finding.Line = s.lines + 1
	switch inPackage := strings.Contains(strings.TrimPrefix(place, ".venv/lib/python3.11/site-packages/"), "/"); {
	case inPackage && f.random.Intn(2) == 0:
		finding.Statement, finding.Level = imports.FromStatement, 1
		finding.Name = []string{"x", "y", "fast"}[f.random.Intn(3)]
		if f.random.Intn(2) == 0 || !f.has(place[:strings.LastIndexByte(place, '/')], finding.Name) {
			finding.Module, finding.Name = finding.Name, "v"
		}
		s.line("%sfrom .%s import %s", indent, finding.Module, finding.Name)
	case f.random.Intn(3) == 0:
		finding.Statement = imports.FromStatement
		m := members[f.random.Intn(len(members))]
		finding.Module, finding.Name = m[0], m[1]
		for _, above := range []string{"", ".venv/lib/python3.11/site-packages/"} {
			above += strings.ReplaceAll(finding.Module, ".", "/")
			if f.exists[above+"/__init__.py"] && !f.has(above, finding.Name) && finding.Name != "*" {
				finding.Name = "v"
			}
		}
		if indent != "" && finding.Name == "*" {
			finding.Name = "v"
		}
		s.line("%sfrom %s import %s", indent, finding.Module, finding.Name)
	default:
		finding.Statement, finding.Module = imports.ImportStatement, targets[f.random.Intn(len(targets))]
		s.line("%simport %s", indent, finding.Module)
	}
	s.findings = append(s.findings, finding)
}

// has reports whether a package has a module. Whether it has another name is not to be seen without running it.
func (f *forest) has(dir, name string) bool {
	dir += "/" + name
	return f.exists[dir+".py"] || f.exists[dir+".so"] || f.exists[dir+"/__init__.py"]
}

// write makes the files.
func (f *forest) write(t *testing.T, dir string) {
	t.Helper()
	put := func(name, content string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("main.script", f.main.text.String())
	for name, s := range f.sources {
		put(name, s.text.String())
	}
	for _, name := range f.others {
		put(name, "")
	}
}

// String gives all files, for a test that fails.
func (f *forest) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- main\n%s", f.main.text.String())
	for name, s := range f.sources {
		fmt.Fprintf(&b, "-- %s\n%s", name, s.text.String())
	}
	fmt.Fprintf(&b, "-- %v\n", f.others)
	return b.String()
}

// files are the forest's findings on its directory.
func (f *forest) files(tree imports.Tree, dir string) imports.Files {
	return forestFiles{Tree: tree, forest: f, dir: dir}
}

type forestFiles struct {
	imports.Tree
	forest *forest
	dir    string
}

func (f forestFiles) Scan(name string) ([]imports.Finding, error) {
	s := f.forest.sources[strings.TrimPrefix(name, f.dir+"/")]
	if s == nil {
		return nil, fmt.Errorf("%s is no source of the forest", name)
	}
	return s.findings, nil
}
