package native

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// features are what tests need of a host, each with what tries it.
var features = map[string]func() error{
	"userns":       sync.OnceValue(func() error { return try(Userns) }),
	"bwrap":        sync.OnceValue(func() error { return try(Bubblewrap) }),
	"python3-venv": sync.OnceValue(tryVenv),
}

// try makes a cell.
func try(b Backend) error {
	d, err := New(&Options{Backend: b})
	if err != nil {
		return err
	}
	return errors.Join(d.Prepare(context.Background()), d.Close())
}

func tryVenv() error {
	p := findPython()
	if p.path == "" {
		return notThere(engine.Python)
	}
	return exec.Command(p.path, "-c", "import venv, pip").Run()
}

// need skips a test where the host lacks a feature, and fails it where SANDBOX_REQUIRE says that the host has it.
func need(tb testing.TB, feature string) {
	tb.Helper()
	err := features[feature]()
	if err == nil {
		return
	}
	required := slices.ContainsFunc(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), func(f string) bool { return f == feature })
	if required {
		tb.Fatalf("%s is required here: %v", feature, err)
	}
	tb.Skipf("%s: %v", feature, err)
}

// needBackend is need for a backend.
func needBackend(tb testing.TB, b Backend) {
	tb.Helper()
	need(tb, map[Backend]string{Userns: "userns", Bubblewrap: "bwrap"}[b])
}
