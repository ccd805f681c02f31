// Package native is the tier for shell scripts and native programs: an engine.Driver.
//
// A script runs as a process of the host's kernel, in a cell: namespaces of its own for users, mounts,
// processes, IPC, host name, cgroups and, unless the network is open, the network, with our init as PID 1. In
// a cell four kinds of walls stand one behind the other: namespaces, no capabilities in any set, Landlock, and
// a seccomp filter. SECURITY.md says what they promise.
//
// Two backends make cells: bubblewrap, a program that many systems have, and userns, which needs nothing but
// the kernel. Both end in the same confinement. Two more are for what they say: none, which isolates nothing,
// and sandbox-exec on macOS. The backend is chosen by who makes the driver; no other one is ever used in its
// place.
//
// A cell serves one run at a time. A session keeps one that is idle, and makes more while runs overlap.
//
// A program that uses the package is its own init: the package starts the program again, and its
// initialisation takes that process over before main runs (package stage1). Package initialisation of the
// program up to there runs in each cell; it should be quick and start nothing.
package native
