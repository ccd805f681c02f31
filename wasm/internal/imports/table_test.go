package imports

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range Table() {
		if row.Reason == "" || len(row.Reason) > 80 || strings.ContainsAny(row.Reason, "\n.;") {
			t.Errorf("%s: reason %q", row.Name, row.Reason)
		}
		if seen[row.Name] {
			t.Errorf("%s: twice", row.Name)
		}
		seen[row.Name] = true
		if row.Lacking && row.Kind != Use || !slices.Contains([]Kind{Absent, Useless, Use, Foreign}, row.Kind) {
			t.Errorf("%+v", row)
		}
	}
	table := Table()
	table[0].Reason = "changed"
	if Table()[0].Reason == "changed" {
		t.Error("Table gives out its own rows")
	}
	if !slices.IsSortedFunc(moduleTable, func(a, b Row) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
}

// What the library has is what the golden of package wasm says can be imported, and each row of a module that cannot be
// imported is one there.
func TestLibrary_Golden(t *testing.T) {
	b, err := os.ReadFile("../../python/testdata/modules.golden")
	if err != nil {
		t.Fatal(err)
	}
	l, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	failing := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		name, problem, _ := strings.Cut(strings.TrimSpace(line), " ")
		row := moduleRows[name]
		switch {
		case problem == "" && l.modules[name] == nil:
			t.Errorf("%s can be imported, and is not in the library: %+v", name, row)
		case problem != "" && l.modules[name] != nil:
			t.Errorf("%s is in the library, and cannot be imported: %s", name, problem)
		case problem != "" && (row == nil || row.Kind == Useless):
			t.Errorf("%s cannot be imported, and has no row: %s", name, problem)
		}
		failing[name] = problem != ""
	}
	for _, row := range moduleTable {
		fails, there := failing[row.Name]
		if there && fails == (row.Kind == Useless) || !there && row.Name != "antigravity" {
			t.Errorf("%s: %s, and the golden has it %v, failing %v", row.Name, row.Kind, there, fails)
		}
	}
}
