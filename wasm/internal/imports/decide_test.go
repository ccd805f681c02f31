package imports

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// site is where the virtual environment of the tests has its packages.
const site = ".venv/lib/python3.11/site-packages/"

// A row is a script, by its findings, with the files that it can import.
type row struct {
	name   string
	script string
	// files are the findings of source files: see memory.
	files map[string]string
	// auto is the obstacle that Auto gives, "" for none. sure says whether it is one without Auto, and refused is the
	// one that is found then in its place.
	auto    string
	sure    bool
	refused string
	config  func(*Config)
}

// rows are all rules; each file of tests has those of some.
var rows = slices.Concat(libraryRows, fileRows, packageRows, guardRows, useRowsOfTests, boundRows)

func TestDecide(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rows {
		if names[r.name] {
			t.Errorf("two rows are named %q", r.name)
		}
		names[r.name] = true
		t.Run(r.name, func(t *testing.T) { checkRow(t, &r) })
	}
	if len(rows) < 120 {
		t.Errorf("%d rows", len(rows))
	}
}

func checkRow(t *testing.T, r *row) {
	t.Helper()
	script := mustDecode(t, r.script)
	refused := r.refused
	if r.sure {
		refused = r.auto
	}
	for _, c := range []struct {
		auto bool
		want string
	}{{true, r.auto}, {false, refused}} {
		files := newMemory(r.files)
		cfg := Config{Venv: ".venv", WorkDir: "/tmp/sandbox-work", Files: files, Auto: c.auto}
		if r.config != nil {
			r.config(&cfg)
		}
		got, err := Decide(script, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if text(got) != c.want {
			t.Errorf("auto %v: got  %q\nwant %q", c.auto, text(got), c.want)
		}
		if got != nil && !c.auto && !got.Sure {
			t.Errorf("%v is not sure", got)
		}
		if got != nil && c.auto && got.Sure != r.sure {
			t.Errorf("%v: sure is %v", got, got.Sure)
		}
		for name, n := range files.scans {
			if n > 1 {
				t.Errorf("%s was scanned %d times", name, n)
			}
		}
	}
}

func text(o *Obstacle) string {
	if o == nil {
		return ""
	}
	return o.String()
}

// No file is looked at for a script that imports the library alone, whatever else is there.
func TestDecide_LibraryWithoutFiles(t *testing.T) {
	for _, script := range []string{
		scriptOf5kB, "import 1 - 0 0 0 subprocess\n", "import 1 - 0 0 0 multiprocessing.shared_memory\n", "from 1 - 0 0 0 os fork\n", "from 1 - 0 0 0 xml.etree ElementTree\n",
		"from 1 - 0 0 0 json nothing\n", "import 1 - 0 0 0 json.nothing\n", "from 1 - 0 0 1 . x\n",
	} {
		if _, err := Decide(mustDecode(t, script), Config{Files: noFiles{t}, Venv: ".venv", Auto: true, WorkDir: "/tmp/sandbox-work"}); err != nil {
			t.Error(err)
		}
	}
}

// An obstacle says what it is in its fields, too.
func TestDecide_Obstacle(t *testing.T) {
	files := newMemory(map[string]string{site + "a/__init__.py": "from 9 - 0 0 1 . b\n", site + "a/b.py": "import 3 - 0 0 0 ctypes.util\n"})
	got, err := Decide(mustDecode(t, "import 1 - 0 0 0 os\nfrom 4 - 0 0 0 a c\n"), Config{Files: files, Venv: ".venv"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != Absent || got.Line != 4 || got.Import != "a" || !got.Sure || got.Reason != noMachineCode || !slices.Equal(got.Via, []string{"a", "a.b", "ctypes"}) {
		t.Errorf("%+v", got)
	}
}

// What cannot be decided because of the caller's files is an error, and no answer.
func TestDecide_Errors(t *testing.T) {
	for _, call := range []string{"stat", "list", "read", "scan"} {
		files := failing{newMemory(map[string]string{"m.py": "import 1 - 0 0 0 other\n", site + "x.pth": "/tmp/sandbox-work/src\n"}), call}
		if o, err := Decide(mustDecode(t, "import 1 - 0 0 0 m\n"), Config{Files: files, Auto: true, Venv: ".venv"}); !errors.Is(err, errBroken) || o != nil {
			t.Errorf("%s fails: %v, %v", call, o, err)
		}
	}
	for _, cfg := range []Config{{Cwd: ".."}, {Cwd: "/x"}, {Cwd: "a/../../b"}, {Venv: "../x"}, {Venv: "/"}, {Cwd: "a\x00b"}} {
		if o, err := Decide(nil, cfg); err == nil || o != nil {
			t.Errorf("%+v: %v, %v", cfg, o, err)
		}
	}
}

// failing is Files whose one method fails.
type failing struct {
	*memory
	call string
}

func (f failing) failure(call string) error {
	if call == f.call {
		return errBroken
	}
	return nil
}

func (f failing) Stat(name string) (Entry, error) {
	e, _ := f.memory.Stat(name)
	return e, f.failure("stat")
}

func (f failing) List(name string) (Listing, error) {
	l, _ := f.memory.List(name)
	return l, f.failure("list")
}

func (f failing) Read(name string, most int64) ([]byte, error) {
	b, _ := f.memory.Read(name, most)
	return b, f.failure("read")
}

func (f failing) Scan(name string) ([]Finding, error) {
	s, _ := f.memory.Scan(name)
	return s, f.failure("scan")
}

// Names of a hostile script are shown on one line, without effect on a terminal.
func TestObstacle_String(t *testing.T) {
	evil := "a\x1b[31m\u202e\xff\n" + strings.Repeat("x", 5000)
	o := Obstacle{Kind: NotFound, Line: 1, Import: evil, Via: []string{evil, evil, evil, "a", "b", "c", "d"}, Reason: "r"}
	got := o.String()
	if len(got) > 2000 || strings.ContainsAny(got, "\x1b\n\u202e") || !strings.Contains(got, " > ... > c > d: r") {
		t.Errorf("%q", got)
	}
}

// Each kind has a name.
func TestKind_String(t *testing.T) {
	seen := map[string]bool{}
	for k := Absent; k <= Foreign; k++ {
		if s := k.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("%d is %q", k, s)
		}
		seen[k.String()] = true
	}
	if fmt.Sprint(Kind(0), Kind(200)) != "unknown unknown" {
		t.Error(Kind(0), Kind(200))
	}
}
