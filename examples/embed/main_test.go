package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The program prints what its README says. Where there is no native tier, it says so in the last part.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want, got := blocks(t, "README.md", "text")[0], out.String()
	if before, last, ok := strings.Cut(got, lastPart); ok && strings.HasPrefix(last, "run: engine: run not started: ") {
		if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "bwrap") {
			t.Errorf("bwrap is required here: %s", last)
		}
		want, _, _ = strings.Cut(want, lastPart)
		got = before
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the output differs from README.md (-want +got):\n%s", diff)
	}
}

const lastPart = "== a shell script and a Python script\n"

// The Go code in the project's README is code that was compiled and run.
func TestReadme(t *testing.T) {
	got := blocks(t, filepath.Join("..", "..", "README.md"), "go")
	files := []string{"least.go", "both.go"}
	if len(got) != len(files) {
		t.Fatalf("README.md has %d blocks of Go, want %d", len(got), len(files))
	}
	for i, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, want, ok := strings.Cut(string(source), "\n// The README of the project shows what follows.\n\n")
		if !ok {
			t.Fatalf("%s does not say which part the README shows", name)
		}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("README.md differs from %s (-want +got):\n%s", name, diff)
		}
	}
}

// blocks returns the code blocks of a language in a Markdown file, of which there is one at least.
func blocks(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n```"+language+"\n")[1:]
	if len(parts) == 0 {
		t.Fatalf("%s has no block of %s", file, language)
	}
	for i, part := range parts {
		code, _, ok := strings.Cut(part, "```\n")
		if !ok {
			t.Fatalf("%s: a block does not end", file)
		}
		parts[i] = code
	}
	return parts
}
