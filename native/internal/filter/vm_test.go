package filter

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
)

// action is what a filter returns, as the kernel takes it.
type action uint32

const allowed action = 0x7fff0000 // SECCOMP_RET_ALLOW

// errnoAction is SECCOMP_RET_ERRNO with the errno in its data.
func errnoAction(e Errno) action { return 0x00050000 | action(e) }

func (a action) String() string {
	switch {
	case a == allowed:
		return "allow"
	case a&0xffff0000 == 0x00050000:
		return Errno(a & 0xffff).String()
	}
	return fmt.Sprintf("action %#x", uint32(a))
}

// AUDIT_ARCH_* of the kernel's uapi/linux/audit.h.
const (
	auditX86_64  = 0xc000003e
	auditI386    = 0x40000003
	auditAARCH64 = 0xc00000b7
	auditARM     = 0x40000028
	auditS390X   = 0x80000016
)

var audit = map[string]uint32{"amd64": auditX86_64, "arm64": auditAARCH64}

// call is struct seccomp_data without the instruction pointer.
type call struct {
	arch, nr uint32
	args     [6]uint64
}

func mustBuild(tb testing.TB, goarch string) Program {
	tb.Helper()
	p, err := Build(goarch)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// machine runs the filter of an architecture.
type machine struct {
	vm      *bpf.VM
	numbers map[string]int
	arch    uint32
}

func newMachine(tb testing.TB, goarch string) machine {
	tb.Helper()
	var code []bpf.Instruction
	for _, raw := range mustBuild(tb, goarch) {
		code = append(code, raw.Disassemble())
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		tb.Fatal(err)
	}
	info, err := calls(goarch)
	if err != nil {
		tb.Fatal(err)
	}
	return machine{vm, info.SyscallNames, audit[goarch]}
}

// run gives the action for a call. The VM is made for packets and reads words big endian; the kernel reads words
// of its own order. So each word goes in big endian, at the place where a little endian kernel has it.
func (m machine) run(tb testing.TB, c call) action {
	data := make([]byte, 0, 64)
	for _, w := range []uint32{c.nr, c.arch, 0xdeadbeef, 0xdeadbeef} { // the last two are the instruction pointer
		data = binary.BigEndian.AppendUint32(data, w)
	}
	for _, arg := range c.args {
		data = binary.BigEndian.AppendUint32(data, uint32(arg))
		data = binary.BigEndian.AppendUint32(data, uint32(arg>>32))
	}
	got, err := m.vm.Run(data)
	if err != nil {
		tb.Fatal(err)
	}
	return action(got)
}

// of makes a call by name. It is false if the architecture does not have it.
func (m machine) of(name string, args ...uint64) (call, bool) {
	nr, ok := m.numbers[name]
	c := call{arch: m.arch, nr: uint32(nr)}
	copy(c.args[:], args)
	return c, ok
}

// foreign has the architectures that a kernel can also run, and one that it cannot.
var foreign = map[string][]uint32{
	"amd64": {auditI386, auditAARCH64, auditS390X, 0, 0xffffffff},
	"arm64": {auditARM, auditX86_64, auditS390X, 0, 0xffffffff},
}

// onEach runs a test with the filter of each architecture.
func onEach(t *testing.T, test func(t *testing.T, goarch string, m machine)) {
	for _, goarch := range goarches {
		t.Run(goarch, func(t *testing.T) { test(t, goarch, newMachine(t, goarch)) })
	}
}

func (m machine) expect(t *testing.T, what string, c call, want action) {
	t.Helper()
	if got := m.run(t, c); got != want {
		t.Errorf("%s, call %+v: %v, want %v", what, c, got, want)
	}
}

// TestProgram_wholeCalls: each call that is refused whatever its arguments are, on every way to it.
func TestProgram_wholeCalls(t *testing.T) {
	onEach(t, func(t *testing.T, goarch string, m machine) {
		for _, r := range wholeCalls() {
			for _, args := range [][]uint64{nil, {1, 2, 3, 4, 5, 6}, {^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}} {
				c, ok := m.of(r.Call, args...)
				if !ok {
					continue
				}
				m.expect(t, r.Call, c, errnoAction(r.Errno))
				m.expectOtherWays(t, goarch, r.Call, c)
			}
		}
	})
}

// expectOtherWays: through another architecture or x32, each call is ENOSYS.
func (m machine) expectOtherWays(t *testing.T, goarch, what string, c call) {
	t.Helper()
	x32 := c
	x32.nr |= 0x40000000
	m.expect(t, what+" by x32", x32, errnoAction(ENOSYS))
	for _, a := range foreign[goarch] {
		other := c
		other.arch = a
		m.expect(t, fmt.Sprintf("%s of architecture %#x", what, a), other, errnoAction(ENOSYS))
	}
}

// argumentRows have a denied call and a twin that passes. Numbers are those of the kernel's headers, on purpose not
// the names of the table. wide is the argument whose high half the kernel ignores.
var argumentRows = []struct {
	name  string
	call  string
	args  []uint64
	want  Errno
	twin  []uint64
	wides []int
}{
	{"new mount namespace", "clone", []uint64{0x00020011}, EPERM, []uint64{0x11}, []int{0}},
	{"new cgroup namespace", "clone", []uint64{0x02000011}, EPERM, []uint64{0x01200011}, []int{0}},
	{"new UTS namespace", "clone", []uint64{0x04000011}, EPERM, []uint64{0x003d0f00}, []int{0}},
	{"new IPC namespace", "clone", []uint64{0x08000011}, EPERM, []uint64{0x4111}, []int{0}},
	{"new user namespace", "clone", []uint64{0x10000011}, EPERM, []uint64{0x4111}, []int{0}},
	{"new PID namespace", "clone", []uint64{0x20000011}, EPERM, []uint64{0x80000011}, []int{0}},
	{"new network namespace", "clone", []uint64{0x40000011}, EPERM, []uint64{0x80000011}, []int{0}},
	{"a thread with a user namespace", "clone", []uint64{0x103d0f00}, EPERM, []uint64{0x003d0f00}, []int{0}},
	{"signal 128 is no time namespace", "clone", []uint64{0x00020080}, EPERM, []uint64{0x80}, []int{0}},

	{"new mount namespace", "unshare", []uint64{0x00020000}, EPERM, []uint64{0}, []int{0}},
	{"new time namespace", "unshare", []uint64{0x80}, EPERM, []uint64{0x400}, []int{0}},
	{"new cgroup namespace", "unshare", []uint64{0x02000000}, EPERM, []uint64{0x200}, []int{0}},
	{"new UTS namespace", "unshare", []uint64{0x04000000}, EPERM, []uint64{0x600}, []int{0}},
	{"new IPC namespace", "unshare", []uint64{0x08000000}, EPERM, []uint64{0x40000}, []int{0}},
	{"new user namespace", "unshare", []uint64{0x10000000}, EPERM, []uint64{0x10000}, []int{0}},
	{"new PID namespace", "unshare", []uint64{0x20000000}, EPERM, []uint64{0x800}, []int{0}},
	{"new network namespace", "unshare", []uint64{0x40000400}, EPERM, []uint64{0x100}, []int{0}},
	{"a bit that has no meaning yet", "unshare", []uint64{0x00100000}, EPERM, []uint64{0x00050f00}, []int{0}},

	{"AF_UNSPEC", "socket", []uint64{0, 1, 0}, EAFNOSUPPORT, []uint64{1, 1, 0}, []int{0, 1, 2}},
	{"AF_ALG", "socket", []uint64{38, 5, 0}, EAFNOSUPPORT, []uint64{1, 5, 0}, []int{0, 1, 2}},
	{"AF_VSOCK", "socket", []uint64{40, 1, 0}, EAFNOSUPPORT, []uint64{2, 1, 0}, []int{0, 1, 2}},
	{"AF_PACKET", "socket", []uint64{17, 3, 0x300}, EAFNOSUPPORT, []uint64{16, 3, 0}, []int{0, 1, 2}},
	{"AF_BLUETOOTH", "socket", []uint64{31, 3, 1}, EAFNOSUPPORT, []uint64{10, 1, 0}, []int{0, 1, 2}},
	{"family -1", "socket", []uint64{0xffffffff, 1, 0}, EAFNOSUPPORT, []uint64{2, 1, 6}, []int{0, 1, 2}},
	{"netlink of audit", "socket", []uint64{16, 3, 9}, EAFNOSUPPORT, []uint64{16, 0x80003, 0}, []int{0, 1, 2}},
	{"netlink of udev", "socket", []uint64{16, 2, 15}, EAFNOSUPPORT, []uint64{16, 2, 0}, []int{0, 1, 2}},
	{"raw IPv4", "socket", []uint64{2, 3, 1}, EPERM, []uint64{2, 2, 1}, []int{0, 1, 2}},
	{"raw IPv4 with flags", "socket", []uint64{2, 0x80803, 255}, EPERM, []uint64{2, 0x80802, 17}, []int{0, 1, 2}},
	{"raw IPv6", "socket", []uint64{10, 3, 58}, EPERM, []uint64{10, 2, 58}, []int{0, 1, 2}},
	{"packets of IPv4", "socket", []uint64{2, 10, 0x300}, EPERM, []uint64{2, 0x80001, 6}, []int{0, 1, 2}},
	{"SCTP by type", "socket", []uint64{2, 5, 0}, EPERM, []uint64{1, 5, 0}, []int{0, 1, 2}},
	{"DCCP by type", "socket", []uint64{10, 6, 33}, EPERM, []uint64{10, 0x801, 6}, []int{0, 1, 2}},
	{"type 0", "socket", []uint64{2, 0, 0}, EPERM, []uint64{2, 1, 0}, []int{0, 1, 2}},
	{"MPTCP", "socket", []uint64{2, 1, 262}, EPROTONOSUPPORT, []uint64{2, 1, 6}, []int{0, 1, 2}},
	{"MPTCP over IPv6", "socket", []uint64{10, 0x80801, 262}, EPROTONOSUPPORT, []uint64{10, 0x80801, 0}, []int{0, 1, 2}},
	{"SCTP", "socket", []uint64{2, 1, 132}, EPROTONOSUPPORT, []uint64{2, 1, 0}, []int{0, 1, 2}},
	{"SMC", "socket", []uint64{2, 1, 256}, EPROTONOSUPPORT, []uint64{2, 1, 6}, []int{0, 1, 2}},
	{"L2TP", "socket", []uint64{2, 2, 115}, EPROTONOSUPPORT, []uint64{2, 2, 17}, []int{0, 1, 2}},
	{"AF_TIPC", "socketpair", []uint64{30, 5, 0}, EAFNOSUPPORT, []uint64{1, 5, 0}, []int{0, 1, 2}},
	{"netlink of audit", "socketpair", []uint64{16, 3, 9}, EAFNOSUPPORT, []uint64{1, 0x80001, 0}, []int{0, 1, 2}},
	{"raw IPv4", "socketpair", []uint64{2, 3, 1}, EPERM, []uint64{1, 2, 0}, []int{0, 1, 2}},
	{"MPTCP", "socketpair", []uint64{2, 1, 262}, EPROTONOSUPPORT, []uint64{1, 1, 0}, []int{0, 1, 2}},

	{"TIOCSTI", "ioctl", []uint64{0, 0x5412}, EPERM, []uint64{0, 0x5413}, []int{1}},
	{"TIOCLINUX", "ioctl", []uint64{0, 0x541c}, EPERM, []uint64{0, 0x5401}, []int{1}},
	{"TIOCSETD", "ioctl", []uint64{0, 0x5423}, EPERM, []uint64{0, 0x5424}, []int{1}},
	{"TIOCCONS", "ioctl", []uint64{0, 0x541d}, EPERM, []uint64{0, 0x540e}, []int{1}},
	{"KDSKBENT", "ioctl", []uint64{0, 0x4b47}, EPERM, []uint64{0, 0x4b46}, []int{1}},
	{"KDSKBSENT", "ioctl", []uint64{0, 0x4b49}, EPERM, []uint64{0, 0x80045430}, []int{1}},
	{"TIOCSTI of another descriptor", "ioctl", []uint64{0x5401, 0x5412}, EPERM, []uint64{0x5412, 0x5401}, []int{1}},

	{"READ_IMPLIES_EXEC", "personality", []uint64{0x0400000}, EPERM, []uint64{0}, []int{0}},
	{"MMAP_PAGE_ZERO", "personality", []uint64{0x0100000}, EPERM, []uint64{0xffffffff}, []int{0}},
	{"PER_SVR4", "personality", []uint64{1}, EPERM, []uint64{8}, []int{0}},
	{"PER_SOLARIS", "personality", []uint64{0xd}, EPERM, []uint64{0x0020008}, []int{0}},
	{"a query with a bit missing", "personality", []uint64{0xfffffffe}, EPERM, []uint64{0x0040000}, []int{0}},

	{"PR_SET_MM", "prctl", []uint64{35, 14}, EPERM, []uint64{38, 1}, []int{0}},
	{"PR_SET_MM with another argument like an option", "prctl", []uint64{35, 38}, EPERM, []uint64{15, 35}, []int{0}},

	{"set-user-ID", "chmod", []uint64{1, 0o4755}, EPERM, []uint64{0o4755, 0o1777}, []int{1}},
	{"set-group-ID", "fchmod", []uint64{1, 0o2000}, EPERM, []uint64{0o2000, 0o755}, []int{1}},
	{"set-user-ID", "fchmodat", []uint64{1, 1, 0o104711}, EPERM, []uint64{0o4755, 0o4755, 0o100711}, []int{2}},
	{"set-user-ID", "fchmodat2", []uint64{1, 1, 0o6000, 0}, EPERM, []uint64{1, 1, 0o777, 0o6000}, []int{2}},
	{"set-user-ID", "creat", []uint64{1, 0o4755}, EPERM, []uint64{0o4755, 0o755}, []int{1}},
	{"set-user-ID", "mknod", []uint64{1, 0o104755, 0}, EPERM, []uint64{1, 0o100755, 0o4000}, []int{1}},
	{"set-group-ID", "mknodat", []uint64{1, 1, 0o102755}, EPERM, []uint64{1, 1, 0o100755}, []int{2}},
	{"set-user-ID of a new file", "open", []uint64{1, 0o101, 0o4755}, EPERM, []uint64{1, 0o1, 0o4755}, []int{1, 2}},
	{"set-user-ID of a new file", "openat", []uint64{1, 1, 0o2000102, 0o4755}, EPERM, []uint64{1, 1, 0o2000102, 0o755}, []int{2, 3}},
	{"set-group-ID of a file without a name", "openat", []uint64{1, 1, 0o20200002, 0o2755}, EPERM, []uint64{1, 1, 0o200002, 0o2755}, []int{2, 3}},

	{"a listener", "seccomp", []uint64{1, 8}, EPERM, []uint64{1, 1}, []int{1}},
	{"a listener among flags", "seccomp", []uint64{1, 0x19}, EPERM, []uint64{1, 0x11}, []int{1}},
}

// onlyAMD64 are calls that newer architectures have in another form alone.
var onlyAMD64 = []string{"chmod", "creat", "mknod", "open"}

// TestProgram_arguments: each argument rule, its twin that passes, and both with all patterns of garbage in the half
// that the kernel does not look at.
func TestProgram_arguments(t *testing.T) {
	garbage := []uint64{0, 1 << 32, 0xffffffff << 32, 0x12345678 << 32}
	onEach(t, func(t *testing.T, goarch string, m machine) {
		for _, row := range argumentRows {
			c, ok := m.of(row.call, row.args...)
			if !ok && !slices.Contains(onlyAMD64, row.call) {
				t.Errorf("%s: no call %s", row.name, row.call)
			}
			if !ok {
				continue
			}
			twin, _ := m.of(row.call, row.twin...)
			for _, g := range garbage {
				for _, arg := range row.wides {
					c.args[arg] = c.args[arg]&0xffffffff | g
					twin.args[arg] = twin.args[arg]&0xffffffff | g
				}
				m.expect(t, row.call+": "+row.name, c, errnoAction(row.want))
				m.expect(t, row.call+": twin of "+row.name, twin, allowed)
				m.expectOtherWays(t, goarch, row.name, c)
				m.expectOtherWays(t, goarch, "twin of "+row.name, twin)
			}
		}
	})
}

// ordinary are calls of daily life, and calls about which one could think that they are on the list.
var ordinary = []string{
	"read", "write", "close", "mmap", "mprotect", "brk", "futex", "execve", "execveat", "exit_group", "wait4", "kill",
	"connect", "bind", "listen", "accept4", "sendmsg", "recvmsg", "setsockopt", "epoll_create1", "eventfd2", "pidfd_open",
	"pidfd_send_signal", "memfd_create", "mseal", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
	"mbind", "set_mempolicy", "get_mempolicy", "setuid", "setgid", "setgroups", "setresuid", "capset", "getrandom",
	"clock_gettime", "rseq", "membarrier", "io_setup", "shmget", "mq_open", "inotify_init1", "copy_file_range", "close_range",
	"statx", "faccessat2", "setxattrat", "cachestat", "map_shadow_stack", "fanotify_mark",
	"fork", "vfork", "arch_prctl", "uretprobe", // amd64 only
}

func TestProgram_ordinary(t *testing.T) {
	onEach(t, func(t *testing.T, goarch string, m machine) {
		for _, name := range ordinary {
			for _, arg := range []uint64{0, 1, 0x5412, 0x10000000, ^uint64(0)} {
				c, ok := m.of(name, arg, arg, arg, arg, arg, arg)
				if !ok {
					continue
				}
				m.expect(t, name, c, allowed)
				m.expectOtherWays(t, goarch, name, c)
			}
		}
	})
}

// TestProgram_unknownNumbers: a number that the table does not have is ENOSYS, and the known ones next to it are not.
func TestProgram_unknownNumbers(t *testing.T) {
	onEach(t, func(t *testing.T, goarch string, m machine) {
		hole := map[string][]uint32{"amd64": {336, 337, 400, 423}, "arm64": {245, 259, 295, 402, 415}}[goarch]
		for _, nr := range append(hole, 468, 469, 470, 471, 500, 511, 512, 547, 999, 1024, 0xffff, 0x10000, 0x3fffffff,
			0x40000000, 0x40000001, 0x7fffffff, 0x80000000, 0xffffffff) {
			m.expect(t, fmt.Sprint(nr), call{arch: m.arch, nr: nr}, errnoAction(ENOSYS))
		}
		for _, nr := range map[string][]uint32{"amd64": {0, 335, 424, 462, 466}, "arm64": {0, 244, 260, 424, 462, 466}}[goarch] {
			m.expect(t, fmt.Sprint(nr), call{arch: m.arch, nr: nr}, allowed)
		}
	})
}

// TestSearch: a tree finds each number, also where it is too big for conditional jumps, which reach over 255.
func TestSearch(t *testing.T) {
	for _, n := range []int{1, 2, 3, 255, 256, 257, 258, 511, 600, 2000} {
		// The first span takes two instructions, the others one. So 256 spans have a lower half of 256 instructions.
		list := []span{{rules: []Rule{{Errno: 1}}, names: []string{"call"}}}
		for i := 1; i < n; i++ {
			list = append(list, span{first: uint32(i), names: []string{"call"}, errno: Errno(i + 1)})
		}
		code := []bpf.Instruction{bpf.LoadAbsolute{Off: offNumber, Size: 4}}
		long := false
		for _, s := range search(list) {
			_, isJump := s.ins.(bpf.Jump)
			code, long = append(code, s.ins), long || isJump
		}
		if long != (n >= 256) {
			t.Errorf("%d spans: long jumps %v", n, long)
		}
		vm, err := bpf.NewVM(code)
		if err != nil {
			t.Fatal(err)
		}
		m := machine{vm: vm}
		for i := range n {
			m.expect(t, fmt.Sprintf("%d spans", n), call{nr: uint32(i)}, errnoAction(Errno(i+1)))
		}
		m.expect(t, fmt.Sprintf("%d spans", n), call{nr: 0xffffffff}, errnoAction(Errno(n)))
	}
}

// TestErrno has the numbers of Linux, which are others on other systems.
func TestErrno(t *testing.T) {
	for e, want := range map[Errno]string{1: "EPERM", 38: "ENOSYS", 93: "EPROTONOSUPPORT", 97: "EAFNOSUPPORT", 5: "errno 5"} {
		if got := e.String(); got != want {
			t.Errorf("Errno(%d).String() = %q, want %q", uint16(e), got, want)
		}
	}
}
