package probe

func procRules() []Rule {
	const (
		config  = "ENOENT: the kernel is built without it"
		frozen  = "EROFS: the mount says no before the owner does, when root's files are the script's own; " + config
		covered = "EACCES: it is covered or another's; EPERM: it takes a capability; EMPTY: an empty directory covers it; " + config
	)
	system := class(
		"/proc, system-wide",
		Rule{IDs: "proc.write.sys/net/ipv4/*", What: "settings of the network, opened to write", Want: "EACCES|EROFS", Why: frozen, Twin: "OK"},
		Rule{IDs: "proc.write.sys/user/* proc.write.sys/kernel/shmmax proc.write.sys/kernel/msgmax", What: "settings of namespaces, opened to write", Want: "EACCES|EROFS", Why: frozen, Twin: "OK|EACCES"},
		Rule{IDs: "proc.write.sys/kernel/ns_last_pid proc.write.sys/fs/mqueue/*", What: "settings of namespaces, opened to write", Want: "EACCES|EROFS|ENOENT", Why: frozen, Twin: "OK|EACCES|ENOENT"},
		Rule{IDs: "proc.write.*", What: "settings and commands, opened to write", Want: "EACCES|EROFS|ENOENT", Why: frozen, NoTwin: hostCapability},
		Rule{IDs: "proc.read.kallsyms proc.read.key* proc.read.interrupts", What: "what tells about the host", Want: "EACCES|ENOENT", Why: config, Twin: "OK|ENOENT"},
		Rule{IDs: "proc.read.* proc.list.*", What: "what tells about the host", Want: "EACCES|EPERM|EMPTY|ENOENT", Why: covered, NoTwin: perHost},
		Rule{IDs: "proc.addresses.kallsyms proc.addresses.modules", What: "addresses of the kernel", Want: "EACCES|ENOENT", Why: config, NoTwin: perHost},
		Rule{IDs: "proc.addresses.io*", What: "addresses of the machine", Want: "ZEROS|EACCES", Why: "ZEROS: readable, and tells nothing", NoTwin: hostCapability},
	)
	init := class(
		"/proc of PID 1",
		Rule{IDs: "init.read.mem", What: "its memory", Want: "EACCES", Twin: "EIO", Why: "EIO: it opens, and nothing is mapped at zero"},
		Rule{IDs: "init.read.stack init.open.exe.write", What: "its stack, its program", Want: "EACCES", NoTwin: hostCapability},
		Rule{IDs: "init.link.fd/3", What: "its descriptors", Want: "EACCES", Twin: "OK|ENOENT", Why: "it depends on how the test runs what is open"},
		Rule{IDs: "init.write.loginuid init.write.timens_offsets", What: "what it is and may do", Want: "EACCES|ENOENT", Why: config, Twin: "OK|ENOENT"},
		Rule{IDs: "init.read.io init.read.personality init.read.pagemap init.read.syscall init.read.numa_maps init.read.smaps", What: "what it does", Want: "EACCES|ENOENT", Why: config, Twin: "OK|ENOENT"},
		Rule{IDs: "init.list.fd init.list.fdinfo init.list.map_files init.list.root init.list.cwd", What: "its directories", Want: "EACCES", Twin: "OK"},
		Rule{IDs: "init.write.autogroup init.write.sched", What: "its share", Want: "EACCES|ENOENT", Why: config, Twin: "OK|ENOENT"},
		Rule{IDs: "init.*", What: "its memory, environment, root, descriptors, program, settings", Want: "EACCES", Twin: "OK"},
	)
	self := class(
		"/proc of the script",
		Rule{IDs: "proc.self.pagemap", What: "physical addresses of own memory", Want: "HIDDEN", NoTwin: hostCapability},
		Rule{IDs: "proc.self.mem.read", What: "own memory", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "proc.self.mem.write", What: "own memory", Want: "EACCES|OK", Why: "EACCES: Landlock lets nothing below /proc be written; OK: a kernel without it", NoTwin: ownPlace},
		Rule{IDs: "proc.self.make-it-fail", What: "faults on demand", Want: "ENOENT|EACCES", Why: config, NoTwin: hostCapability},
		Rule{
			IDs: "proc.self.oom_score_adj.1000 proc.self.coredump_filter", What: "what a process may say of itself", Want: "EACCES|OK",
			Why: "EACCES: Landlock lets nothing below /proc be written; OK: a kernel without it", NoTwin: ownPlace,
		},
		Rule{IDs: "proc.self.loginuid", What: "own login", Want: "EACCES|EINVAL|EPERM|ENOENT", Why: "EACCES: Landlock; else the kernel's configuration", NoTwin: perHost},
		Rule{IDs: "proc.self.attr/*", What: "own labels", Want: "EACCES|EINVAL|EPERM|ENOENT", Why: "EACCES: Landlock; else the host's security module", NoTwin: perHost},
		Rule{
			IDs: "proc.self.*", What: "own maps of users, own place in memory shortage", Want: "EACCES|EPERM",
			Why: "EACCES: Landlock, or the file is no longer the script's; EPERM: it was written before", NoTwin: sameEverywhere,
		},
	)
	return append(append(system, init...), self...)
}

func viewRules() []Rule {
	const zero = "0000000000000000"
	return class(
		"what a script sees of itself",
		Rule{IDs: "view.descriptors", What: "inherited descriptors", Want: "none", NoTwin: tellsOfSelf},
		Rule{IDs: "view.status.NoNewPrivs", What: "no_new_privs", Want: "1", Twin: "0"},
		Rule{IDs: "view.status.Seccomp", What: "the mode of seccomp", Want: "2", NoTwin: "a container that runs the test may have a filter"},
		Rule{IDs: "view.status.CapInh view.status.CapAmb", What: "sets of capabilities", Want: zero, NoTwin: sameEverywhere},
		Rule{IDs: "view.status.Cap*", What: "sets of capabilities", Want: zero, Twin: "!" + zero},
		Rule{IDs: "view.status.TracerPid", What: "a tracer", Want: "0", NoTwin: tellsOfSelf},
		Rule{IDs: "view.signals.*", What: "blocked, ignored and caught signals", Want: zero, NoTwin: tellsOfSelf},
		Rule{IDs: "view.secret.processes", What: "environments of the host's processes", Want: "0", NoTwin: namesHost},
		Rule{IDs: "view.secret.own", What: "the environment of the embedding program", Want: "absent", NoTwin: namesHost},
		Rule{IDs: "view.processes", What: "processes in /proc", Want: "few", NoTwin: tellsOfSelf},
		Rule{IDs: "view.parent", What: "whose child the script is", Want: "inside", NoTwin: tellsOfSelf},
		Rule{IDs: "view.cgroup", What: "the path of the control group", Want: "root", NoTwin: tellsOfSelf},
		Rule{IDs: "view.mounts.*", What: "mounts without nosuid, and without nodev but for device nodes", Want: "none", Twin: "!none"},
		Rule{IDs: "view.landlock", What: "rulesets of Landlock in force", Want: "1|absent", Why: "absent: the kernel has none, which Session.Info reports", NoTwin: tellsOfSelf},
		Rule{IDs: "view.hostname", What: "the name of the host", Want: "sandbox", NoTwin: tellsOfSelf},
		Rule{IDs: "view.ids", What: "user and group", Want: "1000:1000", NoTwin: tellsOfSelf},
		Rule{IDs: "view.groups", What: "other groups", Want: "none|unmapped", Why: "unmapped: who is not root cannot drop groups; they have no number inside", NoTwin: tellsOfSelf},
		Rule{IDs: "view.subreaper", What: "whether orphans come to this process", Want: "0", NoTwin: tellsOfSelf},
	)
}
