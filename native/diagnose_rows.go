package native

import (
	"fmt"
	"strings"
	"syscall"
)

// A row of the table knows one thing that stands in the way.
type row struct {
	name string
	fits func(*settings, symptom) bool
	tell func(*settings, symptom) (cause, remedy string)
}

// says is for rows whose words do not depend on the host.
func says(cause, remedy string) func(*settings, symptom) (string, string) {
	return func(*settings, symptom) (string, string) { return cause, remedy }
}

// byRuntime chooses the remedy for where we run, and gives all where that is not known.
func (s *settings) byRuntime(inDocker, inKubernetes, outside string) string {
	switch s.container {
	case docker, podman:
		return inDocker
	case kubernetes:
		return inKubernetes
	case "":
		return outside
	}
	return inDocker + "; " + inKubernetes
}

// callsOf are the system calls that a step is made of, with either backend, as far as the trial of calls knows
// them.
var callsOf = map[step][]string{
	stepNamespaces: {"clone", "clone3", "unshare"},
	stepRights:     {"unshare"},
	stepMount:      {"mount", "umount2", "open_tree", "mount_setattr", "move_mount", "fsopen", "fsconfig", "fsmount"},
	stepProc:       {"mount", "fsopen", "fsconfig", "fsmount"},
	stepDevpts:     {"clone", "fsopen", "fsconfig", "fsmount"},
	stepPivot:      {"pivot_root", "umount2", "mount"},
	stepOwner:      {"open_tree", "mount_setattr"},
	stepLandlock:   {"landlock_create_ruleset"},
}

// refusedIn are the calls of the step that were tried and got the answer that the step failed with.
func (s *settings) refusedIn(y symptom) []string {
	var found []string
	for _, call := range callsOf[y.step] {
		if answer, ok := s.refusedCalls[call]; ok && answer == y.errno {
			found = append(found, call)
		}
	}
	return found
}

// seccompRemedy is for a filter that somebody has put on us.
func seccompRemedy(s *settings) string {
	const calls = "clone and unshare with namespaces, mount, umount2, pivot_root, open_tree, move_mount, mount_setattr, fsopen, fsconfig, fsmount, sethostname"
	return s.byRuntime(
		"start the container with --security-opt seccomp=PROFILE, a profile that allows "+calls+" (or seccomp=unconfined)",
		"set securityContext.seccompProfile to type Localhost with a profile that allows "+calls+" (or to Unconfined)",
		"allow "+calls+" where the filter comes from: a systemd unit's SystemCallFilter= and RestrictNamespaces=, or the profile of a container")
}

// userProfile is what both of Ubuntu's remedies say of a program.
func userProfile(s *settings, y symptom) string {
	program := s.program
	if y.backend == Bubblewrap {
		program = bwrapPaths[0] // the one that Ubuntu's own profiles are for, and our first choice
	}
	if program == "" {
		program = "the program"
	}
	return fmt.Sprintf("give %s an AppArmor profile with flags=(unconfined) and the rule `userns,` (a file in /etc/apparmor.d, loaded by apparmor_parser -r)", program)
}

func appArmorRemedy(s *settings, y symptom) string {
	return "either `sysctl -w " + sysctlAppArmor + "=0` (a file in /etc/sysctl.d keeps it over a reboot), or " + userProfile(s, y)
}

// appArmorApplies: the restriction is for who has no CAP_SYS_ADMIN. Bubblewrap is always started without.
func appArmorApplies(s *settings, y symptom) bool {
	return s.sysctls[sysctlAppArmor] == 1 && y.refused() && (y.backend == Bubblewrap || !s.capSysAdmin)
}

// namespaceSteps are those that fail where user namespaces are restricted.
var namespaceSteps = []step{stepNamespaces, stepIDs, stepRights, stepNetwork, stepMount, stepPivot}

// rows is the table. The first row that fits is the answer: what is certain stands before what is likely.
var rows = []row{
	{
		"gvisor",
		func(s *settings, y symptom) bool {
			return s.gvisor && y.is(syscall.ENOSYS, syscall.EINVAL, syscall.EPERM, syscall.ENODEV, syscall.EOPNOTSUPP)
		},
		says("this is gVisor, whose kernel does not have all that a cell is made of",
			"run Python scripts in the wasm tier, which needs none of it; for native runs use another container runtime than runsc"),
	},
	{
		"old kernel",
		func(s *settings, y symptom) bool {
			return s.older(5, 12) && y.is(syscall.ENOSYS, syscall.EINVAL) && y.during(stepMount, stepOwner, stepProc, stepDevpts)
		},
		func(s *settings, _ symptom) (string, string) {
			return "Linux " + s.kernel + " is older than 5.12: it has no mount_setattr(2)", "use Linux 5.12 or later"
		},
	},
	{
		"setuid bwrap",
		func(_ *settings, y symptom) bool {
			return y.during(stepLauncher) && strings.Contains(y.text, "setuid mode")
		},
		says("bwrap is installed setuid root; in that mode it gives its child no capabilities in the cell",
			"take the bit away (`chmod u-s` on bwrap) where unprivileged user namespaces work, or choose the backend userns"),
	},
	{
		"old bwrap",
		func(_ *settings, y symptom) bool {
			return y.during(stepLauncher) && strings.Contains(y.text, "Unknown option")
		},
		says("bwrap is too old: it does not know an option that we use", "install bubblewrap 0.5.0 or later, or choose the backend userns"),
	},
	{
		"bwrap capabilities",
		func(_ *settings, y symptom) bool {
			return y.during(stepLauncher) && strings.Contains(y.text, "Unexpected capabilities")
		},
		says("bwrap refuses to run with capabilities that it did not expect",
			"take file capabilities off bwrap (`setcap -r` on it), and start this program without ambient capabilities"),
	},
	{
		"no bwrap",
		func(_ *settings, y symptom) bool { return strings.Contains(y.text, errNoBwrap.Error()) },
		says("bubblewrap is not installed", "install it (Debian, Ubuntu: apt install bubblewrap), or choose the backend userns"),
	},
	{
		"seccomp kills",
		// Bwrap ends with 128+SIGSYS when its child was killed so.
		func(_ *settings, y symptom) bool {
			return strings.Contains(y.text, "bad system call") || y.backend == Bubblewrap && strings.Contains(y.text, "exit status 159")
		},
		func(s *settings, _ symptom) (string, string) {
			return "a seccomp filter on this process kills who makes a system call that a cell needs", seccompRemedy(s)
		},
	},
	{
		"not bwrap",
		func(_ *settings, y symptom) bool { return y.backend == Bubblewrap && y.during(stepLauncher) },
		says("what was started as bwrap ended without starting our init", "see whether that program is bubblewrap and runs: `bwrap --version`"),
	},
	{
		"timeout",
		func(_ *settings, y symptom) bool { return y.during(stepTimeout) },
		func(_ *settings, y symptom) (string, string) {
			remedy := "see whether the machine is overloaded, or set a longer Options.StartTimeout"
			if y.backend == Bubblewrap {
				remedy = "see whether what was started as bwrap is bubblewrap (`bwrap --version`) and " + strings.TrimPrefix(remedy, "see ")
			}
			return "the init did not answer in time", remedy
		},
	},
	{
		"no namespaces left",
		func(_ *settings, y symptom) bool {
			return y.is(syscall.ENOSPC, syscall.EUSERS) && y.during(stepNamespaces, stepRights, stepDevpts)
		},
		noNamespacesLeft,
	},
	{
		"seccomp",
		func(s *settings, y symptom) bool {
			return len(s.refusedIn(y)) > 0
		},
		func(s *settings, y symptom) (string, string) {
			return "a seccomp filter on this process refuses " + strings.Join(s.refusedIn(y), ", ") + filterOf(s), seccompRemedy(s)
		},
	},
	{
		"debian sysctl",
		func(s *settings, y symptom) bool {
			return s.isOff(sysctlDebian) && y.refused() && y.during(stepNamespaces, stepIDs)
		},
		says("the setting "+sysctlDebian+"=0 forbids user namespaces without privileges",
			"`sysctl -w "+sysctlDebian+"=1`; a file in /etc/sysctl.d keeps it over a reboot"),
	},
	{
		"apparmor profile of bwrap",
		func(s *settings, y symptom) bool {
			return y.backend == Bubblewrap && y.step == stepRights && appArmorApplies(s, y)
		},
		func(s *settings, y symptom) (string, string) {
			return "AppArmor lets bwrap make namespaces and takes all capabilities from what bwrap starts, as the profile bwrap-userns-restrict says or, where bwrap has none, " +
				sysctlAppArmor + "=1", appArmorRemedy(s, y) + " in place of bwrap-userns-restrict"
		},
	},
	{
		"apparmor sysctl",
		func(s *settings, y symptom) bool { return appArmorApplies(s, y) && y.during(namespaceSteps...) },
		func(s *settings, y symptom) (string, string) {
			return "the setting " + sysctlAppArmor + "=1 (Ubuntu 23.10 and later) takes user namespaces from programs without an AppArmor profile that has `userns,`",
				appArmorRemedy(s, y)
		},
	},
	{
		"apparmor profile",
		func(s *settings, y symptom) bool {
			return s.profile != "" && s.profile != "unconfined" && y.refused() && y.during(namespaceSteps...)
		},
		func(s *settings, _ symptom) (string, string) {
			return fmt.Sprintf("the AppArmor profile %q on this process does not allow it", s.profile), s.byRuntime(
				"start the container with --security-opt apparmor=PROFILE, a profile that allows mounts (or apparmor=unconfined)",
				"set securityContext.appArmorProfile to type Localhost with a profile that allows mounts (or to Unconfined)",
				"add the rules `userns,`, `mount,`, `umount,` and `pivot_root,` to the profile")
		},
	},
	{
		"masked proc",
		func(_ *settings, y symptom) bool { return y.during(stepProc) && y.refused() },
		maskedProc,
	},
	{
		"program not executable",
		func(_ *settings, y symptom) bool { return y.during(stepExecute) && y.is(syscall.EACCES) },
		func(s *settings, y symptom) (string, string) {
			cause := "this program's own file cannot be executed in a cell: its permissions or a mount with noexec forbid it"
			if s.uid == 0 {
				cause = fmt.Sprintf("this program's own file cannot be executed by user %d, as whom scripts run when the program is root", OutsideID)
			}
			return cause, "`chmod a+rx` on " + orWords(s.program, "the program") + ", on a mount without noexec"
		},
	},
	{
		"no proc",
		func(_ *settings, y symptom) bool { return y.during(stepExecute) && y.is(syscall.ENOENT) },
		says("this program cannot be reached at /proc/self/fd: there is no /proc here", "mount it: `mount -t proc proc /proc`"),
	},
	{
		"processes",
		func(_ *settings, y symptom) bool { return y.is(syscall.EAGAIN) && y.during(stepNamespaces, stepDevpts) },
		says("no more processes may be started: the limit of this user (RLIMIT_NPROC) or of our cgroup (pids.max) is reached", "raise the limit, or end processes"),
	},
	{
		"no support",
		func(_ *settings, y symptom) bool {
			return y.is(syscall.EINVAL, syscall.ENOSYS) && y.during(stepNamespaces)
		},
		says("this kernel was built without one of the namespaces", "use a kernel with CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_UTS_NS, CONFIG_IPC_NS and CONFIG_CGROUPS"),
	},
	{
		"likely seccomp",
		func(s *settings, y symptom) bool {
			unknown := s.seccomp == 2 && s.refusedCalls == nil
			return unknown && (y.refused() || y.is(syscall.ENOSYS)) && len(callsOf[y.step]) > 0
		},
		func(s *settings, _ symptom) (string, string) {
			return "most likely the seccomp filter that is on this process" + filterOf(s), seccompRemedy(s)
		},
	},
	{
		"unmapped user",
		func(_ *settings, y symptom) bool { return y.during(stepIDs) },
		says("the kernel refuses to map our own user or group into a user namespace; newuidmap is not needed for that",
			"run this program as a user that exists in its own user namespace (see /proc/self/uid_map), and outside a chroot"),
	},
	{
		"no CAP_SYS_ADMIN",
		func(s *settings, y symptom) bool { return y.during(stepOwner) && y.refused() && !s.capSysAdmin },
		func(s *settings, _ symptom) (string, string) {
			return "this program is root without CAP_SYS_ADMIN, so mounts cannot be mapped to another user", s.byRuntime(
				"run this program as another user than root (docker run --user), or add --cap-add SYS_ADMIN",
				"set securityContext.runAsUser to another user than root, or add the capability SYS_ADMIN",
				"run this program as another user than root, or with CAP_SYS_ADMIN")
		},
	},
	{
		"no mapped mounts",
		func(_ *settings, y symptom) bool { return y.during(stepOwner) },
		says("the file system of the work directories, or this user namespace, does not let mounts be mapped to another user",
			"run this program as another user than root, or set TMPDIR to a directory on ext4, xfs, btrfs or tmpfs (Linux 5.12 and later)"),
	},
	{
		"landlock off",
		func(_ *settings, y symptom) bool { return y.during(stepLandlock) && y.is(syscall.EOPNOTSUPP) },
		func(s *settings, _ symptom) (string, string) {
			cause := "Landlock is built into this kernel and not switched on"
			if s.lsm != nil {
				cause += " (in force: " + strings.Join(s.lsm, ",") + ")"
			}
			return cause, "add landlock to the boot parameter lsm= (for example lsm=landlock,lockdown,yama,integrity,apparmor)"
		},
	},
	{
		"no landlock",
		func(_ *settings, y symptom) bool { return y.during(stepLandlock) },
		says("this kernel has no Landlock", "use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK=y and landlock in the boot parameter lsm="),
	},
	{
		"no seccomp",
		func(_ *settings, y symptom) bool {
			return y.during(stepFilter) && y.is(syscall.EINVAL, syscall.ENOSYS)
		},
		says("this kernel has no seccomp filters", "use a kernel with CONFIG_SECCOMP_FILTER=y"),
	},
	{
		"cgroup read-only",
		func(_ *settings, y symptom) bool { return y.during(stepGroup) && y.is(syscall.EROFS) },
		says("the cgroup file system is mounted read-only, as containers get it", ""),
	},
	{
		"cgroup not delegated",
		func(_ *settings, y symptom) bool { return y.during(stepGroup) && y.refused() },
		says("no cgroup is delegated to this user", "start this program with `systemd-run --user --scope -p Delegate=yes`, or set Delegate=yes in its unit"),
	},
	{
		"device permissions",
		func(_ *settings, y symptom) bool { return y.during(stepNodes) && y.refused() },
		says("this user may not open the device nodes", "add the user to the group that owns them (often render or video)"),
	},
	{
		"user namespaces refused",
		func(_ *settings, y symptom) bool { return y.refused() && y.during(namespaceSteps...) },
		func(s *settings, _ symptom) (string, string) {
			return "the kernel or a security module (SELinux, for one) refuses it, or this program runs in a chroot", s.byRuntime(
				"start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt label=disable to see which it is",
				"set seccompProfile and appArmorProfile of the securityContext to Unconfined to see which it is",
				"look for a denial in the audit log (journalctl -k), and start this program outside a chroot")
		},
	},
}

// noNamespacesLeft names the limit that is 0, if one is: namespaces(7), "The /proc/sys/user directory".
func noNamespacesLeft(s *settings, _ symptom) (cause, remedy string) {
	var off []string
	for _, name := range sysctlNames {
		if strings.HasPrefix(name, "user.max_") && s.isOff(name) {
			off = append(off, name)
		}
	}
	if len(off) > 0 {
		return "the setting " + strings.Join(off, "=0, ") + "=0 forbids new namespaces",
			"set it to a positive number, `sysctl -w " + off[0] + "=15000` for one (a file in /etc/sysctl.d keeps it over a reboot)"
	}
	return fmt.Sprintf("a limit of namespaces is reached: user.max_*_namespaces here (%s=%d) or in a user namespace above, or their nesting (32 levels)",
			sysctlMaxUser, s.sysctls[sysctlMaxUser]),
		"end processes that hold namespaces, or raise the limits in /proc/sys/user"
}

// maskedProc is mount_too_revealing() of the kernel: who has a /proc with parts covered gets no new one without.
func maskedProc(s *settings, _ symptom) (cause, remedy string) {
	cause = "parts of /proc are covered or read-only here, so the kernel gives us no new one, which would show them"
	if n := len(s.maskedProc); n > 0 {
		cause += fmt.Sprintf(" (%s)", shortList(s.maskedProc))
	}
	dockerRemedy := "start the container with --security-opt systempaths=unconfined"
	if s.container == podman {
		dockerRemedy = "start the container with --security-opt unmask=ALL"
	}
	return cause, s.byRuntime(dockerRemedy, "set securityContext.procMount to Unmasked (and spec.hostUsers to false, which it needs)",
		"unmount what is mounted below /proc before this program starts")
}

// filterOf says where a filter usually comes from.
func filterOf(s *settings) string {
	switch s.container {
	case docker, podman, "containerd":
		return " (" + string(s.container) + "'s default profile does)"
	case kubernetes:
		return " (the RuntimeDefault profile of Kubernetes does)"
	}
	return ""
}

// shortList is a list of names of which the first few are written out.
func shortList(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func orWords(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
