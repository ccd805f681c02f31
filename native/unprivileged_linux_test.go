package native

import (
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testuser"
)

// What holds as root holds for everybody. Of the suites, one of each backend and one of each script type run again.
func TestUnprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	t.Parallel()
	testuser.Again(t, "^TestConformance$/^userns$/^shell$|^TestConformance$/^bubblewrap$/^python$|^(TestVenv|TestCell_.*|TestProbe.*|TestNone.*)$")
}
