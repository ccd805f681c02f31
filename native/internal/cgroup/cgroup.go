package cgroup

import (
	"fmt"
	"time"
)

// Unknown is what a figure of [Usage] has where this host cannot tell it.
const Unknown = -1

// Names of the controllers that this package uses.
const (
	controllerMemory = "memory"
	controllerPids   = "pids"
	controllerCPU    = "cpu" // accounting only: cpuacct in version 1, cpu.stat in version 2
)

// Limits bind all processes of a group together. The zero value is no limit.
type Limits struct {
	// Memory is in bytes, swap included; the kernel rounds it down to whole pages. It counts anonymous memory, page
	// cache, tmpfs files and kernel memory of the group. Past it the kernel reclaims, then kills a process of the
	// group. Zero is no limit.
	//
	// Where the kernel does not account swap (no memory.swap.max, no memory.memsw.limit_in_bytes) and the host has
	// swap, the group can use that in addition.
	Memory int64
	// Processes is the number of tasks: threads count, and so does the init of the cell. Past it fork and clone fail
	// with EAGAIN. Zero is no limit.
	Processes int
}

func (l Limits) check() error {
	if l.Memory < 0 {
		return fmt.Errorf("memory limit %d: negative", l.Memory)
	}
	if l.Processes < 0 {
		return fmt.Errorf("limit of processes %d: negative", l.Processes)
	}
	return nil
}

// Usage is what the processes of a group used since [Group.Reset], or since the group was made. A figure that this host
// cannot tell is [Unknown].
type Usage struct {
	// CPU is user plus system time of all processes, also of those that have ended. It can be behind by a scheduler
	// tick for a process that is running.
	CPU time.Duration
	// PeakMemory is the most that the group had at one time, in bytes. It counts what [Limits.Memory] counts, and what
	// was there at the Reset too. The kernel charges in batches, so it can be too high by some 256 KiB for each
	// processor. With version 2 before Linux 6.12 the mark cannot be reset: the figure is then known for a run only if
	// the run exceeded all earlier ones.
	PeakMemory int64
	// OOMKills counts the processes of the group that the kernel killed for lack of memory, whether the limit was the
	// group's own, one above it, or the host's memory.
	OOMKills int64
}

// Unavailable is the error of a host that has no control groups for us, or not the one that is needed.
type Unavailable struct {
	Step   string // what was tried: a system call or file with its path
	Err    error  // the reason, often a syscall.Errno
	Remedy string // what the person who runs this process can do; may be empty
}

// Error tells step, reason and remedy.
func (u *Unavailable) Error() string {
	s := fmt.Sprintf("cgroup: %s: %v", u.Step, u.Err)
	if u.Remedy != "" {
		s += " (" + u.Remedy + ")"
	}
	return s
}

// Unwrap returns the reason.
func (u *Unavailable) Unwrap() error { return u.Err }
