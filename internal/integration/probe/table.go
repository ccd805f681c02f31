package probe

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Row is one thing that the probe tries, and what it must be answered.
type Row struct {
	ID string
	Rule
}

// Rule is the expectation of one row, or of many that are alike.
type Rule struct {
	// IDs are patterns of ids, separated by spaces; "*" stands for any text. The first rule that fits an id is its.
	IDs string
	// Class groups the rules, What says what is tried.
	Class, What string
	// Want are the answers that are right in a sandbox, separated by "|": one, unless Why says where they differ.
	Want string
	// Open is Want for a run that has the host's network. Empty means Want.
	Open string
	// Why gives the reason of a Want that is a list or that surprises.
	Why string
	// Twin are the right answers outside, as in Want; with "!" before it, any answer but that one. Empty means that
	// there is no twin, and NoTwin says why.
	Twin, NoTwin string
}

// Reasons that many rows without a twin have.
const (
	hostCapability = "it takes a capability of the host's user namespace, which no test should have"
	sameEverywhere = "the kernel answers the same to everybody; the row shows that nothing is different inside"
	ownPlace       = "the row is a twin itself: it must work inside"
	perHost        = "what is there depends on the host"
	tellsOfSelf    = "it tells about the sandbox; outside there is nothing to expect"
	namesHost      = "it is about what the test names of the host"
)

// rules are all rules in the order in which they are looked at.
func rules() []Rule {
	return slices.Concat(callRules(), namespaceRules(), mountRules(), credRules(), processRules(), signalRules(), procRules(),
		fileRules(), pathRules(), deviceRules(), socketRules(), netRules(), oddRules(), viewRules())
}

// class sets the class of each of the rules.
func class(name string, list ...Rule) []Rule {
	for i := range list {
		list[i].Class = name
	}
	return list
}

// Table joins what the program of Build can try with what it must be answered. It fails the test if a row has no
// rule or a rule has no row.
func Table(tb testing.TB, program string) []Row {
	tb.Helper()
	out, err := exec.Command(program, "list").Output()
	if err != nil {
		tb.Fatalf("list the rows of the probe: %v", err)
	}
	ids := strings.Fields(string(out))
	rows, problems := join(ids, rules())
	for _, p := range problems {
		tb.Error(p)
	}
	return rows
}

// join gives each id its rule. A rule that only amd64 has rows for may be without any.
func join(ids []string, list []Rule) (rows []Row, problems []string) {
	used := make([]bool, len(list))
	seen := map[string]bool{}
	for _, id := range ids {
		i := slices.IndexFunc(list, func(r Rule) bool { return r.fits(id) })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("row %s has no rule", id))
			continue
		}
		if seen[id] {
			problems = append(problems, fmt.Sprintf("row %s is there twice", id))
		}
		seen[id], used[i] = true, true
		rows = append(rows, Row{ID: id, Rule: list[i]})
	}
	for i, ok := range used {
		if !ok && !strings.Contains(list[i].Class, "amd64") {
			problems = append(problems, fmt.Sprintf("rule %q has no row", list[i].IDs))
		}
	}
	return rows, problems
}

// fits reports whether one of the patterns is the id's.
func (r *Rule) fits(id string) bool {
	return slices.ContainsFunc(strings.Fields(r.IDs), func(pattern string) bool { return matches(pattern, id) })
}

// matches is a glob with "*" only, which stands for slashes and dots too.
func matches(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	if !star {
		return s == ""
	}
	for i := range len(s) + 1 {
		if matches(rest, s[i:]) {
			return true
		}
	}
	return false
}

// Check compares the answers of a run inside with the table and describes each that is wrong or missing. In a run
// with only part of the rows, give it those.
func Check(rows []Row, answers map[string]string, args *Args) []string {
	var wrong []string
	for _, r := range rows {
		want := r.Want
		if args.HostNet && r.Open != "" {
			want = r.Open
		}
		got, ok := answers[r.ID]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%s (%s, %s) has no answer, want %s", r.ID, r.Class, r.What, want))
		case !accepts(want, got):
			wrong = append(wrong, fmt.Sprintf("%s (%s, %s) = %s, want %s", r.ID, r.Class, r.What, got, want))
		}
	}
	return wrong
}

// accepts reports whether got is one of the answers, or none of them where want starts with "!".
func accepts(want, got string) bool {
	if other, not := strings.CutPrefix(want, "!"); not {
		return got != other
	}
	return slices.Contains(strings.Split(want, "|"), got)
}
