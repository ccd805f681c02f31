//go:build unix

package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLeftovers_Remove(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	keep := filepath.Join(outside, "keep")
	made := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	made(os.WriteFile(keep, []byte("x"), 0o600))
	left := filepath.Join(dir, "sandbar-0123456789ab-77")
	made(os.MkdirAll(filepath.Join(left, "a", "b"), 0o700))
	made(os.WriteFile(filepath.Join(left, "a", "b", "f"), nil, 0o400))
	made(os.Symlink(outside, filepath.Join(left, "a", "link")))
	made(os.Chmod(filepath.Join(left, "a", "b"), 0))
	made(os.Chmod(filepath.Join(left, "a"), 0))
	made(os.Chmod(left, 0))
	deep := filepath.Join(dir, "sandbar-run-1")
	made(os.MkdirAll(filepath.Join(deep, strings.Repeat("d/", 1500)), 0o700))
	made(os.WriteFile(filepath.Join(dir, "sandbar-put-5"), []byte("spool"), 0o600))
	stay := []string{"mine", tempPrefix + "1"}
	for _, name := range stay {
		made(os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	made(os.Symlink(outside, filepath.Join(dir, "sandbar-link")))

	l, err := FindLeftovers(dir)
	made(err)
	if l.Len() != 3 {
		t.Errorf("FindLeftovers found %d, want 3", l.Len())
	}
	late := filepath.Join(dir, "sandbar-run-late") // made after the look: of a session of our own
	made(os.Mkdir(late, 0o700))
	n, err := l.Remove(t.Context())
	if n != 3 || err != nil {
		t.Errorf("Remove = %d, %v, want 3, nil", n, err)
	}
	for _, path := range []string{left, deep} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it gone", path, err)
		}
	}
	for _, path := range []string{keep, late, filepath.Join(dir, stay[0]), filepath.Join(dir, stay[1]), filepath.Join(dir, "sandbar-link")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	if n, err := l.Remove(t.Context()); n != 3 || err != nil {
		t.Errorf("Remove again = %d, %v, want 3, nil", n, err)
	}
}

func TestLeftovers_Errors(t *testing.T) {
	if _, err := FindLeftovers(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("FindLeftovers of nothing = %v, want fs.ErrNotExist", err)
	}
}
