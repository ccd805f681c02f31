package nativetests

import (
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testuser"
)

// The hostile program and the posture once more, from a program that is not root.
func TestUnprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	testuser.Again(t, "^(TestProbe|TestPosture|TestC109_.*|TestC168_.*)$")
}
