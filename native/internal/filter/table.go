package filter

import "slices"

// everyCall has the rules that look at no name. compile has them built in.
func everyCall() []Rule {
	const class = "unknown calls"
	return []Rule{
		{Call: "*", When: "the architecture is not the filter's own", Class: class, Errno: ENOSYS, Reason: "the same number is another call there, so the list would not hold"},
		{Call: "*", When: "the number has the x32 bit", Class: class, Errno: ENOSYS, Reason: "a second number for nearly every call of amd64"},
		{Call: "*", When: "the number is not in the table", Class: class, Errno: ENOSYS, Reason: "a filter that does not know a call cannot judge it; programs fall back"},
	}
}

// deny makes one row for each call, refused whatever its arguments are.
func deny(class string, errno Errno, reason string, names ...string) []Rule {
	rows := make([]Rule, len(names))
	for i, name := range names {
		rows[i] = Rule{Call: name, Class: class, Errno: errno, Reason: reason}
	}
	return rows
}

// wholeCalls has the calls that are refused whatever their arguments are. Calls that only 32-bit architectures
// have (stime, vm86, socketcall) are not named: no call of such an architecture gets here.
func wholeCalls() []Rule {
	return slices.Concat(
		deny("namespaces", ENOSYS, "its flags are behind a pointer; glibc and Go fall back to clone on ENOSYS only", "clone3"),
		deny("namespaces", EPERM, "enters a namespace that another process made", "setns"),

		deny("async io", ENOSYS, "operations in the ring never pass a filter; libuv and others fall back", "io_uring_setup", "io_uring_enter", "io_uring_register"),

		deny("mount", EPERM, "changes what the mount plan has made", "mount", "umount2", "pivot_root", "chroot"),
		deny("mount", EPERM, "the newer interface of mount", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount", "open_tree", "open_tree_attr", "mount_setattr"),
		deny("mount", ENOSYS, "new kernel code that tells no more than /proc/self/mountinfo, to which programs fall back", "statmount", "listmount"),
		deny("mount", EPERM, "quotas of file systems are the host's", "quotactl", "quotactl_fd"),

		deny("tracing", EPERM, "reads and changes other processes", "ptrace", "process_vm_readv", "process_vm_writev"),
		deny("tracing", EPERM, "advice on the memory of another process", "process_madvise"),
		deny("tracing", EPERM, "tells where kernel objects of two processes are the same", "kcmp"),
		deny("tracing", EPERM, "takes a descriptor out of another process", "pidfd_getfd"),
		deny("tracing", EPERM, "measures the kernel and other processes; a long list of kernel bugs", "perf_event_open"),
		deny("tracing", EPERM, "loads programs into the kernel", "bpf"),
		deny("tracing", EPERM, "stops the kernel in the middle of an access, which makes races easy to win", "userfaultfd"),
		deny("tracing", EPERM, "paths of files for profilers of the whole machine", "lookup_dcookie"),
		deny("tracing", EPERM, "watches the accesses of other processes to a whole file system", "fanotify_init"),

		deny("keyrings", EPERM, "keys of the kernel belong to a uid, not to a namespace", "add_key", "request_key", "keyctl"),

		deny("kernel", EPERM, "puts another kernel in place", "kexec_load", "kexec_file_load"),
		deny("kernel", EPERM, "kernel modules", "init_module", "finit_module", "delete_module"),
		deny("kernel", EPERM, "restarts or stops the machine, or ends a PID namespace", "reboot"),
		deny("kernel", EPERM, "reads the kernel's log, which has addresses and other people's data", "syslog"),
		deny("kernel", EPERM, "process accounting of the whole machine", "acct"),
		deny("kernel", EPERM, "swap space of the whole machine", "swapon", "swapoff"),
		deny("kernel", EPERM, "the clock is the host's", "settimeofday", "clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64", "adjtimex"),
		deny("kernel", EPERM, "the name is set once, by the init of the cell", "sethostname", "setdomainname"),
		deny("kernel", EPERM, "hangs up the terminal", "vhangup"),
		deny("kernel", EPERM, "segments for 16-bit code; a source of kernel bugs", "modify_ldt"),
		deny("kernel", EPERM, "obsolete, no program needs it", "nfsservctl", "uselib", "ustat", "sysfs", "_sysctl"),
		deny("kernel", ENOSYS, "the same is in /proc/self/attr, to which libraries fall back", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules"),

		deny("raw io", EPERM, "I/O ports of the machine", "iopl", "ioperm"),

		deny("memory", EPERM, "moves pages of other processes between nodes; mbind and set_mempolicy stay", "migrate_pages", "move_pages"),
		deny("memory", EPERM, "obsolete; changes a mapping without the checks of mmap", "remap_file_pages"),
		deny("memory", EPERM, "memory that the host cannot look into or move", "memfd_secret"),
		deny("memory", EPERM, "frees the memory of another process that is about to end", "process_mrelease"),

		deny("set-user-ID", ENOSYS, "the mode of a new file is behind a pointer; programs fall back to openat", "openat2"),
		deny("handles", EPERM, "opens a file by its number, past every path and mount", "name_to_handle_at", "open_by_handle_at"),
	)
}
