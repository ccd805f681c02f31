package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/filter"
)

// poorHost is the first argument of this test binary when it is to make itself a host that lacks something, in
// namespaces of its own, and to probe that. The second one is the name of what it does to itself.
const poorHost = "sandbar-test-poor-host"

// poverties are what such a host does to itself.
var poverties = map[string]func() error{
	"nothing": func() error { return nil },
	// The setting is one of a user namespace: namespaces(7).
	"no namespaces": func() error { return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0) },
	"masked proc": func() error {
		return errors.Join(makePrivate(), os.NewSyscallError("mount tmpfs", unix.Mount("mask", "/proc/driver", "tmpfs", unix.MS_RDONLY, "")))
	},
	// As the default profiles of container runtimes do for who has no CAP_SYS_ADMIN.
	"container filter": func() error {
		deny := map[uint32]bpf.RetConstant{unix.SYS_CLONE3: answer(unix.ENOSYS)}
		for _, nr := range []uint32{
			unix.SYS_UNSHARE, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
			unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,
		} {
			deny[nr] = answer(unix.EPERM)
		}
		return confineAll(deny, true)
	},
	// As where clone is allowed and the rest is not.
	"mount filter": func() error {
		return confineAll(map[uint32]bpf.RetConstant{unix.SYS_UNSHARE: answer(unix.EPERM), unix.SYS_MOUNT: answer(unix.EPERM), unix.SYS_PIVOT_ROOT: answer(unix.EPERM)}, false)
	},
	"pivot filter": func() error {
		return confineAll(map[uint32]bpf.RetConstant{unix.SYS_PIVOT_ROOT: answer(unix.EPERM)}, false)
	},
	"killing filter": func() error {
		return confineAll(map[uint32]bpf.RetConstant{unix.SYS_MOUNT: {Val: unix.SECCOMP_RET_KILL_PROCESS}}, false)
	},
}

func answer(errno unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// anyNamespace are the flags of clone(2) that make namespaces.
const anyNamespace = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// confineAll puts a filter on this thread and starts the program again under it. Clone: making namespaces is
// refused too.
func confineAll(deny map[uint32]bpf.RetConstant, clone bool) error {
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}} // seccomp_data.nr
	for nr, ret := range deny {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: nr, SkipFalse: 1}, ret)
	}
	if clone {
		code = append(code,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE, SkipFalse: 3},
			bpf.LoadAbsolute{Off: 16, Size: 4}, // the lower half of args[0]
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: anyNamespace, SkipFalse: 1},
			answer(unix.EPERM))
	}
	raw, err := bpf.Assemble(append(code, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}))
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if err := setFilter(filter.Program(raw)); err != nil {
		return err
	}
	return os.NewSyscallError("execve", unix.Exec("/proc/self/exe", []string{os.Args[0], poorHost, "nothing"}, os.Environ()))
}

// poorReport is what such a host tells.
type poorReport struct {
	Error  string
	Report *Report
}

func init() {
	if len(os.Args) != 3 || os.Args[1] != poorHost {
		return
	}
	runtime.LockOSThread()
	var r poorReport
	if err := impoverish(os.Args[2]); err != nil {
		r.Error = err.Error()
	} else {
		r.Report = Probe(context.Background(), unhurried)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		unix.Exit(1)
	}
	unix.Exit(0)
}

// impoverish is never for the host itself: in the initial user namespace all ids are mapped.
func impoverish(name string) error {
	ids, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return err
	}
	if f := strings.Fields(string(ids)); len(f) != 3 || f[2] != "1" {
		return fmt.Errorf("not in a user namespace of a test: %q", ids)
	}
	return poverties[name]()
}

// probePoor probes a host that lacks something.
func probePoor(t *testing.T, poverty string) *Report {
	t.Helper()
	needBackend(t, Userns)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", poorHost, poverty)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &stderr, time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s%s", err, &out, &stderr)
	}
	var r poorReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Error != "" {
		t.Fatalf("%v: %s%s", err, &out, &stderr)
	}
	return r.Report
}

// mustBlame checks that something does not work, and that the cause has these words.
func mustBlame(t *testing.T, r *Report, name string, words ...string) {
	t.Helper()
	f := finding(t, r, name)
	t.Logf("%s: %s\n\tcause: %s\n\tremedy: %s", f.Name, f.Detail, f.Cause, f.Remedy)
	if f.OK {
		t.Errorf("%s works", name)
	}
	for _, w := range words {
		if !strings.Contains(f.Cause, w) {
			t.Errorf("%s: no %q in the cause %q (%s)", name, w, f.Cause, f.Detail)
		}
	}
	if f.Remedy == "" {
		t.Errorf("%s: no remedy", name)
	}
	if strings.Contains(f.Detail, "deadline") {
		t.Errorf("%s: %s: that was not to be waited for", name, f.Detail)
	}
}

func finding(t *testing.T, r *Report, name string) Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", name, r.Findings)
	return Finding{}
}

// mustWork checks what a poor host still has.
func mustWork(t *testing.T, r *Report, names ...string) {
	t.Helper()
	for _, name := range names {
		if f := finding(t, r, name); !f.OK {
			t.Errorf("%s: %s; %s", name, f.Detail, f.Cause)
		}
	}
}

func mustBlameBwrap(t *testing.T, r *Report, words ...string) {
	t.Helper()
	if try := features["bwrap"]; try() == nil {
		mustBlame(t, r, string(Bubblewrap), words...)
	}
}

func TestProbe_PoorHostWithNothingTakenAway(t *testing.T) {
	r := probePoor(t, "nothing")
	mustWork(t, r, string(Userns), "user-namespace", "mount-namespace", "proc", "mount-api", "pivot-root", "network-namespace")
}

func TestProbe_NoUserNamespaces(t *testing.T) {
	r := probePoor(t, "no namespaces")
	mustBlame(t, r, string(Userns), "user.max_user_namespaces=0")
	mustBlameBwrap(t, r, "user.max_user_namespaces=0")
	mustBlame(t, r, "user-namespace", "user.max_user_namespaces=0")
	mustBlame(t, r, "network-namespace", "user.max_user_namespaces=0")
	mustWork(t, r, "pidfd", "seccomp")
}

func TestProbe_MaskedProc(t *testing.T) {
	r := probePoor(t, "masked proc")
	mustBlame(t, r, string(Userns), "covered", "/proc/driver")
	mustBlameBwrap(t, r, "covered", "/proc/driver")
	mustBlame(t, r, "proc", "covered", "/proc/driver")
	mustWork(t, r, "user-namespace", "mount-namespace", "mount-api", "pivot-root")
}

func TestProbe_ContainerFilter(t *testing.T) {
	r := probePoor(t, "container filter")
	mustBlame(t, r, string(Userns), "seccomp", "clone")
	mustBlameBwrap(t, r, "seccomp", "clone")
	mustBlame(t, r, "user-namespace", "seccomp", "clone")
	mustWork(t, r, "pidfd", "seccomp")
}

func TestProbe_MountFilter(t *testing.T) {
	r := probePoor(t, "mount filter")
	mustBlame(t, r, string(Userns), "seccomp", "unshare")
	mustBlameBwrap(t, r, "seccomp", "mount")
	mustBlame(t, r, "mount-namespace", "seccomp", "mount")
	mustBlame(t, r, "pivot-root", "seccomp")
	mustWork(t, r, "user-namespace", "network-namespace")
}

func TestProbe_PivotFilter(t *testing.T) {
	r := probePoor(t, "pivot filter")
	mustBlame(t, r, string(Userns), "seccomp", "pivot_root")
	mustBlameBwrap(t, r, "seccomp", "pivot_root")
	mustBlame(t, r, "pivot-root", "seccomp", "pivot_root")
	mustWork(t, r, "mount-namespace", "proc", "mount-api")
}

func TestProbe_KillingFilter(t *testing.T) {
	r := probePoor(t, "killing filter")
	mustBlame(t, r, string(Userns), "seccomp filter", "kills")
	mustBlameBwrap(t, r, "seccomp filter", "kills")
	mustBlame(t, r, "proc", "seccomp filter", "kills")
	mustWork(t, r, "user-namespace", "network-namespace")
}
