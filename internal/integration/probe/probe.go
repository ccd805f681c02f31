// Package probe is the hostile program of the native tier's tests, and what it must be answered. Only tests use it.
//
// The program (src, in C, linked statically) runs inside a sandbox, tries what a sandbox must refuse or must not
// show, and prints an id and an answer a line: the name of an errno, "OK", or a value. Its twins make the same
// calls in namespaces made for that, where they must work: a call that fails everywhere proves nothing.
package probe

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

//go:embed src
var sources embed.FS

// compiled is the program; it is made once for all tests of a binary.
var compiled = sync.OnceValues(compile)

// Build writes the program into a directory of the test's own, which everybody may enter, and returns its path. It
// skips the test where there is no gcc, and fails it if SANDBOX_REQUIRE names gcc.
func Build(tb testing.TB) string {
	tb.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "gcc") { //nolint:forbidigo // for tests only, and not in a file named so
			tb.Fatalf("the probe cannot be built: %v", err)
		}
		tb.Skipf("the probe cannot be built: %v", err)
	}
	program, err := compiled()
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "sandbar-probe-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	path := filepath.Join(dir, "probe")
	if err := os.Chmod(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	// While another test forks, the child has what is open here, and a file that is open for writing cannot run.
	syscall.ForkLock.RLock()
	err = os.WriteFile(path, program, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func compile() (program []byte, err error) {
	dir, err := os.MkdirTemp("", "sandbar-probe-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "src", "*.c"))
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "probe")
	cmd := exec.Command("gcc", append([]string{"-O1", "-Wall", "-Wextra", "-static", "-o", out}, files...)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the probe: %w\n%s", err, text)
	}
	return os.ReadFile(out)
}

// Args are what a run inside tells the probe about the host. A row that needs what is missing answers "not-given".
type Args struct {
	// HostPIDs are processes outside that belong to the host user of the sandbox, up to 15.
	HostPIDs []int
	// Abstract and Socket are listening UNIX sockets of the host: a name without its first NUL, and a path.
	Abstract, Socket string
	// Canary is a file of the host that must not be visible inside.
	Canary string
	// Secret is a text that stands in the environment of the test and in no environment inside.
	Secret string
	// Only picks the rows whose id starts with it.
	Only string
	// HostNet says that the run has the host's network: then nothing is tried that would send packets.
	HostNet bool
}

// Flags are the arguments of the program.
func (a *Args) Flags() []string {
	flags := []string{"--inside"}
	for _, pid := range a.HostPIDs {
		flags = append(flags, "--host-pid", fmt.Sprint(pid))
	}
	for _, f := range [][2]string{{"--abstract", a.Abstract}, {"--socket", a.Socket}, {"--canary", a.Canary}, {"--secret", a.Secret}, {"--only", a.Only}} {
		if f[1] != "" {
			flags = append(flags, f[0], f[1])
		}
	}
	if a.HostNet {
		flags = append(flags, "--host-net")
	}
	return flags
}

// Answers reads what the program has printed: id to answer. A line without an answer is one that is empty.
func Answers(output []byte) map[string]string {
	answers := map[string]string{}
	for line := range bytes.Lines(output) {
		id, answer, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		answers[id] = answer
	}
	return answers
}
