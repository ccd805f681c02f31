package probe

func credRules() []Rule {
	const (
		ids   = "uid=1000 same=1 caps=0000000000000000 nnp=1"
		keeps = "inside the bits would do nothing, but the file stays on the host"
	)
	return class(
		"credentials",
		Rule{IDs: "creds.setfs*", What: "root's rights on files", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "creds.set*id.root", What: "becoming root", Want: "EINVAL", Why: "root has no number in the user namespace", Twin: "OK"},
		Rule{IDs: "creds.set*id.nobody", What: "becoming nobody", Want: "EINVAL", NoTwin: sameEverywhere},
		Rule{IDs: "creds.setgroups.*", What: "other groups", Want: "EPERM", Twin: "OK|EPERM", Why: "who is not root may make a user namespace only without setgroups"},
		Rule{IDs: "creds.no_new_privs.off creds.seccomp.off", What: "undoing the confinement", Want: "EINVAL", NoTwin: sameEverywhere},
		Rule{IDs: "creds.seccomp.strict", What: "another mode of seccomp instead of the filter", Want: "EINVAL", Twin: "SIGKILL", Why: "strict mode kills"},
		Rule{IDs: "creds.io_flusher prctl.set_mm.*", What: "options of prctl for the few", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "caps.drop", What: "giving up capabilities", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "caps.bounding.count", What: "capabilities left in the bounding set", Want: "0", Twin: "!0"},
		Rule{IDs: "caps.*", What: "raising capabilities", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "setid.usr", What: "set-user-ID programs of the system", Want: "nosuid", NoTwin: tellsOfSelf},
		Rule{IDs: "setid.file-caps", What: "a program with capabilities", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "setid.plain", What: "who a copy of a program is", Want: ids, Twin: "!" + ids},
		Rule{IDs: "setid.mode.mkdir", What: "set-ID bits of a new directory", Want: "0000", NoTwin: sameEverywhere},
		Rule{IDs: "setid.mode.*.sticky", What: "a mode without set-ID bits", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "setid.mode.fchmodat2.*", What: "set-ID bits for a file", Want: "EPERM", Twin: "OK|ENOSYS", Why: keeps + "; ENOSYS: before Linux 6.6"},
		Rule{IDs: "setid.mode.*", What: "set-ID bits for a file", Want: "EPERM", Why: keeps, Twin: "OK"},
		Rule{IDs: "setid.*", What: "a set-ID copy of a program", Want: "EPERM", Why: keeps, Twin: "!EPERM"},
		Rule{IDs: "chown.own.nobody-new", What: "a change of owner to the same", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "chown.own.nobody", What: "giving a file away", Want: "EINVAL", NoTwin: sameEverywhere},
		Rule{IDs: "chown.own.*", What: "giving a file to root", Want: "EINVAL", Twin: "OK"},
	)
}

func processRules() []Rule {
	const sameUser = "the kernel lets a user do this to all that is his; the init looks after each run, and a cell whose init has changed serves no other"
	return class(
		"other processes: PID 1",
		Rule{IDs: "ptrace.*", What: "tracing PID 1, a child, or being traced", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "process.madvise", What: "advice on the memory of PID 1", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "process.perf*", What: "measuring a process", Want: "EPERM", Twin: "OK|EACCES", Why: "EACCES: some distributions forbid it to users (kernel.perf_event_paranoid)"},
		Rule{IDs: "process.migrate_pages process.move_pages", What: "moving the memory of PID 1 about", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "process.kcmp", What: "comparing with PID 1", Want: "EPERM", Twin: "OK|ENOSYS", Why: "ENOSYS: a kernel without CONFIG_KCMP"},
		Rule{IDs: "process.rlimit.*", What: "the limits of PID 1, set to what they are", Want: "OK", Why: sameUser, NoTwin: ownPlace},
		Rule{IDs: "process.nice process.affinity process.scheduler.same process.ioprio.same", What: "the share of PID 1, set to what it is", Want: "OK", Why: sameUser, NoTwin: ownPlace},
		Rule{IDs: "process.scheduler.fifo process.ioprio.realtime", What: "real time for PID 1", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "process.setpgid", What: "PID 1 in another process group", Want: "ESRCH", Twin: "OK"},
		Rule{IDs: "process.join-group", What: "joining the process group of PID 1", Want: "EPERM", NoTwin: "a twin's target leads no group"},
		Rule{IDs: "process.*", What: "the memory, descriptors and lists of PID 1", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "keyring.request", What: "keys of the kernel", Want: "EPERM", Twin: "ENOKEY"},
		Rule{IDs: "keyring.*", What: "keys of the kernel", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "host.ptrace", What: "tracing a process of the host", Want: "EPERM", NoTwin: namesHost},
		Rule{IDs: "host.kill host.pidfd_open host.getsid host.getpriority host.prlimit", What: "processes of the host by number", Want: "ESRCH", NoTwin: namesHost},
		Rule{IDs: "host.proc*", What: "processes of the host in /proc", Want: "ENOENT", NoTwin: namesHost},
	)
}

func signalRules() []Rule {
	return class(
		"signals",
		Rule{IDs: "signal.queue.from-kernel", What: "a signal that claims to be the kernel's", Want: "EPERM", NoTwin: sameEverywhere},
		Rule{IDs: "signal.all.*", What: "harmless signals to all", Want: "OK", NoTwin: ownPlace},
		Rule{
			IDs: "signal.kill.TSTP signal.kill.TTIN signal.kill.TTOU", What: "signals of terminals to PID 1, which must be as before", Want: "OK|EPERM", Twin: "HARMED|OK",
			Why: "as for the others; a process group without a shell does not stop by them",
		},
		Rule{
			IDs: "signal.*", What: "signals to PID 1, which must be as before", Want: "OK|EPERM", Twin: "HARMED",
			Why: "OK: the kernel drops signals to the first process that has no handler for them; EPERM: the init is outside the Landlock domain (ABI 6)",
		},
	)
}
