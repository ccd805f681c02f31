package native

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// trialOfCalls is the trial that finds out which system calls a seccomp filter refuses. Nothing in the kernel's
// files tells what a filter does. So each call is made with an argument that the kernel refuses by an error of
// its own before it looks at anybody's rights: another error is the filter's. None of the calls does anything.
const trialOfCalls = "calls"

// trialOfInnerCalls is the same for calls that look at rights first.
const trialOfInnerCalls = "inner-calls"

// A knownCall is a system call, and the errors by which the kernel itself may refuse these arguments.
type knownCall struct {
	name string
	nr   uintptr
	args [5]uintptr
	own  []unix.Errno
}

const (
	badAddress = 1           // no process has memory there
	badFlag    = 1 << 30     // is none of the flags that these calls know
	badFD      = ^uintptr(0) // -1
)

var (
	invalid = []unix.Errno{unix.EINVAL}
	fault   = []unix.Errno{unix.EFAULT}
)

// outerCalls do not look at rights before they refuse.
var outerCalls = []knownCall{
	{"clone", unix.SYS_CLONE, [5]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS | uintptr(unix.SIGCHLD)}, invalid}, // the two flags exclude each other
	{"clone3", unix.SYS_CLONE3, [5]uintptr{badAddress, 1}, invalid},                                            // too short
	{"unshare", unix.SYS_UNSHARE, [5]uintptr{unix.CLONE_NEWUSER | 1}, invalid},
	{"mount", unix.SYS_MOUNT, [5]uintptr{badAddress, badAddress, badAddress}, fault},
	{"umount2", unix.SYS_UMOUNT2, [5]uintptr{badAddress, badFlag}, invalid},
	{"open_tree", unix.SYS_OPEN_TREE, [5]uintptr{badFD, badAddress, badFlag}, invalid},
	{"mount_setattr", unix.SYS_MOUNT_SETATTR, [5]uintptr{badFD, badAddress, badFlag}, invalid},
	// Kernels without Landlock are many, and no filter is needed to explain them.
	{"landlock_create_ruleset", unix.SYS_LANDLOCK_CREATE_RULESET, [5]uintptr{badAddress, 1, badFlag}, []unix.Errno{unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS}},
}

// innerCalls look at rights first. They are made in a user namespace where we have all.
var innerCalls = []knownCall{
	{"pivot_root", unix.SYS_PIVOT_ROOT, [5]uintptr{badAddress, badAddress}, fault},
	{"move_mount", unix.SYS_MOVE_MOUNT, [5]uintptr{badFD, badAddress, badFD, badAddress, badFlag}, invalid},
	{"fsopen", unix.SYS_FSOPEN, [5]uintptr{badAddress, badFlag}, invalid},
	{"fsmount", unix.SYS_FSMOUNT, [5]uintptr{badFD, badFlag}, invalid},
	{"fsconfig", unix.SYS_FSCONFIG, [5]uintptr{badFD, badFlag}, invalid},
}

// try makes the call. It reports the answer of a filter, or zero when the kernel was reached.
func (c *knownCall) try() unix.Errno {
	pid, _, errno := unix.RawSyscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0)
	if errno == 0 && pid == 0 && (c.nr == unix.SYS_CLONE || c.nr == unix.SYS_CLONE3) {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0) // a child, which no kernel should have made
	}
	if slices.Contains(c.own, errno) {
		return 0
	}
	return errno
}

// report makes the calls in the child: a line for each, in two parts, since a filter may kill.
func report(calls []knownCall) {
	for i := range calls {
		fmt.Fprint(os.Stdout, calls[i].name)
		fmt.Fprintf(os.Stdout, " %d\n", int(calls[i].try()))
	}
}

// callsPatience bounds the trials of calls.
const callsPatience = 2 * time.Second

// tryCalls tells which calls are refused, and how; nil when that could not be found out. It is for a process that
// has a filter.
func tryCalls(ctx context.Context) map[string]unix.Errno {
	ctx, cancel := context.WithTimeout(ctx, callsPatience)
	defer cancel()
	refused := map[string]unix.Errno{}
	// An error of a trial is no news: what was said before it counts.
	out, _ := startTrial(ctx, trialOfCalls, 0)
	readCalls(string(out), refused)
	out, _ = startTrial(ctx, trialOfInnerCalls, inMountNamespace)
	readCalls(string(out), refused)
	if len(refused) == 0 && ctx.Err() != nil {
		return nil
	}
	return refused
}

// readCalls reads what report wrote. A call whose line has no end is one that the process did not survive.
func readCalls(out string, refused map[string]unix.Errno) {
	for line := range strings.Lines(out) {
		name, answer, ended := strings.Cut(strings.TrimSpace(line), " ")
		errno, err := strconv.Atoi(answer)
		switch {
		case strings.HasPrefix(name, "{"): // the result of the trial
		case !ended:
			refused[name] = unix.ENOSYS
		case err == nil && errno != 0:
			refused[name] = unix.Errno(errno)
		}
	}
}
