package native

import (
	"fmt"

	"github.com/sandbar-dev/sandbar/engine"
)

const warnNone = "native: backend none isolates nothing: a script has all the rights of this program"

var unenforcedNone = []string{"Memory", "CPU", "Tmp", "TmpFiles", "Disk", "DiskFiles", "Processes"}

func openNone(*Driver, *engine.SessionSpec) (engine.DriverSession, error) {
	return nil, fmt.Errorf("%w: backend none", engine.ErrNotAvailable)
}
