package sandbar_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar"
)

// aloneArg makes this test binary a program that runs Python and nothing else.
const aloneArg = "SANDBAR_TEST_ALONE"

// A program whose sessions run Python alone starts no process and is in the control groups that it was in, whatever
// limits it asks for.
func TestOpen_PythonAlone(t *testing.T) {
	if os.Getenv(aloneArg) == "" {
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestOpen_PythonAlone$", "-test.v")
		cmd.Env = append(os.Environ(), aloneArg+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestOpen_PythonAlone") {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	groups := readFile(t, "/proc/self/cgroup")
	s := open(t, sandbar.Bubblewrap, &sandbar.Options{Limits: sandbar.Limits{Memory: 128 << 20, Processes: 10}})
	if got := run(t, s, sandbar.Python, "print(2 + 2)"); got != "4\n" {
		t.Errorf("output %q", got)
	}
	if got := children(t); len(got) > 0 {
		t.Errorf("children %q", got)
	}
	if got := readFile(t, "/proc/self/cgroup"); got != groups {
		t.Errorf("control groups %q, before %q", got, groups)
	}
	if t.Failed() {
		return
	}
	// The twin: a shell script has what Python did without. It also shows that children are seen.
	s = open(t, sandbar.Bubblewrap, nil)
	if _, err := s.RunCode(t.Context(), "true", &sandbar.RunOptions{Type: sandbar.Shell}); err == nil && len(children(t)) == 0 {
		t.Error("a cell, and no child")
	}
}

// children are the names of this process's children: proc_pid_stat(5).
func children(t *testing.T) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		before, after, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent int
		if _, err := fmt.Sscan(after, &state, &parent); err == nil && parent == os.Getpid() {
			names = append(names, before+") "+state)
		}
	}
	return names
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
