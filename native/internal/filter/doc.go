// Package filter builds the seccomp filter of the native tier: a classic BPF program that the kernel runs before
// every system call of a cell. The package makes no system call itself and compiles on every OS.
//
// The filter is a deny-list. What a program needs in daily life is allowed, and what is refused fails with an
// errno; nothing is killed. [Denied] is the list, with a reason for each row. The order of the decision:
//
//  1. A call of a foreign architecture (i386 through int 0x80, 32-bit ARM) is ENOSYS, whatever its number.
//  2. A number that the table of this package does not know is ENOSYS: those above the highest known one, 467
//     (open_tree_attr, Linux 6.15), the holes below it, and all x32 numbers (bit 30 set). A filter that does not
//     know a call cannot judge it, and programs ask the kernel for new calls by trying them.
//  3. A row of the list gives its errno. A call without a row is allowed.
//
// Arguments that are 32 bits wide in the kernel are compared in their low 32 bits only. The kernel ignores the
// high half, so a filter that looked at it would let a call pass that differs there.
//
// ENOSYS is used where programs fall back to an older way (clone3, io_uring, statmount, lsm_get_self_attr). EPERM
// on clone3 would break every threaded program, because glibc falls back on ENOSYS only.
//
// What the filter does not do: it cannot look behind pointers, so it judges no path, no address of a connect and
// no structure. It does not replace namespaces, Landlock and empty capability sets. It binds the calls of a
// process, not what another process does on its behalf.
//
// Whoever installs the filter lives under it too: a process start with SysProcAttr.UseCgroupFD needs clone3, so it
// fails from then on. Other starts of os/exec use clone and work.
//
// Two limits that a user can see. A debugger does not work inside a cell, and neither does LeakSanitizer, which
// stops its own process with ptrace: set ASAN_OPTIONS=detect_leaks=0. A 32-bit binary cannot even end itself; it
// crashes, or it spins until its run is stopped.
//
// Sources: seccomp(2), and the kernel's Documentation/userspace-api/seccomp_filter.rst and networking/filter.rst.
package filter
