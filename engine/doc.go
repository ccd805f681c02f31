// Package engine runs scripts that nobody trusts. A Session has a work directory, limits and any number
// of runs; a Driver is a kind of isolation, a tier, in which the runs of a script type happen. This
// package has no tier of its own: packages wasm (Python in a WebAssembly interpreter) and native do.
//
//	s, err := engine.Open(ctx, []engine.Driver{python}, nil)
//	...
//	defer s.Close()
//	out, err := s.Exec(ctx, "print(2 + 2)", nil)
//	fmt.Printf("%s%d\n", out.Stdout, out.Result.ExitCode)
//
// # Runs
//
// Session.Run starts a script and returns a Process; Exec waits for its end and returns what it wrote;
// RunCode returns stdout and makes an error of a script that failed. How a script ended is a Result with
// a Reason; an error of these calls says that there is no such end: the run was never started, or lost.
//
// A run ends by itself, by its timeout (60 seconds unless told otherwise), when its context ends, by Kill,
// at a limit, or with its session. A run that is stopped gets the chance to end in an orderly way: what it
// had buffered is written, and what was written is delivered. Process.Signal interrupts a run, which may go on, or ends it
// by force.
//
// # Output
//
// Output is bytes. Up to 8 MiB of each stream are kept for Communicate and Exec; what a script writes
// beyond that is counted and dropped, Result.Truncated says so, and the script does not notice. A stream
// that is read while the run goes on, by Process.Stdout or StdoutLines, has no such bound: the script
// waits for its reader. Each stream keeps its own order; the order between the two is not known.
//
// # Files
//
// Scripts find the work directory at WorkDir, in every tier; it stays from Open to Close. PutBytes,
// GetBytes, List and the other file calls reach it from outside. Their paths are relative to it, or
// absolute as a script would give them. They follow links as the script does, as long as they stay inside:
// a path or a link that leads out is ErrEscapes, whoever made it. FIFOs, sockets and devices are not
// opened. Names are bytes and are not changed.
//
// Options.Limits can bound what exists in the work directory. The bound counts what file calls and the
// scripts of a tier that supports it write; while a file is replaced, the old and the new one are both on
// the disk and count as one. Where the directory is in memory (see Limits.Disk) they count as two, and a file for
// which there is no room beside the old one is replaced in place.
package engine
