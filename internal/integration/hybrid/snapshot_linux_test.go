package hybrid

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

// A branch has what both tiers have made, and both tiers see it: on the host's file system, in memory with a disk limit, and
// from a stored snapshot.
func TestSnapshot_BothTiers(t *testing.T) {
	s := open(t, nil)
	live := &engine.RunOptions{Interpreter: engine.InterpreterSession}
	shell := &engine.RunOptions{Type: engine.Shell}
	mustPrint(t, s, engine.TierNative, "mkdir -p d && printf text > d/f && ln -s f d/l && chmod 600 d/f && touch -d @1000000000 d/f", shell)
	mustPrint(t, s, engine.TierWasm, "x = open('d/l').read()", live)
	snap, err := s.Snapshot(within(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
	})
	var file bytes.Buffer
	if _, err := snap.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	stored, err := engine.ReadSnapshot(within(t), drivers(t), &file, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stored.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, opts := range map[string]*engine.Options{
		"host": {From: snap}, "memory": {From: snap, Limits: engine.Limits{Disk: 16 << 20}}, "stored": {From: stored},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, opts)
			if got := mustPrint(t, b, engine.TierNative, "cat d/l; stat -c ' %a %Y' d/f", shell); got != "text 600 1000000000\n" {
				t.Errorf("the shell says %q", got)
			}
			mustPrint(t, b, engine.TierNative, "printf changed > d/f", shell)
			if got := mustPrint(t, b, engine.TierWasm, "print(x, open('d/f').read())", live); got != "text changed\n" {
				t.Errorf("python says %q", got)
			}
		})
	}
	if got := mustPrint(t, s, engine.TierNative, "cat d/f", shell); got != "text" {
		t.Errorf("the first session has %q", got)
	}
}

// What does not fit into the disk limit of a branch is refused in Open.
func TestSnapshot_LargerThanTheLimit(t *testing.T) {
	s := open(t, nil)
	mustPrint(t, s, engine.TierNative, "head -c 20000000 /dev/zero | tr '\\0' x > big", &engine.RunOptions{Type: engine.Shell})
	snap, err := s.Snapshot(within(t))
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	_, err = engine.Open(within(t), drivers(t), &engine.Options{From: snap, Limits: engine.Limits{Disk: 16 << 20}})
	if !errors.Is(err, engine.ErrNoSpace) {
		t.Errorf("Open = %v", err)
	}
}
