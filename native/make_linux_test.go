package native

import (
	"os"
	"testing"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// Whatever stage 1 of an init opens by itself, and its runtime does, must not be under the numbers that it moves
// descriptors to: so something is open there from the start.
func TestBlueprint_FilesHoldPlaces(t *testing.T) {
	open := func() *os.File {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	theirs, mount := open(), open()
	b := &blueprint{self: open(), mounts: []*os.File{mount}}
	files := b.files(theirs)
	for fd, want := range map[int]*os.File{
		spec.FDSocket: theirs, spec.FDSelf: b.self, spec.FDScripts: b.self, spec.FDScore: b.self, spec.FDMounts: mount,
	} {
		if i := fd - firstExtra; i >= len(files) || files[i] != want {
			t.Errorf("descriptor %d is not what it must be", fd)
		}
	}
	if want := spec.FDMounts - firstExtra + 1; len(files) != want {
		t.Errorf("%d files, want %d", len(files), want)
	}
}
