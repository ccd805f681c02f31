// Package spec is what the host and the init of a cell say to each other.
//
// A cell is a set of namespaces with our init as PID 1. The two talk over one Unix stream socket, which the
// init inherits. Each message is a header (kind, number of descriptors, length) and a payload; descriptors
// travel with the first byte.
//
//	host                                  init
//	 |<-- Hello -----------------------------|  stage 1; the kernel adds the sender's process id
//	 |--- Setup ---------------------------->|  mounts, confinement
//	 |<-- Failed (step, error) --------------|  and then it ends
//	 |--- Serve ---------------------------->|  stage 2, after execve: the self-test
//	 |<-- Failed ----------------------------|  and then it ends
//	 |<-- Ready (what it found in force) ----|
//	 |                                       |
//	 |--- Start (argv, env, script; fds) --->|  a run: one at a time
//	 |<-- Started (fd of a terminal) --------|  or NotStarted
//	 |--- Signal --------------------------->|  any number of times
//	 |<-- Exited (status, CPU time, dirt) ---|  nothing of the run is left; else it says what, and the cell is given up
//	 |                                       |
//	 |--- (closed) ------------------------->|  the init ends, and with it all that is in its namespaces
//
// The host trusts nothing that comes from a cell: a message that does not fit, or is out of turn, ends it.
//
// A keeper is a process that holds a work directory in memory: a file system that is mounted in its own mount
// namespace alone. A mount that is nowhere in a tree is used up by the cell that puts it into its own, and no
// other can be made of it from outside; so the keeper makes one for each. It has the init's socket and messages.
//
//	host                                  keeper
//	 |--- Setup (Keep) --------------------->|  makes the file system
//	 |<-- Failed (step, error) --------------|  and then it ends
//	 |<-- Ready (fd of a mount) -------------|  the host's own
//	 |                                       |
//	 |--- Start ---------------------------->|  for each cell
//	 |<-- Started (fd of a mount) -----------|  or Failed, and then it ends
//	 |                                       |
//	 |--- (closed) ------------------------->|  the keeper ends
package spec

// Arg is the first argument of the host's own program when it is to be the init of a cell.
const Arg = "sandbar-cell-init"

// Serving is the second argument of the init's second stage.
const Serving = "serve"

// Descriptors that the init inherits.
const (
	FDSocket = 3 // to the host
	FDSelf   = 4 // the program itself: stage 1 executes it again

	// From stage 1 to stage 2. The host has something open under these numbers too, whatever it is: else the
	// runtime of stage 1 could have its own descriptors there, which would be lost to it.
	FDScripts = 5 // writable directory of ScriptDir, whose mount in the cell is read-only
	FDScore   = 6 // its own oom_score_adj

	FDMounts = 7 // the first of the detached mounts that come along
)

// ScriptDir is the directory of a run's script in the cell.
const ScriptDir = "/run/sandbar"

// UID and GID are the user and group of a script, as it sees them.
const (
	UID = 1000
	GID = 1000
)

// Holding is the second argument of a process that does nothing until its standard input ends: its user
// namespace is wanted, not itself.
const Holding = "hold"
