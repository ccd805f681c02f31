package filter

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

// children are the parts of tests that need a process of their own, by the first argument of the process.
var children = map[string]func(args []string) int{}

// TestMain runs the tests, or one of children.
func TestMain(m *testing.M) {
	flag.Parse()
	if part := children[flag.Arg(0)]; part != nil {
		os.Exit(part(flag.Args()[1:]))
	}
	os.Exit(m.Run())
}

// goarches are the architectures that have a filter.
var goarches = []string{"amd64", "arm64"}
