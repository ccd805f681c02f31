package probe

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

func TestRules_Complete(t *testing.T) {
	for _, r := range rules() {
		if r.Class == "" || r.What == "" || r.Want == "" || r.IDs == "" {
			t.Errorf("rule %q lacks a class, a description or an answer: %+v", r.IDs, r)
		}
		if (strings.Contains(r.Want, "|") || strings.Contains(r.Open, "|")) && r.Why == "" {
			t.Errorf("rule %q has several answers and no reason", r.IDs)
		}
		if (r.Twin == "") == (r.NoTwin == "") {
			t.Errorf("rule %q needs a twin or a reason for having none, not both", r.IDs)
		}
	}
}

// The list of rows is a golden file: a row that is lost in the program would otherwise be missed by nobody.
func TestTable_Golden(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the golden list is that of amd64")
	}
	var got strings.Builder
	for _, r := range Table(t, Build(t)) {
		got.WriteString(r.ID + "\n")
	}
	golden := filepath.Join("testdata", "ids.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("rows differ from %s (-want +got); if it is meant, run this test with -update:\n%s", golden, diff)
	}
}

func TestTable_Join(t *testing.T) {
	list := []Rule{
		{IDs: "a.b", Want: "1"}, {IDs: "a.* c", Want: "2"}, {IDs: "unused", Want: "3"}, {IDs: "x", Class: "for amd64"},
	}
	rows, problems := join([]string{"a.b", "a.c", "c", "d", "c"}, list)
	var got []string
	for _, r := range rows {
		got = append(got, r.ID+"="+r.Want)
	}
	if want := []string{"a.b=1", "a.c=2", "c=2", "c=2"}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	if want := []string{"row d has no rule", "row c is there twice", `rule "unused" has no row`}; !slices.Equal(problems, want) {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a*", "a", true},
		{"a*c", "abc", true},
		{"a*c", "ab", false},
		{"a.*.d", "a.b/c.d", true},
		{"*a*", "bab", true},
		{"*", "", true},
		{"", "a", false},
	} {
		if got := matches(tt.pattern, tt.s); got != tt.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	row := func(id, want, open string) Row { return Row{ID: id, Rule: Rule{Want: want, Open: open}} }
	rows := []Row{row("one", "EPERM", ""), row("list", "EPERM|ENOSYS", ""), row("not", "!0", ""), row("open", "A", "B"), row("spaces", "a b", "")}
	right := Answers([]byte("one EPERM\nlist ENOSYS\nnot 41\nopen A\nspaces a b\n"))
	if got := Check(rows, right, &Args{}); len(got) != 0 {
		t.Errorf("right answers: %v", got)
	}
	if got := Check(rows, right, &Args{HostNet: true}); len(got) != 1 || !strings.HasPrefix(got[0], "open ") {
		t.Errorf("with the host's network: %v", got)
	}
	wrong := Answers([]byte("one OK\nlist EPERM|ENOSYS\nnot 0\nopen \n"))
	if got := Check(rows, wrong, &Args{}); len(got) != len(rows) {
		t.Errorf("wrong answers: %q", got)
	}
}

func TestArgs_Flags(t *testing.T) {
	args := &Args{HostPIDs: []int{7, 8}, Abstract: "a", Socket: "/s", Canary: "/c", Secret: "x", Only: "net.", HostNet: true}
	want := "--inside --host-pid 7 --host-pid 8 --abstract a --socket /s --canary /c --secret x --only net. --host-net"
	if got := strings.Join(args.Flags(), " "); got != want {
		t.Errorf("flags %q, want %q", got, want)
	}
}
