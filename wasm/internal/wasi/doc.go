// Package wasi is WASI preview 1 ("wasi_snapshot_preview1") as a wazero host module, for guests that
// are hostile and whose instances are used again.
//
// The host module is instantiated once per runtime and has no state. All that a run sees (arguments,
// environment, descriptors, clocks, standard streams, the file system) hangs on an Env, which travels
// with the context of the call into the guest. So the memory of an instance can be put back to an
// earlier image and run again under a new Env, and nothing of the earlier run is left on our side.
//
// # What the guest can rely on
//
// All 46 functions of the preview 1 witx are there. Clocks are real; monotonic time counts from New
// and tells nothing of the host. Random bytes come from the host's generator. Calls that block (reads
// of standard input, poll_oneoff) and calls that can be made long (random_get, big reads and writes)
// end early when Signals says so.
//
// Standard streams look like pipes: not a terminal, not seekable, file type socket_stream, since
// preview 1 has no type for pipes. There is one preopened directory, descriptor 3, named "/".
//
// Sockets do not exist: the sock functions answer EBADF or ENOTSOCK. Rights are reported, because
// wasi-libc computes with them, but of the rights only reading and writing are held to.
//
// # Paths
//
// A path argument is bytes without NUL, at most 4096 long, relative. Below the preopen it goes to the
// FS as it is, so ".." and links are resolved there, and the FS is the boundary: this package only
// joins strings. Relative to any other directory, a path that has more ".." than names before it
// is refused with EPERM. A directory descriptor remembers the path under which it was opened; when that
// directory is renamed, names relative to the descriptor are looked up at the old place.
//
// # Hostile guests
//
// Each pointer and length is checked against linear memory (EFAULT) before the call has an effect, with
// one exception that is POSIX's too: a bad buffer after good ones in a read or write ends the call
// with what was done so far. Counts are bounded, and no length that the guest gives decides how much
// the host allocates. Views of guest memory are never held over a call that could run guest code.
//
// A panic in an FS, a stream or Signals passes through; wazero turns it into an error of the call.
//
// Specification: https://github.com/WebAssembly/WASI/blob/snapshot-01/phases/snapshot/docs.md
package wasi
