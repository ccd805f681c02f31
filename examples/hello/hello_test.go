// Package hello tests the script of this folder.
package hello

import (
	"os"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar"
)

// The script prints what its README says.
func TestHello(t *testing.T) {
	script, err := os.ReadFile("hello.py")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```text\n")
	want, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("README.md has no block of output")
	}

	session, err := sandbar.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	got, err := session.RunCode(t.Context(), string(script), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("hello.py prints %q, and README.md says %q", got, want)
	}
}
