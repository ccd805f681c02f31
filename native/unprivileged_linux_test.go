package native

import (
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testuser"
)

// What holds as root holds for everybody.
func TestUnprivileged(t *testing.T) {
	testuser.Again(t, "^(TestConformance|TestVenv|TestProbe.*|TestNone.*)$")
}
