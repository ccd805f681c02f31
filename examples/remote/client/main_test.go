package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/internal/testserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	testserver.Remove()
	os.Exit(code)
}

// The programs of this folder work with a real server, and the one in Go prints what the README says.
func TestExamples(t *testing.T) {
	// A Python script needs no backend. None would be refused where there is nothing else, and bubblewrap may not be there.
	url := testserver.Start(t, "--backend", "userns").URLs[0]
	t.Run("go", func(t *testing.T) {
		var out bytes.Buffer
		if err := run(t.Context(), &out, url, ""); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(promised(t), out.String()); diff != "" {
			t.Errorf("the output differs from README.md (-want +got):\n%s", diff)
		}
	})
	for _, program := range []struct{ name, need, path, want string }{
		{"curl", "curl", "curl.sh", "Hello Ada\nHello Grace\n"},
		{"python", "python3", filepath.Join("python", "hello.py"), "Hello Ada\nHello Grace\n"},
	} {
		t.Run(program.name, func(t *testing.T) {
			_, err := exec.LookPath(program.need)
			testneed.Feature(t, program.need, err)
			cmd := exec.CommandContext(t.Context(), filepath.Join("..", program.path), url)
			if program.name == "python" {
				cmd = exec.CommandContext(t.Context(), program.need, "-B", filepath.Join("..", program.path), url)
				cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join("..", "..", "..", "clients", "python"))
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || !strings.HasPrefix(string(out), program.want) {
				t.Errorf("it printed %q and %q: %v", out, stderr.String(), err)
			}
		})
	}
}

// promised is the block of output in the README.
func promised(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```text\n")
	block, _, ok := strings.Cut(rest, "  ```\n")
	if !ok {
		t.Fatal("README.md has no block of text")
	}
	var b strings.Builder
	for line := range strings.Lines(block) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return b.String()
}
