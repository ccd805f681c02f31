package main

import (
	"io/fs"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestChangeLine(t *testing.T) {
	for _, tt := range []struct {
		change engine.Change
		want   string
	}{
		{engine.Change{Kind: engine.Added, Path: "a/b", Mode: 0o644, Size: 5}, "A a/b (5 bytes)"},
		{engine.Change{Kind: engine.Changed, Path: "a", Mode: 0o644, OldMode: 0o644, Size: 5, OldSize: 2048}, "M a (5 bytes, was 2.0 KiB)"},
		{engine.Change{Kind: engine.Changed, Path: "a", Mode: 0o644, OldMode: 0o600, Size: 5, OldSize: 5}, "M a (5 bytes)"},
		{engine.Change{Kind: engine.Changed, Path: "a", Mode: 0o644, OldMode: fs.ModeDir | 0o700, Size: 5}, "M a (5 bytes)"},
		{engine.Change{Kind: engine.Removed, Path: "a", OldMode: 0o644, OldSize: 7}, "D a (7 bytes)"},
		{engine.Change{Kind: engine.Removed, Path: "a", OldMode: fs.ModeDir | 0o755}, "D a/"},
		{engine.Change{Kind: engine.Added, Path: "l", Mode: fs.ModeSymlink | 0o777, Target: "\x1b[2J"}, `A l -> "\x1b[2J"`},
		{engine.Change{Kind: engine.Added, Path: "p", Mode: fs.ModeNamedPipe | 0o644}, "A p"},
		{engine.Change{Kind: engine.Added, Path: "a\nD b", Mode: 0o644}, `A "a\nD b" (0 bytes)`},
		{engine.Change{Kind: engine.Added, Path: "\xff \u202e", Mode: 0o644}, `A "\xff \u202e" (0 bytes)`},
	} {
		if got := changeLine(&tt.change); got != tt.want {
			t.Errorf("%+v is shown as %s, want %s", tt.change, got, tt.want)
		}
	}
}
