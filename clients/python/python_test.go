// Package python_test tests the Python client against a real server.
package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/internal/testserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	testserver.Remove()
	os.Exit(code)
}

// The tests of the client itself, and those of the contract against a server.
func TestClient(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute, and the race detector sees nothing of it")
	}
	python, err := exec.LookPath("python3")
	testneed.Feature(t, "python3", err)
	s := testserver.Start(t, "--backend", "userns", "--listen", "unix:"+filepath.Join(t.TempDir(), "s"))
	cmd := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
	cmd.Env = append(os.Environ(), "SANDBAR_TEST_URL="+s.URLs[0], "SANDBAR_TEST_BACKEND=userns", "SANDBAR_TEST_OWNER=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out[max(0, len(out)-300):])
}
