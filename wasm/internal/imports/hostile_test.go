package imports

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// counting counts what a decision asks of Files, and gives up on one that does not end.
type counting struct {
	*memory
	calls int
}

func (c *counting) count() error {
	if c.calls++; c.calls > 1<<20 {
		return errBroken
	}
	return nil
}

func (c *counting) Stat(name string) (Entry, error) {
	e, _ := c.memory.Stat(name)
	return e, c.count()
}

func (c *counting) List(name string) (Listing, error) {
	l, _ := c.memory.List(name)
	l.Partial = len(l.Names) > 3 && strings.Contains(name, "b")
	return l, c.count()
}

func (c *counting) Read(name string, most int64) ([]byte, error) {
	b, _ := c.memory.Read(name, most)
	return b, c.count()
}

// parts of hostile names.
var parts = []string{"a", "b", "c", "ctypes", "json", "os", "__init__", "", "..", "a/b", "\xff", "x\x00", strings.Repeat("n", 300), "a.b", "v.py"}

func hostileName(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(t, label), ".")
}

func hostileFindings(t *rapid.T, label string) []Finding {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Finding {
		return Finding{
			Statement: Statement(rapid.IntRange(1, 3).Draw(t, "statement")), Line: rapid.IntRange(1, 9).Draw(t, "line"),
			Maybe: rapid.Bool().Draw(t, "maybe"), Called: rapid.Bool().Draw(t, "called"), Guard: rapid.IntRange(0, 2).Draw(t, "guard"),
			Fallback: rapid.IntRange(0, 2).Draw(t, "fallback"), Level: rapid.IntRange(0, 5).Draw(t, "level"), Module: hostileName(t, "module"),
			Name: rapid.SampledFrom(parts).Draw(t, "name"),
		}
	}), 0, 8).Draw(t, label)
}

// Whatever the findings and the files are, a decision ends, within its bounds, and is the same again.
func TestDecide_Hostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := newMemory(map[string]string{})
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			path := strings.ReplaceAll(rapid.SampledFrom([]string{"", site, "sub/"}).Draw(t, "folder")+hostileName(t, "path"), ".", "/")
			path += rapid.SampledFrom([]string{".py", "/__init__.py", ".so", ".pyc", ".pth", "", "/__init__.so"}).Draw(t, "suffix")
			var b strings.Builder
			switch rapid.IntRange(0, 5).Draw(t, "content") {
			case 0:
				fmt.Fprintf(&b, "->%s", strings.ReplaceAll(hostileName(t, "target"), ".", "/"))
			case 1:
				b.WriteString(rapid.SampledFrom([]string{"fifo", "!syntax", "/tmp/sandbox-work/a\n../..\nimport x\n", "->a", "->.", "->" + path}).Draw(t, "special"))
			default:
				for _, f := range hostileFindings(t, "findings") {
					encode(&b, &f)
				}
			}
			files.files[path] = b.String()
		}
		script := hostileFindings(t, "script")
		for _, auto := range []bool{false, true} {
			c := &counting{memory: newMemory(files.files)}
			cfg := Config{
				Cwd: rapid.SampledFrom([]string{"", "a", "a/b", "nothing"}).Draw(t, "cwd"), Venv: ".venv", WorkDir: "/tmp/sandbox-work", Files: lenient{c}, Auto: auto,
				Shadow: rapid.Bool().Draw(t, "shadow"),
			}
			first, err := Decide(script, cfg)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.scans) > MaxFiles {
				t.Fatalf("%d files", len(c.scans))
			}
			for name, n := range c.scans {
				if n > 1 {
					t.Fatalf("%q was scanned %d times", name, n)
				}
			}
			if again, err := Decide(script, cfg); err != nil || text(again) != text(first) {
				t.Fatalf("%v, then %v, %v", first, again, err)
			}
			if s := text(first); strings.ContainsFunc(s, func(r rune) bool { return !printable(r) }) || len(s) > 4096 {
				t.Fatalf("%q", s)
			}
		}
	})
}

// lenient takes findings that the tests write but cannot read again for none.
type lenient struct{ *counting }

func (l lenient) Scan(name string) ([]Finding, error) {
	f, err := l.counting.Scan(name)
	if err != nil {
		return nil, ErrNotPython
	}
	return f, nil
}

// A package that has itself as a module, by a link, ends by the length of its name.
func TestDecide_LinkToItself(t *testing.T) {
	files := newMemory(map[string]string{"p/__init__.py": "from 1 - 0 0 1 . p\n", "p/p": "->p"})
	c := &counting{memory: files}
	o, err := Decide(mustDecode(t, "import 1 - 0 0 0 p\n"), Config{Files: c, Auto: true})
	if err != nil || len(files.scans) > MaxFiles {
		t.Errorf("%v, %v, %d scans", o, err, len(files.scans))
	}
}

// crowded is a work directory whose every directory has very many names.
type crowded struct{ Files }

func (crowded) List(string) (Listing, error) {
	names := make([]string, MaxNames)
	for i := range names {
		names[i] = fmt.Sprintf("d%d", i)
	}
	return Listing{Names: names, Exists: true}, nil
}

// Neither many names nor many places to look in keep a decision up.
func TestDecide_Bounds(t *testing.T) {
	module := "d0"
	for range 20 {
		module += ".d1"
	}
	o, err := Decide(mustDecode(t, "import 7 - 0 0 0 "+module+"\n"), Config{Files: crowded{newMemory(nil)}, Auto: true})
	if err != nil || text(o) != "line 7: import "+module+": not decided: more than 262144 names in the directories that it imports from" {
		t.Errorf("many names: %v, %v", o, err)
	}
	script := make([]Finding, maxLookups+1)
	for i := range script {
		script[i] = Finding{Statement: ImportStatement, Line: i + 1, Guard: i + 1, Module: fmt.Sprintf("m%d", i)}
	}
	o, err = Decide(script, Config{Files: newMemory(nil), Auto: true})
	if err != nil || o == nil || o.Kind != Undecided || o.Line != maxLookups+1 {
		t.Errorf("many lookups: %v, %v", o, err)
	}
}
