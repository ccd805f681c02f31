package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	children["probe"] = probeChild
}

// inChild runs a part of a test in a process of its own, in a fresh folder that everybody may write to.
func inChild(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil { // the child gives up its uid
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	// Work that the child leaves behind would keep its output open.
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, stderr.Bytes())
	}
	return out, err
}

// needSeccomp skips where the kernel takes no filter, and fails where CI says that it must.
func needSeccomp(t *testing.T) {
	t.Helper()
	if !slices.Contains(goarches, runtime.GOARCH) {
		t.Skip("no filter for " + runtime.GOARCH)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	if errno == unix.EFAULT { // it got as far as reading the program
		return
	}
	if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "seccomp") {
		t.Fatalf("seccomp(SECCOMP_SET_MODE_FILTER): %v", errno)
	}
	t.Skipf("seccomp(SECCOMP_SET_MODE_FILTER): %v", errno)
}

// dropRoot gives up uid 0 for good: what a probe tries must not harm the machine if the filter lets it through.
func dropRoot() error {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	return errors.Join(
		os.NewSyscallError("setgroups", syscall.Setgroups([]int{})),
		os.NewSyscallError("setgid", syscall.Setgid(nobody)),
		os.NewSyscallError("setuid", syscall.Setuid(nobody)),
	)
}

// A probe is a call that is harmless even if it is let through.
type probe struct {
	name string
	nr   uintptr
	args [4]uintptr
	want syscall.Errno // with the filter
	// same means that the call may give this errno without the filter too, on some kernel that we know of.
	same bool
}

const (
	none   = ^uintptr(0)                              // a descriptor or process that is not there
	badPtr = uintptr(1)                               // an address where nothing is
	high   = uintptr(1) << (32 * (^uintptr(0) >> 63)) // bit 32: what the kernel cuts off
)

var probes = []probe{
	{name: "clone3", nr: unix.SYS_CLONE3, want: unix.ENOSYS},
	{name: "clone with a user namespace", nr: unix.SYS_CLONE, args: [4]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}, want: unix.EPERM},
	{name: "clone with garbage above", nr: unix.SYS_CLONE, args: [4]uintptr{high | unix.CLONE_NEWUSER | unix.CLONE_FS}, want: unix.EPERM},
	{name: "clone with nonsense", nr: unix.SYS_CLONE, args: [4]uintptr{unix.CLONE_THREAD}, want: unix.EINVAL, same: true},
	{name: "unshare of a user namespace", nr: unix.SYS_UNSHARE, args: [4]uintptr{unix.CLONE_NEWUSER}, want: unix.EPERM},
	{name: "unshare of nothing", nr: unix.SYS_UNSHARE, want: 0, same: true},
	{name: "setns", nr: unix.SYS_SETNS, args: [4]uintptr{none}, want: unix.EPERM},
	{name: "io_uring_setup", nr: unix.SYS_IO_URING_SETUP, args: [4]uintptr{1, badPtr}, want: unix.ENOSYS, same: true},
	{name: "io_uring_enter", nr: unix.SYS_IO_URING_ENTER, args: [4]uintptr{none}, want: unix.ENOSYS, same: true},
	{name: "io_uring_register", nr: unix.SYS_IO_URING_REGISTER, args: [4]uintptr{none}, want: unix.ENOSYS, same: true},

	{name: "mount", nr: unix.SYS_MOUNT, args: [4]uintptr{badPtr, badPtr, badPtr}, want: unix.EPERM},
	{name: "statmount", nr: unix.SYS_STATMOUNT, args: [4]uintptr{badPtr}, want: unix.ENOSYS, same: true},
	{name: "quotactl", nr: unix.SYS_QUOTACTL, args: [4]uintptr{0, badPtr}, want: unix.EPERM, same: true},

	{name: "ptrace", nr: unix.SYS_PTRACE, args: [4]uintptr{unix.PTRACE_CONT, none}, want: unix.EPERM},
	{name: "process_vm_readv", nr: unix.SYS_PROCESS_VM_READV, args: [4]uintptr{none}, want: unix.EPERM},
	{name: "kcmp", nr: unix.SYS_KCMP, args: [4]uintptr{none, none}, want: unix.EPERM, same: true},
	{name: "pidfd_getfd", nr: unix.SYS_PIDFD_GETFD, args: [4]uintptr{none}, want: unix.EPERM},
	{name: "perf_event_open", nr: unix.SYS_PERF_EVENT_OPEN, args: [4]uintptr{badPtr}, want: unix.EPERM, same: true},
	{name: "bpf", nr: unix.SYS_BPF, args: [4]uintptr{none, badPtr, 8}, want: unix.EPERM, same: true},
	{name: "userfaultfd", nr: unix.SYS_USERFAULTFD, args: [4]uintptr{none}, want: unix.EPERM, same: true},
	{name: "fanotify_init", nr: unix.SYS_FANOTIFY_INIT, args: [4]uintptr{none}, want: unix.EPERM, same: true},
	{name: "keyctl", nr: unix.SYS_KEYCTL, args: [4]uintptr{none}, want: unix.EPERM},
	{name: "add_key", nr: unix.SYS_ADD_KEY, args: [4]uintptr{badPtr, badPtr}, want: unix.EPERM},
	{name: "adjtimex", nr: unix.SYS_ADJTIMEX, args: [4]uintptr{badPtr}, want: unix.EPERM},
	{name: "name_to_handle_at", nr: unix.SYS_NAME_TO_HANDLE_AT, args: [4]uintptr{none, badPtr}, want: unix.EPERM},
	{name: "process_mrelease", nr: unix.SYS_PROCESS_MRELEASE, args: [4]uintptr{none}, want: unix.EPERM},
	{name: "lsm_list_modules", nr: unix.SYS_LSM_LIST_MODULES, args: [4]uintptr{badPtr, badPtr, 1}, want: unix.ENOSYS, same: true},

	{name: "personality READ_IMPLIES_EXEC", nr: unix.SYS_PERSONALITY, args: [4]uintptr{0x0400000}, want: unix.EPERM},
	{name: "personality query", nr: unix.SYS_PERSONALITY, args: [4]uintptr{0xffffffff}, want: 0, same: true},
	{name: "a listener", nr: unix.SYS_SECCOMP, args: [4]uintptr{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}, want: unix.EPERM},
	{name: "a filter", nr: unix.SYS_SECCOMP, args: [4]uintptr{unix.SECCOMP_SET_MODE_FILTER}, want: unix.EFAULT, same: true},
	{name: "prctl PR_SET_MM", nr: unix.SYS_PRCTL, args: [4]uintptr{unix.PR_SET_MM, none}, want: unix.EPERM, same: true},
	{name: "prctl PR_SET_CHILD_SUBREAPER", nr: unix.SYS_PRCTL, args: [4]uintptr{unix.PR_SET_CHILD_SUBREAPER}, want: 0, same: true},

	{name: "AF_PACKET", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, want: unix.EAFNOSUPPORT},
	{name: "AF_PACKET with garbage above", nr: unix.SYS_SOCKET, args: [4]uintptr{high | unix.AF_PACKET, unix.SOCK_RAW}, want: unix.EAFNOSUPPORT},
	{name: "AF_ALG", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET}, want: unix.EAFNOSUPPORT, same: true},
	{name: "netlink of udev", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, want: unix.EAFNOSUPPORT},
	{name: "netlink of routes", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, want: 0, same: true},
	{name: "raw IPv4", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, want: unix.EPERM, same: true},
	{name: "MPTCP", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, want: unix.EPROTONOSUPPORT, same: true},
	{name: "TCP", nr: unix.SYS_SOCKET, args: [4]uintptr{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP}, want: 0, same: true},

	{name: "TIOCSTI", nr: unix.SYS_IOCTL, args: [4]uintptr{none, unix.TIOCSTI}, want: unix.EPERM},
	{name: "TIOCSTI with garbage above", nr: unix.SYS_IOCTL, args: [4]uintptr{none, high | unix.TIOCSTI}, want: unix.EPERM},
	{name: "TIOCLINUX", nr: unix.SYS_IOCTL, args: [4]uintptr{none, 0x541c}, want: unix.EPERM},
	{name: "TIOCGWINSZ", nr: unix.SYS_IOCTL, args: [4]uintptr{none, unix.TIOCGWINSZ}, want: unix.EBADF, same: true},

	{name: "a number that is not in the table", nr: 468, args: [4]uintptr{none}, want: unix.ENOSYS, same: true},
	{name: "a number far above", nr: 5000, want: unix.ENOSYS, same: true},
	{name: "mseal", nr: unix.SYS_MSEAL, args: [4]uintptr{badPtr}, want: unix.EINVAL, same: true},
	{name: "getpid", nr: unix.SYS_GETPID, want: 0, same: true},
}

// TestInstall_probes makes calls under the filter of this machine, and the same calls without it: a call that gives
// the filter's errno anyhow proves nothing.
func TestInstall_probes(t *testing.T) {
	needSeccomp(t)
	with, without := runProbes(t, "filter"), runProbes(t, "bare")
	for _, p := range allProbes() {
		if got := syscall.Errno(with[p.name]); got != p.want {
			t.Errorf("%s with the filter: %v (%d), want %v", p.name, got, with[p.name], p.want)
		}
		if got := syscall.Errno(without[p.name]); got == p.want && !p.same && !filteredAlready(t) {
			t.Errorf("%s without the filter: %v too, which proves nothing", p.name, got)
		}
	}
}

// filteredAlready: a container runtime has put its own filter on the tests.
func filteredAlready(t *testing.T) bool {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	return !strings.Contains(string(status), "\nSeccomp:\t0\n")
}

// allProbes adds what the architecture has of its own.
func allProbes() []probe {
	if runtime.GOARCH != "amd64" {
		return probes
	}
	return append(slices.Clone(probes),
		probe{name: "x32 getpid", nr: 0x40000000 + 39, want: unix.ENOSYS, same: true},
		probe{name: "x32 mount", nr: 0x40000000 + 165, args: [4]uintptr{badPtr, badPtr, badPtr}, want: unix.ENOSYS, same: true},
		probe{name: "iopl", nr: 172, args: [4]uintptr{4}, want: unix.EPERM, same: true},
		probe{name: "modify_ldt", nr: 154, args: [4]uintptr{none}, want: unix.EPERM, same: true},
	)
}

func runProbes(t *testing.T, how string) map[string]int {
	t.Helper()
	out, err := inChild(t, "probe", how)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]int
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return got
}

func probeChild(args []string) int {
	err := dropRoot()
	if err == nil && args[0] == "filter" {
		err = install()
	}
	if err != nil {
		return complain(err)
	}
	got := make(map[string]int)
	for _, p := range allProbes() {
		_, _, errno := syscall.Syscall6(p.nr, p.args[0], p.args[1], p.args[2], p.args[3], 0, 0)
		got[p.name] = int(errno)
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
