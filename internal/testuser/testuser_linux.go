// Package testuser runs tests again as a user without rights. It is for tests alone.
package testuser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ID is the user and group: nobody's.
const ID = 61234

// Again runs the tests of this test binary whose names match pattern once more, as a user who is not root and
// has no capabilities. It does nothing when this process is not root: then they have run so already.
func Again(t *testing.T, pattern string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: the tests have no rights anyway")
	}
	// In the system's directory and not the test's, which others cannot enter.
	dir, err := os.MkdirTemp("/tmp", "testuser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(dir, ID, ID); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run=" + pattern, "-test.timeout=10m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.CommandContext(t.Context(), self(t, dir), args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir, "XDG_CACHE_HOME="+dir, "SANDBOX_REQUIRE="+required())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ID, Gid: ID}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as user %d: %v\n%s", ID, err, out)
		return
	}
	if testing.Verbose() {
		t.Logf("as user %d:\n%s", ID, out)
	}
	if strings.Contains(string(out), "no tests to run") {
		t.Errorf("nothing matches %q", pattern)
	}
}

// self is a copy of this test binary that the user can execute: go test keeps its own where only we can go.
func self(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "again.test")
	// While another test forks, the child has what is open here, and a file that is open for writing cannot run.
	syscall.ForkLock.RLock()
	err = os.WriteFile(path, data, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// required is what this machine has for root and for others: a user without rights has no cgroups.
func required() string {
	var words []string
	for word := range strings.SplitSeq(os.Getenv("SANDBOX_REQUIRE"), ",") { //nolint:forbidigo // for tests only, and not in a file named so
		if word != "cgroup" {
			words = append(words, word)
		}
	}
	return strings.Join(words, ",")
}
