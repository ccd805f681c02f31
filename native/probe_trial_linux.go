package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/filter"
)

// trialArg is the first argument of this program when it is to try one thing and tell what came of it. The
// second one names the trial.
const trialArg = "sandbar-probe-trial"

// A trial does something that a cell needs, in a process of its own that ends right afterwards.
type trial struct {
	run func() (detail string, err error)
	// inner trials change mounts and the like: they refuse to run but as the first process of namespaces of
	// their own, so that nobody who starts one by hand harms the host.
	inner bool
}

// trials by name. Their namespaces are the parent's matter.
var trials = map[string]trial{
	"start": {run: func() (string, error) { return "", nil }},
	"pid":   {tryPID, true},
	"mount": {func() (string, error) { return "", makePrivate() }, true},
	"uts": {func() (string, error) {
		return "", os.NewSyscallError("sethostname", unix.Sethostname([]byte("probe")))
	}, true},
	"network":         {func() (string, error) { return "", raiseLoopback() }, true},
	"proc":            {tryProc, true},
	"mount-api":       {tryMountAPI, true},
	"pivot":           {tryPivot, true},
	"terminal":        {tryTerminal, true},
	"landlock":        {run: tryLandlock},
	"seccomp":         {run: trySeccomp},
	"pidfd":           {run: tryPidfd},
	"gpu":             {run: tryNodes},
	trialOfCalls:      {run: func() (string, error) { report(outerCalls); return "", nil }},
	trialOfInnerCalls: {tryInnerCalls, true},
}

// trialResult is what a trial says on its standard output, as JSON on the last line.
type trialResult struct {
	Detail string
	Error  string
	Errno  unix.Errno
}

// init takes over a process that was started for a trial. It never returns to such a process.
func init() {
	if len(os.Args) != 3 || os.Args[1] != trialArg {
		return
	}
	runtime.LockOSThread() // what confines or unshares is a matter of threads
	t, ok := trials[os.Args[2]]
	if !ok || t.inner && os.Getpid() != 1 {
		unix.Exit(2)
	}
	// Not os.Exit: what hangs on it has nothing to do here, and the race detector waits a second at it.
	unix.Exit(t.tell())
}

// tell runs the trial, writes the result, and returns an exit code.
func (t trial) tell() int {
	var r trialResult
	var err error
	if r.Detail, err = t.run(); err != nil {
		r.Error = err.Error()
		errors.As(err, &r.Errno)
	}
	if json.NewEncoder(os.Stdout).Encode(r) != nil {
		return 1
	}
	return 0
}

// tryInnerCalls needs rights over mounts. Where they are taken away, these calls tell nothing.
func tryInnerCalls() (string, error) {
	if err := makePrivate(); err != nil {
		return "", err
	}
	report(innerCalls)
	return "", nil
}

// makePrivate keeps the mounts of this process to itself: it has a mount namespace of its own.
func makePrivate() error {
	return os.NewSyscallError("mount MS_PRIVATE", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
}

// tryPID is of use as an inner trial: those run as process 1 alone.
func tryPID() (string, error) { return "", nil }

// raiseLoopback brings "lo" up, which takes rights in the network namespace: netdevice(7).
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP)
	return os.NewSyscallError("ioctl SIOCSIFFLAGS", unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req))
}

func tryProc() (string, error) {
	if err := makePrivate(); err != nil {
		return "", err
	}
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	return "", os.NewSyscallError("mount proc", err)
}

// emptyMount makes an empty file system that is mounted nowhere.
func emptyMount(fsType string, params ...string) (int, error) {
	fs, err := unix.Fsopen(fsType, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("fsopen "+fsType, err)
	}
	defer func() { _ = unix.Close(fs) }()
	for i := 0; i+1 < len(params); i += 2 {
		if err := unix.FsconfigSetString(fs, params[i], params[i+1]); err != nil {
			return -1, os.NewSyscallError("fsconfig "+fsType, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, os.NewSyscallError("fsconfig "+fsType, err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	return fd, os.NewSyscallError("fsmount "+fsType, err)
}

// trialPlaces are where a trial mounts something, in its own mount namespace.
var trialPlaces = []string{"/tmp", "/run", "/mnt", "/usr"}

func mountSomewhere(fd int) (place string, err error) {
	for _, place = range trialPlaces {
		if err = unix.MoveMount(fd, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH); err == nil {
			return place, nil
		}
	}
	return "", os.NewSyscallError("move_mount", err)
}

func tryMountAPI() (string, error) {
	if err := makePrivate(); err != nil {
		return "", err
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, "/usr", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return "", os.NewSyscallError("open_tree", err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		return "", os.NewSyscallError("mount_setattr", err)
	}
	tmpfs, err := emptyMount("tmpfs")
	if err != nil {
		return "", err
	}
	_, err = mountSomewhere(tmpfs)
	return "open_tree, mount_setattr, fsopen, fsmount, move_mount", err
}

func tryPivot() (string, error) {
	if err := makePrivate(); err != nil {
		return "", err
	}
	// Only pivot_root is tried here, so the mount is made in the old way.
	var err error
	for _, place := range trialPlaces {
		if err = unix.Mount("probe", place, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m"); err == nil {
			err = unix.Chdir(place)
			break
		}
	}
	if err != nil {
		return "", os.NewSyscallError("mount tmpfs", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return "", os.NewSyscallError("pivot_root", err)
	}
	return "", os.NewSyscallError("umount2", unix.Unmount(".", unix.MNT_DETACH))
}

// tryTerminal opens a new terminal of a devpts of its own. Its user must be 0 in the user namespace.
func tryTerminal() (string, error) {
	pts, err := emptyMount("devpts", "ptmxmode", "0666")
	if err != nil {
		return "", err
	}
	fd, err := unix.Openat(pts, "ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: "ptmx", Err: err}
	}
	_, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return "a devpts of its own", os.NewSyscallError("ioctl TIOCGPTN", err)
}

// tryLandlock confines this process to nothing and opens what anybody may open.
func tryLandlock() (string, error) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return "", os.NewSyscallError("landlock_create_ruleset", err)
	}
	rules, flags, err := landlock.V1.NewRulesetFD()
	if err != nil {
		return "", err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", os.NewSyscallError("prctl PR_SET_NO_NEW_PRIVS", err)
	}
	if err := ll.LandlockRestrictSelf(rules, flags); err != nil {
		return "", os.NewSyscallError("landlock_restrict_self", err)
	}
	if fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); !errors.Is(err, unix.EACCES) {
		_ = unix.Close(fd)
		return "", fmt.Errorf("a restricted process opens / all the same: %w", err)
	}
	return fmt.Sprintf("ABI %d", abi), nil
}

// trySeccomp puts the filter of a cell on this thread and makes a call that it refuses.
func trySeccomp() (string, error) {
	p, err := filter.Build(runtime.GOARCH)
	if err != nil {
		return "", err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return "", os.NewSyscallError("prctl PR_SET_NO_NEW_PRIVS", err)
	}
	if err := setFilter(p); err != nil {
		return "", err
	}
	_, _, errno := unix.RawSyscall(unix.SYS_KEYCTL, ^uintptr(0), 0, 0) // EOPNOTSUPP without the filter
	if errno != unix.EPERM {
		return "", fmt.Errorf("the filter is there and refuses nothing: keyctl gives %w", errno)
	}
	return fmt.Sprintf("a filter of %d instructions", len(p)), nil
}

// tryPidfd sends no signal through a descriptor of this process.
func tryPidfd() (string, error) {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return "", os.NewSyscallError("pidfd_open", err)
	}
	return "", os.NewSyscallError("pidfd_send_signal", unix.PidfdSendSignal(fd, 0, nil, 0))
}

// tryNodes opens the device nodes that a script with a GPU gets.
func tryNodes() (string, error) {
	nodes, _, err := findGPU(os.DirFS("/"))
	if err != nil {
		return "", err
	}
	for _, node := range nodes {
		fd, err := unix.Open(node, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", &os.PathError{Op: "open", Path: node, Err: err}
		}
		_ = unix.Close(fd)
	}
	return shortList(nodes), nil
}
