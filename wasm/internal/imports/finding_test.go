package imports

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	got := mustDecode(t, `import 1 - 0 0 0 a.b
from 20 m 3 4 2 a c
from 2 - 0 0 1 . größe
from 3 - 0 0 0 a *
use 4 - a.b
use 5 mc a.b
use 6 cm a
use 999999999 m a
`)
	want := []Finding{
		{Statement: ImportStatement, Line: 1, Module: "a.b"},
		{Statement: FromStatement, Line: 20, Maybe: true, Guard: 3, Fallback: 4, Level: 2, Module: "a", Name: "c"},
		{Statement: FromStatement, Line: 2, Level: 1, Name: "größe"},
		{Statement: FromStatement, Line: 3, Module: "a", Name: "*"},
		{Statement: UseExpression, Line: 4, Module: "a.b"},
		{Statement: UseExpression, Line: 5, Maybe: true, Called: true, Module: "a.b"},
		{Statement: UseExpression, Line: 6, Maybe: true, Called: true, Module: "a"},
		{Statement: UseExpression, Line: 999999999, Maybe: true, Module: "a"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f, err := Decode(nil); err != nil || len(f) != 0 {
		t.Error(f, err)
	}
}

func TestDecode_Malformed(t *testing.T) {
	for _, line := range []string{
		"", " ", "import", "import 1", "import 1 - 0 0 0", "import 1 - 0 0 0 ", "import 1 - 0 0 0 a ", "import 1 - 0 0 0 a b", "import  1 - 0 0 0 a", " import 1 - 0 0 0 a",
		"import 0 - 0 0 0 a", "import -1 - 0 0 0 a", "import +1 - 0 0 0 a", "import 01 - 0 0 0 a", "import 1000000000 - 0 0 0 a", "import 1x - 0 0 0 a", "import 1 - 00 0 0 a",
		"import 1 - 99999999999999999999 0 0 a", "import 1  0 0 0 a", "import 1 c 0 0 0 a", "import 1 mm 0 0 0 a", "import 1 x 0 0 0 a", "import 1 -m 0 0 0 a", "import 1 - 0 0 0 a\tb",
		"import 1 - 0 0 0 a\x00", "import 1 - 0 0 0 \x7f", "import 1 - 0 0 0 a\r", "from 1 - 0 0 0 a", "from 1 - 0 0 0 . a", "from 1 c 0 0 0 a b", "from 1 - 0 0 0 a b c",
		"use 1 a", "use 1 - a b", "use 1 cc a", "use 1 mcm a", "use 1 - ", "uses 1 - a", "Import 1 - 0 0 0 a",
	} {
		if f, err := Decode([]byte("use 1 - a\n" + line + "\nuse 2 - b\n")); !errors.Is(err, ErrFindings) || f != nil {
			t.Errorf("%q: %v, %v", line, f, err)
		}
	}
	if f, err := Decode([]byte("use 1 - a")); !errors.Is(err, ErrFindings) || f != nil {
		t.Errorf("without an end: %v, %v", f, err)
	}
	line := "use 1 - " + strings.Repeat("a", 991) + "\n"
	if f, err := Decode([]byte(strings.Repeat(line, MaxFindings/1000))); err != nil || len(f) != MaxFindings/1000 {
		t.Errorf("within the limit: %d, %v", len(f), err)
	}
	if f, err := Decode([]byte(strings.Repeat(line, MaxFindings/1000+1))); !errors.Is(err, ErrFindings) || f != nil {
		t.Errorf("too long: %v, %v", len(f), err)
	}
}

// What is decoded can be written again and says the same, and no findings bring Decide down.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(scriptOf5kB))
	f.Add([]byte("from 2 mc 0 0 1 . x\nuse 6 cm a\nimport 1 - 1 2 3 \xff\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		findings, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrFindings) || findings != nil {
				t.Fatal(findings, err)
			}
			return
		}
		var out strings.Builder
		for i := range findings {
			encode(&out, &findings[i])
		}
		if diff := cmp.Diff(findings, mustDecode(t, out.String())); diff != "" || out.Len() != len(b) {
			t.Errorf("%q became %q: %s", b, out.String(), diff)
		}
		for _, auto := range []bool{false, true} {
			if _, err := Decide(findings, Config{Auto: auto, Files: newMemory(map[string]string{"a.py": string(b), "b/__init__.py": string(b), "c.so": ""})}); err != nil {
				t.Error(err)
			}
		}
	})
}

// encode writes a finding as the guest does.
func encode(b *strings.Builder, f *Finding) {
	flags := ""
	if f.Maybe {
		flags = "m"
	}
	if f.Called {
		flags += "c"
	}
	if flags == "" {
		flags = "-"
	}
	module := f.Module
	switch f.Statement {
	case ImportStatement:
		fmt.Fprintf(b, "import %d %s %d %d %d %s\n", f.Line, flags, f.Guard, f.Fallback, f.Level, module)
	case FromStatement:
		if module == "" {
			module = "."
		}
		fmt.Fprintf(b, "from %d %s %d %d %d %s %s\n", f.Line, flags, f.Guard, f.Fallback, f.Level, module, f.Name)
	case UseExpression:
		fmt.Fprintf(b, "use %d %s %s\n", f.Line, flags, module)
	}
}
