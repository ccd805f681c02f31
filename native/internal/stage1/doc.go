// Package stage1 is the init of a cell: what runs as PID 1 inside the namespaces.
//
// A program that imports it starts itself again with spec.Arg as its first argument; the package's
// initialisation then takes the process over before main, and never returns to it. It has two stages. The
// first, still with rights in its own user namespace, mounts what the plan says, gives up every right and
// executes the program again. The second is confined from its first instruction, in all of its threads, proves
// that the confinement is there, and serves runs.
//
// The package reads no environment, writes no log, and imports nothing that could reach the network by
// itself. Whatever goes wrong is one message to the host, and the end of the cell.
package stage1

import (
	"os"
	"runtime"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// init takes over a process that was started as an init. The guard against starting itself again and again
// is that it never falls through: a process with this argument and without a host ends here.
func init() {
	if len(os.Args) < 2 || os.Args[1] != spec.Arg {
		return
	}
	runtime.LockOSThread() // what confines is a matter of threads, and the main thread is the one that executes
	begin(os.Args[2:])
	os.Exit(1)
}
