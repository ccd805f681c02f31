package probe

func socketRules() []Rule {
	const allowed = "1 is UNIX, 2 is IPv4, 10 is IPv6, 16 is netlink"
	return class(
		"sockets",
		Rule{IDs: "socket.1.stream socket.1.dgram socket.1.raw socket.1.seqpacket socketpair.1.*", What: "UNIX sockets", Want: "OK", Why: allowed, NoTwin: ownPlace},
		Rule{IDs: "socket.2.stream socket.2.dgram socket.10.stream socket.10.dgram socket.flags.stream", What: "TCP and UDP", Want: "OK", Why: allowed, NoTwin: ownPlace},
		Rule{IDs: "socket.16.dgram socket.16.raw socket.netlink.0 socket.netlink.dgram", What: "NETLINK_ROUTE", Want: "OK", Why: allowed, NoTwin: ownPlace},
		Rule{IDs: "socket.1.* socket.16.* socketpair.16.stream", What: "types that an allowed family has not", Want: "ESOCKTNOSUPPORT", NoTwin: sameEverywhere},
		Rule{IDs: "socketpair.2.stream socketpair.10.stream", What: "pairs of a family that has none", Want: "EOPNOTSUPP", NoTwin: sameEverywhere},
		Rule{IDs: "socket.2.* socket.10.* socket.flags.raw socket.type.*", What: "raw sockets and types that IP has not", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "socket.17.* socketpair.17.stream socket.44.* socketpair.44.stream", What: "packet and XDP sockets", Want: "EAFNOSUPPORT", Twin: "!EPERM"},
		Rule{IDs: "socket.40.* socketpair.40.stream", What: "sockets to the hypervisor", Want: "EAFNOSUPPORT", NoTwin: perHost},
		Rule{IDs: "socket.inet.stream.tcp socket.inet.dgram.udp socket.inet6.stream.tcp socket.inet6.dgram.udp", What: "TCP and UDP by name", Want: "OK", NoTwin: ownPlace},
		Rule{
			IDs: "socket.inet.dgram.icmp socket.inet6.dgram.icmpv6", What: "ping without rights", Want: "EACCES", Open: "EACCES|OK",
			Why: "a new network lets nobody (net.ipv4.ping_group_range); the host's may", NoTwin: perHost,
		},
		Rule{IDs: "socket.inet*.raw.*", What: "raw sockets, all protocols", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "socket.inet.stream.mptcp socket.inet.dgram.udplite socket.inet6.stream.mptcp socket.inet6.dgram.udplite", What: "protocols that load code or go past rules for TCP", Want: "EPROTONOSUPPORT", Twin: "OK|EPROTONOSUPPORT|ENOPROTOOPT", Why: "a kernel may be without them"},
		Rule{IDs: "socket.inet*", What: "protocols that load code, and types that do not go with a protocol", Want: "EPROTONOSUPPORT", NoTwin: perHost},
		Rule{IDs: "socket.netlink.15 socketpair.uevent", What: "events of devices", Want: "EAFNOSUPPORT", Twin: "OK|EOPNOTSUPP", Why: "netlink has no pairs"},
		Rule{IDs: "socket.netlink.*", What: "audit, netfilter, crypto and others of netlink", Want: "EAFNOSUPPORT", NoTwin: perHost},
		Rule{IDs: "socketpair.mptcp", What: "a pair of MPTCP", Want: "EPROTONOSUPPORT", Twin: "EOPNOTSUPP|EPROTONOSUPPORT", Why: "a kernel may be without it"},
		Rule{IDs: "socket.* socketpair.*", What: "all other families, all types", Want: "EAFNOSUPPORT", NoTwin: perHost},
	)
}

func netRules() []Rule {
	const (
		scoped = "the sockets of the host's network are there: Landlock's scope for abstract ones refuses"
		notOwn = "not-tried"
	)
	return class(
		"network",
		Rule{IDs: "net.reach.broadcast", What: "everybody", Want: "ENETUNREACH", Open: notOwn, Twin: "!ENETUNREACH"},
		Rule{IDs: "net.reach.*", What: "addresses that are not the sandbox's", Want: "ENETUNREACH", Open: notOwn, Twin: "!ENETUNREACH"},
		Rule{IDs: "net.loopback*.closed", What: "a port where nobody listens", Want: "ECONNREFUSED", NoTwin: ownPlace},
		Rule{IDs: "net.loopback*.server", What: "a server of one's own", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "net.bind.80", What: "a privileged port", Want: "EACCES", Open: "EACCES|OK|EADDRINUSE", Why: "hosts may have other limits (net.ipv4.ip_unprivileged_port_start)", Twin: "OK"},
		Rule{IDs: "net.bind.8080", What: "a port", Want: "OK", Open: "OK|EADDRINUSE", Why: "a program of the host may have it", NoTwin: ownPlace},
		Rule{IDs: "net.option.rcvbufforce", What: "more memory than allowed", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "net.option.debug", What: "debugging of sockets", Want: "EACCES", NoTwin: hostCapability},
		Rule{IDs: "net.option.ulp", What: "TLS in the kernel, on a socket that is not connected", Want: "ENOENT|ENOTCONN|EPERM", Why: "ENOENT: there is none, and no right to load it", NoTwin: perHost},
		Rule{IDs: "net.option.iptables net.option.hopopts", What: "options for administrators", Want: "EPERM|ENOPROTOOPT", Why: "ENOPROTOOPT: the kernel is without it", Twin: "!EPERM"},
		Rule{IDs: "net.option.*", What: "options for administrators", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "net.ioctl.ask net.route.list", What: "asking for interfaces", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "net.route.new-link", What: "a new interface", Want: "EPERM", Twin: "OK|EOPNOTSUPP", Why: "the kernel may be without that kind"},
		Rule{IDs: "net.route.new-route", What: "a new route", Want: "EPERM", Twin: "!EPERM"},
		Rule{IDs: "net.route.* net.ioctl.*", What: "changes to interfaces", Want: "EPERM", Twin: "OK|EOPNOTSUPP", Why: "the kernel may be without that kind"},
		Rule{IDs: "net.interfaces", What: "interfaces", Want: "lo", Open: "!EPERM", NoTwin: tellsOfSelf},
		Rule{IDs: "net.own-abstract net.credentials.own", What: "UNIX sockets of one's own", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "net.credentials.pid", What: "messages in the name of PID 1", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "net.credentials.uid", What: "messages in the name of root", Want: "EINVAL", Why: "root has no number in the user namespace", Twin: "OK"},
		Rule{IDs: "host.socket.abstract", What: "an abstract socket of the host", Want: "ECONNREFUSED", Open: "EPERM", Why: scoped, NoTwin: namesHost},
		Rule{
			IDs: "host.socket.abstract.dgram", What: "an abstract stream socket of the host, as another type", Want: "ECONNREFUSED", Open: "ECONNREFUSED",
			Why: "no datagram socket has that name, in either network", NoTwin: namesHost,
		},
		Rule{IDs: "host.socket.path", What: "a socket of the host by its path", Want: "ENOENT", NoTwin: namesHost},
		Rule{IDs: "tty.works", What: "a terminal of one's own", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "tty.fd*", What: "terminals of the caller", Want: "none", NoTwin: tellsOfSelf},
	)
}

func oddRules() []Rule {
	return class(
		"limits and shares of the machine",
		Rule{IDs: "rlimit.raise.*", What: "raising a hard limit", Want: "EPERM|unlimited", Why: "unlimited: there is no limit to raise", NoTwin: hostCapability},
		Rule{IDs: "rlimit.regain.*", What: "regaining a hard limit that was given up", Want: "EPERM|zero", Why: "zero: there is nothing to give up", NoTwin: hostCapability},
		Rule{IDs: "rlimit.core", What: "the limit of core files", Want: "0:0|1:1", Why: "1 keeps piped ones away as well: core(5)", NoTwin: tellsOfSelf},
		Rule{IDs: "core.dump", What: "the core of a crash", Want: "none", Twin: "DUMPED|piped|none", Why: "the host decides on its cores; the test starts no handler of it"},
		Rule{IDs: "sched.batch sched.nice.down sched.ioprio.idle", What: "taking less", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "sched.nice.*", What: "a better place than others", Want: "EACCES", NoTwin: hostCapability},
		Rule{IDs: "sched.*", What: "real time", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "memory.lock ipc.shm.lock", What: "locking more memory than allowed", Want: "ENOMEM", NoTwin: hostCapability},
		Rule{IDs: "memory.zero", What: "memory at zero", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "memory.code memory.memfd", What: "memory for compilers", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "memory.fault.kernel", What: "faults of the kernel left to a user", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "memory.secret", What: "memory that the host cannot look into", Want: "EPERM", Twin: "OK|ENOSYS", Why: "a kernel may be without it"},
		Rule{IDs: "memory.fault.user", What: "own faults left to oneself", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "clock.adjtimex.tick", What: "the pace of the clock", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "clock.adjtime clock.adjtimex.ask", What: "asking for the state of the clock", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "clock.*", What: "setting clocks to what is no time", Want: "EPERM", Twin: "EINVAL", Why: "without a guard the time is looked at before the right to set it"},
		Rule{IDs: "personality.ask personality.no-randomize personality.linux32", What: "harmless personalities", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "personality.*", What: "personalities that weaken a process", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "name.*", What: "the names of the host", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "ipc.own.*", What: "shared memory, queues, semaphores of one's own", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "ipc.foreign.*", What: "those of others", Want: "0", NoTwin: tellsOfSelf},
		Rule{IDs: "ipc.mqueue", What: "a POSIX queue", Want: "EMFILE", Why: "RLIMIT_MSGQUEUE is 0: a queue would outlive its run", Twin: "OK"},
		Rule{IDs: "fs.flags.usr", What: "flags of /usr", Want: "EROFS|ENOTTY|EOPNOTSUPP", Why: "not every file system has flags", NoTwin: hostCapability},
		Rule{IDs: "fs.*", What: "commands to file systems", Want: "EPERM|ENOTTY|EOPNOTSUPP", Why: "not every file system knows the command", NoTwin: hostCapability},
		Rule{IDs: "watch.inotify", What: "watching own files", Want: "OK", NoTwin: ownPlace},
		Rule{IDs: "watch.fanotify", What: "watching a whole file system", Want: "EPERM", Twin: "OK"},
		Rule{IDs: "bpf.map-create bpf.map-lookup", What: "bpf", Want: "EPERM", Twin: "!ENOSYS"},
		Rule{IDs: "bpf.*", What: "bpf", Want: "EPERM", NoTwin: hostCapability},
		Rule{IDs: "kernel.*", What: "swap and accounting", Want: "EPERM", NoTwin: hostCapability},
	)
}
