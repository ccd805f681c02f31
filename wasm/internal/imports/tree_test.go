package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	d := newDisk(t, map[string]string{"a.py": "text", "pkg/__init__.py": "", "pkg/b.py": ""})
	for name, want := range map[string]Entry{
		"a.py": {RegularFile, 4}, "pkg": {Type: Directory}, ".": {Type: Directory}, "pkg/b.py": {Type: RegularFile}, "nothing": {}, "a.py/x": {}, "../x": {}, "/": {}, "": {},
	} {
		if got, err := d.Stat(name); got != want || err != nil {
			t.Errorf("Stat(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	for name, want := range map[string][]string{".": {"a.py", "pkg"}, "pkg": {"__init__.py", "b.py"}, "a.py": nil, "nothing": nil, "..": nil} {
		got, err := d.List(name)
		slices.Sort(got.Names)
		if !slices.Equal(got.Names, want) || got.Exists != (want != nil) || got.Partial || err != nil {
			t.Errorf("List(%q) = %+v, %v, want %v", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"a.py": "text", "pkg": "nil", "nothing": "nil", "../a.py": "nil", "pkg/b.py": ""} {
		if got, err := d.Read(name, 4); string(orNil(got)) != want || err != nil {
			t.Errorf("Read(%q) = %q, %v, want %q", name, got, err, want)
		}
	}
	if got, err := d.Read("a.py", 3); got != nil || err != nil {
		t.Errorf("a file that is too large: %q, %v", got, err)
	}
}

func orNil(b []byte) []byte {
	if b == nil {
		return []byte("nil")
	}
	return b
}

func TestTree_Closed(t *testing.T) {
	d := newDisk(t, map[string]string{"a.py": ""})
	d.Root.Close()
	if _, err := d.Stat("a.py"); !errors.Is(err, fs.ErrClosed) {
		t.Error("Stat", err)
	}
	if _, err := d.List("."); !errors.Is(err, fs.ErrClosed) {
		t.Error("List", err)
	}
	if _, err := d.Read("a.py", 10); !errors.Is(err, fs.ErrClosed) {
		t.Error("Read", err)
	}
	if o, err := Decide(mustDecode(t, "import 1 - 0 0 0 a\n"), Config{Files: d, Auto: true}); !errors.Is(err, fs.ErrClosed) || o != nil {
		t.Error("Decide", o, err)
	}
}

// A directory with more names than are read is looked up name by name.
func TestTree_LargeDirectory(t *testing.T) {
	dir := t.TempDir()
	for i := range MaxNames + 10 {
		if err := os.WriteFile(fmt.Sprintf("%s/m%d.py", dir, i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := disk{Tree{root}}
	if l, err := d.List("."); err != nil || !l.Partial || len(l.Names) != MaxNames {
		t.Errorf("%v %v %d", err, l.Partial, len(l.Names))
	}
	l, err := d.List(".")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, name := range l.Names {
		read[name] = true
	}
	var script []Finding
	for i := range MaxNames + 10 {
		if name := fmt.Sprintf("m%d", i); i < 100 || !read[name+".py"] {
			script = append(script, Finding{Statement: ImportStatement, Line: 1, Module: name})
		}
	}
	if o, err := Decide(script, Config{Files: d, Auto: true}); o != nil || err != nil {
		t.Error(o, err)
	}
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/sub/x.py", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if o, err := Decide(mustDecode(t, "import 1 - 0 0 0 sub/x\n"), Config{Files: d, Auto: true}); o == nil || o.Kind != NotFound || err != nil {
		t.Error(o, err)
	}
	if o, err := Decide(mustDecode(t, "import 1 - 0 0 0 m_none\n"), Config{Files: d, Auto: true}); o == nil || o.Kind != NotFound || err != nil {
		t.Error(o, err)
	}
}

func TestSitePackages(t *testing.T) {
	d := newDisk(t, map[string]string{
		site + "b.pth": "/tmp/sandbox-work/src\n../../../../lib\n/tmp/sandbox-work/src/\n/tmp/sandbox-work/src/x.py\nimport x\n", site + "import x/y.py": "", site + "a.pth": "\ufeff/tmp/sandbox-work\nimport os\n#x\n\n/tmp/sandbox-work/nothing\n",
		"src/x.py": "", "lib/y.py": "", ".venv/lib64/python3.9/site-packages/z.py": "", ".venv/lib/python3.9/x": "",
	})
	got, err := SitePackages(d, ".venv", "/tmp/sandbox-work")
	want := []string{".venv/lib/python3.11/site-packages", ".", "src", "lib", ".venv/lib64/python3.9/site-packages"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	many := map[string]string{}
	for i := range maxPathFiles + 1 {
		many[fmt.Sprintf(site+"m%02d.pth", i)] = fmt.Sprintf("/tmp/sandbox-work/d%02d\n/tmp/sandbox-work/d%02d/e\n", i%3, i)
		many[fmt.Sprintf("d%02d/e/x.py", i)] = ""
	}
	if got, err = SitePackages(newMemory(many), ".venv", "/tmp/sandbox-work"); len(got) != maxFolders || slices.Contains(got, "d64/e") || err != nil {
		t.Errorf("%d folders: %q, %v", len(got), got, err)
	}
	for name := range many {
		if strings.HasSuffix(name, ".pth") && name != site+"m64.pth" {
			many[name] = ""
		}
	}
	if got, err = SitePackages(newMemory(many), ".venv", "/tmp/sandbox-work"); len(got) != 1 || err != nil {
		t.Errorf("the file past the limit was read: %q, %v", got, err)
	}
	if got, err = SitePackages(d, "none", ""); len(got) != 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
