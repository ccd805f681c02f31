package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRun also shows the package from the outside: everything that a host has to do is in run.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("hello from a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	old := os.Stdout
	os.Stdout = out
	code, err := run([]string{"-dir", dir, "-env", "K=v", "testdata/hello.wasm", "argument"})
	os.Stdout = old
	if code != 3 || err != nil {
		t.Errorf("run = %d, %v, want 3", code, err)
	}
	if got, _ := os.ReadFile(out.Name()); string(got) != "hello from a file" {
		t.Errorf("output = %q", got)
	}
}

func TestRun_Errors(t *testing.T) {
	for _, args := range [][]string{{}, {"-dir"}, {"-what", "x", "p.wasm"}, {"none.wasm"}, {"-dir", "none", "testdata/hello.wasm"}, {"main.go"}} {
		if _, err := run(args); err == nil {
			t.Errorf("run(%q): no error", args)
		}
	}
}
