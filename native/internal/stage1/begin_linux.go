package stage1

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// begin starts a stage.
func begin(args []string) {
	switch {
	case len(args) == 0:
		setUp()
	case args[0] == spec.Serving:
		serve()
	case args[0] == spec.Keeping:
		keep()
	case args[0] == spec.Tidying:
		janitor()
	case args[0] == spec.Holding:
		_, _ = io.Copy(io.Discard, os.Stdin)
		unix.Exit(0)
	}
}
