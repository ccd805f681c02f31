package engine

import (
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testuser"
)

// What may not be read differs for who is not root.
func TestChanges_Unprivileged(t *testing.T) {
	if testing.Short() {
		t.Skip("the same tests once more")
	}
	testuser.Again(t, "^Test(Diff|Overlay|Commit)_")
}
