package wasm

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCache_Sweep(t *testing.T) {
	top := t.TempDir()
	now := time.Now()
	old := now.Add(-sweepAge - time.Hour)
	c := cache{dir: filepath.Join(top, "00112233445566ff")}
	folders := []struct {
		name string
		used time.Time
		stay bool
	}{
		{"00112233445566ff", old, true},  // this version's own
		{"aabbccddeeff0011", old, false}, // another version's, not used for long
		{"aabbccddeeff0022", now, true},  // another version's, in use
		{"notes", old, true},             // not ours
		{"aabbccdd", old, true},          // not a key
	}
	for _, f := range folders {
		path := filepath.Join(top, f.name)
		if err := os.MkdirAll(filepath.Join(path, "compiled"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, f.used, f.used); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.sweep(now); err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(top, f.name)); (err == nil) != f.stay {
			t.Errorf("%s: stays %v, want %v", f.name, err == nil, f.stay)
		}
	}
}
