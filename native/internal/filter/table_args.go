package filter

import "slices"

// Values of the kernel's headers, which have no names in Go on other systems.
const (
	// All CLONE_NEW* flags of clone(2). CLONE_NEWTIME, 0x80, is none of them: clone has the signal for the parent
	// in its low eight bits.
	cloneNew = 0x7e020000
	// CLONE_VM, FS, FILES, SIGHAND, THREAD and SYSVSEM: what unshare(2) takes and what makes no namespace.
	unshareHarmless = 0x00050f00

	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16

	typeMask  = 0xf // the rest of socket's type is SOCK_CLOEXEC and SOCK_NONBLOCK
	typeBytes = 1   // SOCK_STREAM
	typeDgram = 2

	netlinkRoute = 0

	personalityHarmless = 0x00060008 // PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE
	personalityQuery    = 0xffffffff // asks for the present one

	setIDBits = 0o6000     // S_ISUID and S_ISGID
	makesFile = 0o20000100 // O_CREAT and __O_TMPFILE: open has a mode

	seccompNewListener = 1 << 3 // SECCOMP_FILTER_FLAG_NEW_LISTENER
	prSetMM            = 35     // PR_SET_MM
)

// inetProtocols are those that an IPv4 or IPv6 socket may name: the default of its type, ICMP, TCP, UDP, ICMPv6.
// The others load kernel modules (SCTP, DCCP, L2TP, SMC) or go past the rules of Landlock for TCP (MPTCP, 262).
var inetProtocols = []uint32{0, 1, 6, 17, 58}

// terminalCommands are ioctl requests that act on a terminal beyond what its user sees.
var terminalCommands = []struct {
	name   string
	value  uint32
	reason string
}{
	{"TIOCSTI", 0x5412, "types into the terminal: its shell would run it"},
	{"TIOCLINUX", 0x541c, "pastes into a console: its shell would run it"},
	{"TIOCSETD", 0x5423, "loads a line discipline, which is old kernel code"},
	{"TIOCCONS", 0x541d, "takes the output of the console"},
	{"KDSKBENT", 0x4b47, "changes the keys of a console, for whoever types next"},
	{"KDSKBSENT", 0x4b49, "changes the texts of function keys of a console"},
}

// argumentRules has the calls that are refused for some arguments.
func argumentRules() []Rule {
	return slices.Concat(namespaceRules(), socketRules("socket"), socketRules("socketpair"), terminalRules(), processRules(), setIDRules())
}

func namespaceRules() []Rule {
	const class = "namespaces"
	return []Rule{
		{
			Call: "clone", When: "flags has a CLONE_NEW* bit", Class: class, Errno: EPERM, conds: []cond{anyBit(0, cloneNew)},
			Reason: "in a user namespace of its own a process has all capabilities again, and reaches more of the kernel",
		},
		{
			Call: "unshare", When: "flags has a bit other than CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM", Class: class, Errno: EPERM,
			conds:  []cond{anyBit(0, ^uint32(unshareHarmless))},
			Reason: "as for clone; an allow-list of bits, because kernels give new meanings to free ones",
		},
	}
}

// socketRules is the allow-list of socket families. EAFNOSUPPORT is what a kernel without the family says, so
// programs go on without it; libaudit, for one, takes any other error for a fault and ends its program.
func socketRules(call string) []Rule {
	const class = "sockets"
	inet := is(0, familyInet, familyInet6)
	return []Rule{
		{
			Call: call, When: "family is not AF_UNIX, AF_INET, AF_INET6, AF_NETLINK", Class: class, Errno: EAFNOSUPPORT,
			conds:  []cond{isNot(0, familyUnix, familyInet, familyInet6, familyNetlink)},
			Reason: "kernel crypto, hypervisor, packet and radio sockets: much code, little use",
		},
		{
			Call: call, When: "family is AF_NETLINK and protocol is not NETLINK_ROUTE", Class: class, Errno: EAFNOSUPPORT,
			conds:  []cond{is(0, familyNetlink), isNot(2, netlinkRoute)},
			Reason: "talks to audit, netfilter, crypto and others; lists of addresses need NETLINK_ROUTE only",
		},
		{
			Call: call, When: "family is AF_INET or AF_INET6 and type is not SOCK_STREAM or SOCK_DGRAM", Class: class, Errno: EPERM,
			conds:  []cond{inet, isNot(1, typeBytes, typeDgram).masked(typeMask)},
			Reason: "raw and packet sockets forge packets; EPERM is what a kernel says without CAP_NET_RAW",
		},
		{
			Call: call, When: "family is AF_INET or AF_INET6 and protocol is not 0, ICMP, TCP, UDP, ICMPv6", Class: class, Errno: EPROTONOSUPPORT,
			conds:  []cond{inet, isNot(2, inetProtocols...)},
			Reason: "SCTP, DCCP, L2TP, SMC load modules, MPTCP goes past Landlock; Go falls back to TCP on this errno",
		},
	}
}

func terminalRules() []Rule {
	rows := make([]Rule, len(terminalCommands))
	for i, cmd := range terminalCommands {
		rows[i] = Rule{Call: "ioctl", When: "request is " + cmd.name, Class: "terminal", Errno: EPERM, Reason: cmd.reason, conds: []cond{is(1, cmd.value)}}
	}
	return rows
}

func processRules() []Rule {
	return []Rule{
		{
			Call: "personality", When: "persona is not 0xffffffff and has a bit other than PER_LINUX32, UNAME26, ADDR_NO_RANDOMIZE",
			Class: "kernel", Errno: EPERM,
			conds:  []cond{isNot(0, personalityQuery), anyBit(0, ^uint32(personalityHarmless))},
			Reason: "page zero, executable data, other systems' manners; asking, linux32 and setarch -R stay",
		},
		{
			Call: "prctl", When: "option is PR_SET_MM", Class: "tracing", Errno: EPERM, conds: []cond{is(0, prSetMM)},
			Reason: "forges what /proc says about a process; for tools that restore processes",
		},
		{
			Call: "seccomp", When: "flags has SECCOMP_FILTER_FLAG_NEW_LISTENER", Class: "tracing", Errno: EPERM, conds: []cond{anyBit(1, seccompNewListener)},
			Reason: "a listener answers calls of other processes and gives them descriptors; plain filters stay",
		},
	}
}

// setIDRules keep the set-user-ID and set-group-ID bits off files. In the cell they have no effect, but the work
// directory and granted paths are the host's: a program that is left there with such a bit would run with the rights of
// the embedding program's user for whoever can reach it, and that user can be root.
func setIDRules() []Rule {
	const (
		class  = "set-user-ID"
		reason = "the file stays on the host, where the bit would give the embedding program's rights away"
	)
	var rows []Rule
	for _, c := range []struct {
		call string
		mode int // argument
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}} {
		rows = append(rows, Rule{
			Call: c.call, When: "mode has S_ISUID or S_ISGID", Class: class, Errno: EPERM, conds: []cond{anyBit(c.mode, setIDBits)}, Reason: reason,
		})
	}
	for _, c := range []struct {
		call  string
		flags int
	}{{"open", 1}, {"openat", 2}} {
		rows = append(rows, Rule{
			Call: c.call, When: "flags has O_CREAT or O_TMPFILE, and mode S_ISUID or S_ISGID", Class: class, Errno: EPERM,
			conds: []cond{anyBit(c.flags, makesFile), anyBit(c.flags+1, setIDBits)}, Reason: reason,
		})
	}
	return rows
}
