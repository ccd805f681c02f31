package stage1

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// confine gives up every right, for good. It confines this thread, which then executes the program again: that
// ends the other threads, and all threads of the second stage are born confined.
func confine(s *spec.Setup) error {
	unix.Umask(0o022)
	// Without it neither Landlock nor seccomp takes orders from who has no rights, and setuid programs
	// would give some back.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl PR_SET_NO_NEW_PRIVS", err)
	}
	for _, r := range s.Rlimits {
		if err := unix.Setrlimit(r.Resource, &unix.Rlimit{Cur: r.Value, Max: r.Value}); err != nil {
			return os.NewSyscallError(fmt.Sprintf("setrlimit %d", r.Resource), err)
		}
	}
	// The rules are collected while what they name can be opened.
	rules, flags, err := rulesetOf(&s.Landlock)
	if err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl PR_SET_DUMPABLE", err)
	}
	if rules >= 0 {
		if err := ll.LandlockRestrictSelf(rules, flags); err != nil {
			return os.NewSyscallError("landlock_restrict_self", err)
		}
		_ = unix.Close(rules)
	}
	return installFilter(s.Filter) // last: the filter would refuse some of the above
}

// maxCapability is more than any kernel has: the loops end at the first that is not known.
const maxCapability = 63

// dropCapabilities empties the five sets: capabilities(7). The bounding set goes first, since to shrink it
// takes a capability.
func dropCapabilities() error {
	for c := uintptr(0); c <= maxCapability; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break
		}
		if err != nil {
			return os.NewSyscallError("prctl PR_CAPBSET_DROP", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl PR_CAP_AMBIENT_CLEAR_ALL", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return os.NewSyscallError("capset", unix.Capset(&head, &none[0]))
}

// handled are the configurations that restrict all that a version of the interface knows.
var handled = []landlock.Config{
	{}, landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
}

// MaxABI is the newest version of Landlock that the rules are written for.
const MaxABI = 11

// The rights of spec.Access, where the version has them.
const (
	readAccess   = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSReadDir
	deviceAccess = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSIoctlDev
)

// rulesetOf makes the ruleset, strictly for its version. It returns -1 for none.
func rulesetOf(l *spec.Landlock) (fd int, flags uint32, err error) {
	if l.ABI <= 0 || l.ABI >= len(handled) {
		return -1, 0, nil
	}
	config := handled[l.ABI]
	config.HandledAccessNet = 0 // what can be reached is the network namespace's matter
	rules := selfRules()
	for _, r := range l.Rules {
		var access landlock.AccessFSSet
		switch r.Access {
		case spec.AccessRead:
			access = readAccess
		case spec.AccessWrite:
			access = config.HandledAccessFS &^ ll.AccessFSIoctlDev
		case spec.AccessDevice:
			access = deviceAccess
		default:
			return -1, 0, fmt.Errorf("%w: access %q", spec.ErrProtocol, r.Access)
		}
		if access, err = fitting(r.Path, access&config.HandledAccessFS); err != nil {
			return -1, 0, err
		}
		rules = append(rules, landlock.PathAccess(access, r.Path))
	}
	fd, flags, err = config.NewRulesetFD(rules...)
	if err != nil {
		return -1, 0, fmt.Errorf("landlock ruleset: %w", err)
	}
	return fd, flags, nil
}

// selfRules let this program be executed once more; nothing in the cell leads to it. A copy in memory needs no
// rule, and can have none: it is on no file system that Landlock knows.
func selfRules() []landlock.Rule {
	path := fmt.Sprintf("/proc/self/fd/%d", spec.FDSelf)
	if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "/memfd:") {
		return nil
	}
	return []landlock.Rule{landlock.PathAccess(ll.AccessFSExecute|ll.AccessFSReadFile, path)}
}

// fileAccess are the rights that a rule on a file may have; with others the kernel refuses the rule.
const fileAccess = ll.AccessFSExecute | ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSIoctlDev

func fitting(path string, access landlock.AccessFSSet) (landlock.AccessFSSet, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	return access, nil
}

// executeSelf is the last act of stage 1. The second stage starts with an empty environment.
func executeSelf() error { return execveat(spec.FDSelf, []string{"sandbar", spec.Arg, spec.Serving}) }
