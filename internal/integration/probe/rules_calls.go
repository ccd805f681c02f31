package probe

// The answers of the seccomp filter are those of native/internal/filter.

func callRules() []Rule {
	const (
		loads = "it loads code into the host's kernel; " + hostCapability
		gone  = "current kernels do not have the call any more, or only by configuration"
	)
	native := class(
		"system calls",
		Rule{IDs: "call.native.syslog call.native.acct call.native.swapoff call.native.vhangup", What: "refused calls, harmless arguments", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "call.native.kexec* call.native.*init_module call.native.delete_module", What: "code for the kernel, no code given", Want: "EPERM", NoTwin: loads},
		Rule{IDs: "call.native.lookup_dcookie call.native.nfsservctl call.native.uselib call.native._sysctl", What: "calls of old kernels", Want: "EPERM", NoTwin: gone},
		Rule{
			IDs:  "call.native.clone3 call.native.io_uring_* call.native.statmount call.native.listmount call.native.lsm_* call.native.openat2",
			What: "calls for which programs have a fallback", Want: "ENOSYS", Twin: "!ENOSYS",
			Why: "programs fall back on ENOSYS only",
		},
		Rule{IDs: "call.native.*", What: "refused calls, harmless arguments", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "call.high.clone3 call.high.listmount", What: "a call number with a bit in its high half", Want: "ENOSYS", Twin: "!ENOSYS"},
		Rule{IDs: "call.high.kexec_file_load call.high.uselib", What: "a call number with a bit in its high half", Want: "EPERM", NoTwin: loads},
		Rule{IDs: "call.high.*", What: "a call number with a bit in its high half, which the kernel drops", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "number.*", What: "numbers that are no call, or a newer one than the filter knows", Want: "ENOSYS", NoTwin: "no call, or one of some kernels only"},
	)
	foreign := class(
		"system calls of other ABIs (amd64)",
		Rule{
			IDs: "call.x32.*", What: "calls by their x32 numbers, allowed and refused ones", Want: "ENOSYS",
			NoTwin: "kernels without CONFIG_X86_X32, which most are, answer the same",
		},
		Rule{
			IDs: "call.i386.kexec_load call.i386.*init_module call.i386.delete_module call.i386.lookup_dcookie call.i386.nfsservctl " +
				"call.i386.uselib call.i386._sysctl call.i386.vm86 call.i386.ipc call.i386.iopl call.i386.ioperm call.i386.number-1000",
			What: "calls by int 0x80 that kernels need not have", Want: "ENOSYS|SIGSEGV", Why: "SIGSEGV: the kernel has no int 0x80", NoTwin: gone,
		},
		Rule{IDs: "call.i386.*", What: "calls by int 0x80, allowed and refused ones", Want: "ENOSYS|SIGSEGV", Why: "SIGSEGV: the kernel has no int 0x80", Twin: "!ENOSYS"},
	)
	return append(append(native, foreign...), filterRules()...)
}

func filterRules() []Rule {
	return class(
		"arguments that a filter must read right",
		Rule{IDs: "high.socket.vsock high.socket.packet", What: "a socket family with bits in its high half", Want: "EAFNOSUPPORT", Twin: "!EAFNOSUPPORT"},
		Rule{IDs: "high.socket.netlink", What: "NETLINK_KOBJECT_UEVENT with bits in its high half", Want: "EAFNOSUPPORT", Twin: "OK"},
		Rule{IDs: "high.socket.raw", What: "SOCK_RAW with bits in its high half", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "high.personality", What: "READ_IMPLIES_EXEC with bits in its high half", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "high.unshare", What: "CLONE_NEWUSER with bits in its high half", Want: "EPERM", Twin: "EINVAL"},
		Rule{IDs: "high.clone", What: "CLONE_NEWUSER with bits in its high half", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "high.mount", What: "mount flags with bits in their high half", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "high.setid.*", What: "set-ID bits with bits in the high half of the mode", Want: "EPERM", Twin: "OK|ENOSYS", Why: "ENOSYS: fchmodat2 before Linux 6.6"},
		Rule{IDs: "high.prctl", What: "PR_SET_MM with bits in its high half", Want: "EPERM", Twin: "EFAULT|EINVAL", Why: "EINVAL: a kernel without CONFIG_CHECKPOINT_RESTORE"},
		Rule{IDs: "high.seccomp filter.listener", What: "a seccomp filter that a listener answers for", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "high.tty.TIOCGWINSZ", What: "the size of a terminal, asked with bits in the high half", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "high.tty.TIOCCONS tty.TIOCCONS", What: "taking the console's output", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "high.tty.TIOCSTI tty.TIOCSTI", What: "typing into one's own terminal", Want: "EPERM", Twin: "OK|EIO", Why: "EIO: the kernel is set to refuse it (dev.tty.legacy_tiocsti)"},
		Rule{IDs: "high.tty.* tty.TIOC* tty.KD*", What: "commands to one's own terminal that are for consoles or load code", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "filter.trace", What: "a filter that leaves unshare to a tracer", Want: "EPERM", Twin: "ENOSYS"},
		Rule{IDs: "filter.*", What: "a filter that allows unshare, on top of the sandbox's", Want: "EPERM", Twin: "OK"},
	)
}

func namespaceRules() []Rule {
	return class(
		"namespaces",
		Rule{IDs: "unshare.files unshare.fs clone.plain clone.thread", What: "what makes no namespace", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "clone3.large", What: "a structure of a newer kernel", Want: "ENOSYS", Twin: "!ENOSYS"},
		Rule{IDs: "clone3.*", What: "clone3, with and without a new namespace", Want: "ENOSYS", Twin: "OK"},
		Rule{IDs: "unshare.* clone.*", What: "a new namespace", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "setns.open.*", What: "the namespaces of PID 1 as files", Want: "EACCES", Twin: "OK"},
		Rule{IDs: "setns.own.user", What: "entering one's own user namespace", Want: "EPERM", Twin: "EINVAL"},
		Rule{IDs: "setns.own.time", What: "entering one's own time namespace", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "setns.*", What: "entering a namespace, of PID 1 by pidfd or one's own", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "ns.parent.*", What: "the namespace above", Want: "EPERM", NoTwin: sameEverywhere},
		Rule{
			IDs: "ns.owner.net", What: "the user namespace that owns the network", Want: "OK", Open: "EPERM", NoTwin: ownPlace,
			Why: "one's own network is owned by one's own user namespace, the host's is not",
		},
		Rule{IDs: "ns.mnt.*", What: "the next mount namespace of the host", Want: "EPERM|ENOTTY", Why: "ENOTTY: before Linux 6.12", NoTwin: hostCapability},
		Rule{IDs: "ns.root ns.cwd", What: "the root and the directory of PID 1 as a path", Want: "EACCES", Twin: "OK"},
	)
}

func mountRules() []Rule {
	return class(
		"mounts",
		Rule{IDs: "mount.new.ext4", What: "a file system of a disk", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "mount.new.sysfs mount.new.cgroup2 mount.new.proc mount.fsopen.*", What: "new mounts", Want: "EPERM", Twin: "!ENOSYS"},
		Rule{IDs: "mount.new.*", What: "new mounts", Want: "EPERM", Twin: "OK|ENODEV|EINVAL", Why: "which file systems there are is a matter of the kernel"},
		Rule{IDs: "mount.bind.root mount.remount.root mount.open_tree.clone", What: "what is below mounts of others", Want: "EPERM", Twin: "EINVAL"},
		Rule{
			IDs: "umount.proc-kcore umount.proc-sys umount.dev-null umount.root umount.force pivot_root.work", What: "what the sandbox has put over others",
			Want: "EPERM", Twin: "!EPERM",
		},
		Rule{IDs: "mount.open_tree_attr", What: "a copy of a mount with other flags", Want: "EPERM", Twin: "OK|ENOSYS", Why: "ENOSYS: before Linux 6.15"},
		Rule{IDs: "mount.* umount.* pivot_root.* chroot.*", What: "changes to the tree of mounts", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "handle.name.*", What: "the handle of a file", Want: "EPERM", Twin: "OK|EOPNOTSUPP", Why: "not every file system has handles"},
		Rule{IDs: "handle.open.*", What: "a file by its handle", Want: "EPERM", Twin: "OK|EPERM", Why: "EPERM: before Linux 6.12"},
	)
}
