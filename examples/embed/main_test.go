package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The program prints what its README says.
func TestRun(t *testing.T) {
	var got bytes.Buffer
	if err := run(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(block(t, "README.md", "text"), got.String()); diff != "" {
		t.Errorf("the output differs from README.md (-want +got):\n%s", diff)
	}
}

// The Go code in the project's README is code that was compiled and run.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile("least.go")
	if err != nil {
		t.Fatal(err)
	}
	_, want, ok := strings.Cut(string(source), "\n// The README of the project shows what follows.\n\n")
	if !ok {
		t.Fatal("least.go does not say which part the README shows")
	}
	got := block(t, filepath.Join("..", "..", "README.md"), "go")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.md differs from least.go (-want +got):\n%s", diff)
	}
}

// block returns the one code block of a language in a Markdown file.
func block(t *testing.T, file, language string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n```"+language+"\n")
	if len(parts) != 2 {
		t.Fatalf("%s has %d blocks of %s, want one", file, len(parts)-1, language)
	}
	code, _, ok := strings.Cut(parts[1], "```\n")
	if !ok {
		t.Fatalf("%s: the block does not end", file)
	}
	return code
}
