package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// on makes settings of a recent kernel from what differs.
func on(change ...func(*settings)) *settings {
	s := &settings{uid: 1000, kernel: "6.8.0-45-generic", version: [2]int{6, 8}, program: "/opt/app", sysctls: map[string]int{}}
	for _, c := range change {
		c(s)
	}
	return s
}

func sysctl(name string, v int) func(*settings) { return func(s *settings) { s.sysctls[name] = v } }

func in(c container) func(*settings) { return func(s *settings) { s.container = c } }

func asUser0(s *settings) { s.uid, s.capSysAdmin = 0, true }

// filters sets a seccomp filter that answers EPERM to these calls.
func filters(calls ...string) func(*settings) {
	return func(s *settings) {
		s.seccomp, s.refusedCalls = 2, map[string]syscall.Errno{}
		for _, c := range calls {
			s.refusedCalls[c] = syscall.EPERM
		}
	}
}

func TestDiagnosis(t *testing.T) {
	const denied = "fork/exec /proc/self/fd/4: operation not permitted"
	clone := symptom{Userns, stepNamespaces, syscall.EPERM, denied}
	mount := symptom{Userns, stepMount, syscall.EPERM, "mount MS_PRIVATE: operation not permitted"}
	proc := symptom{Userns, stepProc, syscall.EPERM, "proc /proc: fsmount proc: operation not permitted"}
	bwrap := func(s step, errno syscall.Errno, text string) symptom { return symptom{Bubblewrap, s, errno, text} }
	alone := func(s step, errno syscall.Errno) symptom { return symptom{step: s, errno: errno, text: errno.Error()} }
	masked := func(s *settings) {
		s.maskedProc = []string{"/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/scsi", "/proc/timer_list"}
	}
	tests := []struct {
		row   string
		s     *settings
		y     symptom
		words []string // in the cause or the remedy
		none  []string // in neither
	}{
		{"gvisor", on(func(s *settings) { s.gvisor, s.version = true, [2]int{4, 4} }), alone(stepMount, syscall.ENOSYS), []string{"gVisor", "wasm tier"}, []string{"5.12"}},
		{"old kernel", on(func(s *settings) { s.kernel, s.version = "5.10.0-8-amd64", [2]int{5, 10} }), symptom{Userns, stepMount, syscall.ENOSYS, "mount_setattr"}, []string{"5.10.0-8-amd64", "older than 5.12", "mount_setattr"}, nil},
		{"old kernel", on(func(s *settings) { s.kernel, s.version = "4.18.0", [2]int{4, 18} }, filters()), alone(stepOwner, syscall.ENOSYS), []string{"older than 5.12"}, []string{"seccomp"}},
		{"setuid bwrap", on(), bwrap(stepLauncher, 0, "bwrap: --cap-add in setuid mode can be used only by root"), []string{"setuid", "chmod u-s", "backend userns"}, nil},
		{"old bwrap", on(), bwrap(stepLauncher, 0, "bwrap: Unknown option --perms"), []string{"too old", "0.5.0"}, nil},
		{"bwrap capabilities", on(), bwrap(stepLauncher, 0, "bwrap: Unexpected capabilities but not setuid, old file caps config?"), []string{"setcap -r"}, nil},
		{"no bwrap", on(), bwrap(stepLauncher, 0, errNoBwrap.Error()), []string{"not installed", "apt install bubblewrap", "backend userns"}, nil},
		{"not bwrap", on(), bwrap(stepLauncher, 0, "exit status 1"), []string{"bwrap --version"}, nil},
		{"timeout", on(), bwrap(stepTimeout, 0, "context deadline exceeded"), []string{"in time", "StartTimeout"}, nil},
		{"no namespaces left", on(sysctl(sysctlMaxUser, 0)), alone(stepNamespaces, syscall.ENOSPC), []string{"user.max_user_namespaces=0", "sysctl -w user.max_user_namespaces="}, []string{"nesting"}},
		{"no namespaces left", on(sysctl(sysctlMaxUser, 100), sysctl("user.max_net_namespaces", 0)), alone(stepNamespaces, syscall.ENOSPC), []string{"user.max_net_namespaces=0"}, []string{"user.max_user_namespaces"}},
		{"no namespaces left", on(sysctl(sysctlMaxUser, 100)), alone(stepNamespaces, syscall.ENOSPC), []string{"user.max_user_namespaces=100", "nesting"}, nil},
		{"no namespaces left", on(), alone(stepNamespaces, syscall.EUSERS), []string{"limit"}, nil},
		{"seccomp kills", on(), symptom{Userns, stepUnknown, 0, "the launcher ended: signal: bad system call"}, []string{"kills", "SystemCallFilter="}, nil},
		{"seccomp kills", on(), bwrap(stepLauncher, 0, "the launcher ended before the init was ready: exit status 159"), []string{"kills"}, nil},
		{"seccomp", on(in(docker), filters("clone", "unshare", "mount")), clone, []string{"refuses clone, unshare", "docker's default profile", "--security-opt seccomp="}, []string{"Kubernetes", "securityContext"}},
		{"seccomp", on(in(kubernetes), filters("mount", "open_tree")), mount, []string{"refuses mount, open_tree", "RuntimeDefault", "securityContext.seccompProfile"}, []string{"--security-opt"}},
		{"seccomp", on(in("containerd"), filters("pivot_root")), symptom{Userns, stepPivot, syscall.EPERM, "pivot_root: operation not permitted"}, []string{"refuses pivot_root", "--security-opt", "securityContext"}, nil},
		{"seccomp", on(filters("unshare")), symptom{Userns, stepRights, syscall.EPERM, "unshare: operation not permitted"}, []string{"refuses unshare", "RestrictNamespaces="}, nil},
		{"seccomp", on(sysctl(sysctlAppArmor, 1), filters("clone")), clone, []string{"refuses clone"}, []string{"AppArmor"}},
		{"debian sysctl", on(sysctl(sysctlDebian, 0)), clone, []string{"kernel.unprivileged_userns_clone=0", "sysctl -w kernel.unprivileged_userns_clone=1"}, nil},
		{"apparmor sysctl", on(sysctl(sysctlAppArmor, 1)), clone, []string{"kernel.apparmor_restrict_unprivileged_userns=1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", "/opt/app", "`userns,`"}, []string{"/usr/bin/bwrap"}},
		{"apparmor sysctl", on(sysctl(sysctlAppArmor, 1)), symptom{Userns, stepRights, syscall.EPERM, "unshare: operation not permitted"}, []string{"`userns,`", "/opt/app"}, nil},
		{"apparmor sysctl", on(sysctl(sysctlAppArmor, 1)), bwrap(stepIDs, syscall.EACCES, "bwrap: setting up uid map: Permission denied"), []string{"/usr/bin/bwrap", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}, []string{"/opt/app"}},
		{"apparmor sysctl", on(sysctl(sysctlAppArmor, 1)), bwrap(stepNetwork, syscall.EPERM, "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"), []string{"/usr/bin/bwrap"}, nil},
		{"apparmor sysctl", on(sysctl(sysctlAppArmor, 1), asUser0), bwrap(stepIDs, syscall.EACCES, ""), []string{"/usr/bin/bwrap"}, nil},
		{"apparmor profile of bwrap", on(sysctl(sysctlAppArmor, 1)), bwrap(stepRights, syscall.EPERM, "unshare: operation not permitted"), []string{"bwrap-userns-restrict", "/usr/bin/bwrap"}, nil},
		{"apparmor profile", on(in(docker), func(s *settings) { s.profile = "docker-default" }), alone(stepMount, syscall.EACCES), []string{`"docker-default"`, "apparmor=unconfined"}, nil},
		{"apparmor profile", on(in(kubernetes), func(s *settings) { s.profile = "cri-containerd.apparmor.d" }), mount, []string{"appArmorProfile"}, nil},
		{"masked proc", on(in(docker), masked), proc, []string{"systempaths=unconfined", "/proc/acpi", "and 1 more"}, []string{"procMount"}},
		{"masked proc", on(in(podman), masked), proc, []string{"unmask=ALL"}, nil},
		{"masked proc", on(in(kubernetes), masked), proc, []string{"procMount to Unmasked", "hostUsers"}, nil},
		{"masked proc", on(masked, filters("pivot_root")), bwrap(stepProc, syscall.EPERM, "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"), []string{"covered", "unmount"}, []string{"seccomp"}},
		{"program not executable", on(asUser0), symptom{Userns, stepExecute, syscall.EACCES, ""}, []string{fmt.Sprint(OutsideID), "chmod a+rx", "/opt/app"}, nil},
		{"program not executable", on(), symptom{Userns, stepExecute, syscall.EACCES, ""}, []string{"noexec"}, nil},
		{"no proc", on(), symptom{Userns, stepExecute, syscall.ENOENT, ""}, []string{"mount -t proc"}, nil},
		{"processes", on(), alone(stepNamespaces, syscall.EAGAIN), []string{"RLIMIT_NPROC", "pids.max"}, nil},
		{"no support", on(), alone(stepNamespaces, syscall.EINVAL), []string{"CONFIG_USER_NS"}, nil},
		{"likely seccomp", on(in(docker), func(s *settings) { s.seccomp = 2 }), clone, []string{"most likely", "docker's default profile", "--security-opt seccomp="}, nil},
		{"unmapped user", on(), bwrap(stepIDs, syscall.EPERM, ""), []string{"newuidmap is not needed", "/proc/self/uid_map"}, nil},
		{"no CAP_SYS_ADMIN", on(in(docker), func(s *settings) { s.uid = 0 }), alone(stepOwner, syscall.EPERM), []string{"CAP_SYS_ADMIN", "docker run --user"}, nil},
		{"no mapped mounts", on(asUser0), alone(stepOwner, syscall.EINVAL), []string{"file system", "TMPDIR"}, nil},
		{"landlock off", on(func(s *settings) { s.lsm = []string{"capability", "yama"} }), alone(stepLandlock, syscall.EOPNOTSUPP), []string{"capability,yama", "lsm="}, nil},
		{"no landlock", on(), alone(stepLandlock, syscall.ENOSYS), []string{"5.13", "CONFIG_SECURITY_LANDLOCK", "lsm="}, nil},
		{"no seccomp", on(), alone(stepFilter, syscall.EINVAL), []string{"CONFIG_SECCOMP_FILTER"}, nil},
		{"cgroup read-only", on(in(docker)), alone(stepGroup, syscall.EROFS), []string{"read-only"}, nil},
		{"cgroup not delegated", on(), alone(stepGroup, syscall.EACCES), []string{"systemd-run --user --scope -p Delegate=yes"}, nil},
		{"device permissions", on(), alone(stepNodes, syscall.EACCES), []string{"group"}, nil},
		{"user namespaces refused", on(), clone, []string{"SELinux", "chroot"}, nil},
		{"user namespaces refused", on(filters("mount_setattr")), clone, []string{"SELinux"}, []string{"seccomp"}},
		// The restriction is not for root's own clone.
		{"user namespaces refused", on(asUser0, sysctl(sysctlAppArmor, 1)), clone, nil, []string{"apparmor_restrict"}},
		{"", on(), alone(stepUnknown, syscall.EIO), nil, nil},
	}
	hit := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.row, func(t *testing.T) {
			hit[tt.row] = true
			got := ""
			if r := tt.s.row(tt.y); r != nil {
				got = r.name
			}
			if got != tt.row {
				t.Fatalf("row %q for %+v", got, tt.y)
			}
			cause, remedy := diagnosis(tt.s, tt.y)
			if (cause == "") != (tt.row == "") {
				t.Errorf("cause %q", cause)
			}
			text := cause + "\n" + remedy
			for _, w := range tt.words {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in:\n%s", w, text)
				}
			}
			for _, w := range tt.none {
				if strings.Contains(text, w) {
					t.Errorf("%q in:\n%s", w, text)
				}
			}
		})
	}
	for i := range rows {
		if !hit[rows[i].name] {
			t.Errorf("no test for row %q", rows[i].name)
		}
	}
}

func TestClassify(t *testing.T) {
	failed := func(op string, errno syscall.Errno) error { return os.NewSyscallError(op, errno) }
	start := func(errno syscall.Errno) error {
		return &os.PathError{Op: "fork/exec", Path: "/proc/self/fd/4", Err: errno}
	}
	gone := errors.New("the launcher ended before the init was ready: exit status 1")
	const begin = "start of the init"
	tests := []struct {
		b      Backend
		name   string
		err    error
		output string
		step   step
		errno  syscall.Errno
	}{
		{Userns, "start /proc/self/fd/4", start(syscall.EPERM), "", stepNamespaces, syscall.EPERM},
		{Userns, "start /proc/self/fd/4", start(syscall.ENOSPC), "", stepNamespaces, syscall.ENOSPC},
		{Userns, "start /proc/self/fd/4", start(syscall.EACCES), "", stepExecute, syscall.EACCES},
		{Bubblewrap, "start /usr/bin/bwrap", start(syscall.ENOENT), "", stepExecute, syscall.ENOENT},
		{Userns, "start of the keeper of the work directory", start(syscall.ENOSPC), "", stepNamespaces, syscall.ENOSPC},
		{Userns, "keeper of the work directory", failed("fsmount tmpfs", syscall.EPERM), "", stepMount, syscall.EPERM},
		{Userns, "cgroup namespace", failed("unshare", syscall.EPERM), "", stepRights, syscall.EPERM},
		{Userns, "hostname", failed("sethostname", syscall.EPERM), "", stepRights, syscall.EPERM},
		{Userns, "loopback", failed("ioctl SIOCSIFFLAGS", syscall.EPERM), "", stepNetwork, syscall.EPERM},
		{Userns, "file system", failed("mount MS_PRIVATE", syscall.EPERM), "", stepMount, syscall.EPERM},
		{Userns, "file system", fmt.Errorf("proc /proc: %w", failed("fsmount proc", syscall.EPERM)), "", stepProc, syscall.EPERM},
		{Userns, "file system", fmt.Errorf("devpts /dev/pts: %w", failed("clone for devpts", syscall.ENOSPC)), "", stepDevpts, syscall.ENOSPC},
		{Userns, "file system", failed("pivot_root", syscall.EPERM), "", stepPivot, syscall.EPERM},
		{Userns, "confinement", failed("landlock_restrict_self", syscall.EPERM), "", stepLandlock, syscall.EPERM},
		{Userns, "confinement", failed("seccomp", syscall.EINVAL), "", stepFilter, syscall.EINVAL},
		{Userns, "second stage", failed("execveat", syscall.EACCES), "", stepExecute, syscall.EACCES},
		{Userns, begin, errors.Join(context.DeadlineExceeded, errors.New("i/o timeout")), "", stepTimeout, 0},
		{Userns, begin, gone, "", stepUnknown, 0},
		{Bubblewrap, begin, gone, "", stepLauncher, 0},
		{Bubblewrap, begin, gone, "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces. See <x>", stepNamespaces, syscall.EPERM},
		{Bubblewrap, begin, gone, "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", stepNamespaces, syscall.ENOSPC},
		{Bubblewrap, begin, gone, "bwrap: Creating new namespace failed: Resource temporarily unavailable", stepNamespaces, syscall.EAGAIN},
		{Bubblewrap, begin, gone, "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.  bwrap must be installed setuid on such systems.", stepNamespaces, syscall.EINVAL},
		{Bubblewrap, begin, gone, "bwrap: setting up uid map: Permission denied", stepIDs, syscall.EACCES},
		{Bubblewrap, begin, gone, "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", stepNetwork, syscall.EPERM},
		{Bubblewrap, begin, gone, "bwrap: Failed to make / slave: Permission denied", stepMount, syscall.EACCES},
		{Bubblewrap, begin, gone, "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", stepProc, syscall.EPERM},
		{Bubblewrap, begin, gone, "bwrap: pivot_root: Operation not permitted", stepPivot, syscall.EPERM},
		{Bubblewrap, begin, gone, "bwrap: Unknown option --perms\n", stepLauncher, 0},
		{Bubblewrap, begin, gone, "bwrap: execvp /proc/self/fd/4: Permission denied", stepExecute, syscall.EACCES},
	}
	for _, tt := range tests {
		y := classify(tt.b, tt.name, tt.err, tt.output)
		if y.step != tt.step || y.errno != tt.errno {
			t.Errorf("classify(%s, %q, %v, %q): step %q, errno %d; want %q, %d", tt.b, tt.name, tt.err, tt.output, y.step, y.errno, tt.step, tt.errno)
		}
	}
}

func TestReadSettings(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	root := fstest.MapFS{
		"proc/version":     file("Linux version 5.15.0-101-generic (builder@host) (gcc) #111-Ubuntu SMP\n"),
		"proc/self/status": file("Name:\tx\nUid:\t1000\t1001\t1000\t1000\nCapEff:\t0000000000200000\nSeccomp:\t2\n"),
		"proc/self/mountinfo": file("22 27 0:21 / /proc rw,relatime - proc proc rw\n" +
			"40 22 0:30 / /proc/acpi ro,relatime - tmpfs tmpfs ro\n" +
			"41 22 0:31 / /proc/sys/fs/binfmt_misc rw,relatime - autofs systemd-1 rw\n" +
			"42 22 0:21 /sys /proc/sys ro,relatime - proc proc rw\n" +
			"43 42 0:21 /sys /proc/sys ro,relatime - proc proc rw\n" +
			"44 27 0:32 / /processes rw - tmpfs tmpfs rw\n"),
		"proc/sys/kernel/apparmor_restrict_unprivileged_userns": file("1\n"),
		"proc/sys/user/max_user_namespaces":                     file("0\n"),
		"proc/self/attr/current":                                file("docker-default (enforce)\n"),
		"sys/kernel/security/lsm":                               file("lockdown,capability,landlock"),
		".dockerenv":                                            file(""),
	}
	want := &settings{
		uid: 1001, kernel: "5.15.0-101-generic", version: [2]int{5, 15}, container: docker, capSysAdmin: true, seccomp: 2, profile: "docker-default",
		lsm: []string{"lockdown", "capability", "landlock"}, maskedProc: []string{"/proc/acpi", "/proc/sys"},
		sysctls: map[string]int{sysctlAppArmor: 1, sysctlMaxUser: 0},
	}
	if diff := cmp.Diff(want, readSettings(root), cmp.AllowUnexported(settings{})); diff != "" {
		t.Error(diff)
	}
	if s := readSettings(fstest.MapFS{}); s.isOff(sysctlMaxUser) || s.older(9, 0) || s.container != "" || s.lsm != nil {
		t.Errorf("without any file: %+v", s)
	}
}

func TestReadSettings_GVisor(t *testing.T) {
	for version, want := range map[string]bool{
		"Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016":         true,
		"Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016": true,
		"Linux version 4.4.0-21-generic (b@h) #37-Ubuntu SMP Mon Apr 18":  false,
	} {
		s := readSettings(fstest.MapFS{"proc/version": &fstest.MapFile{Data: []byte(version)}})
		if s.gvisor != want {
			t.Errorf("%s: gVisor is %v", version, s.gvisor)
		}
	}
}

func TestFindContainer(t *testing.T) {
	for _, tt := range []struct {
		files []string
		group string
		want  container
	}{
		{nil, "0::/init.scope\n", ""},
		{[]string{".dockerenv"}, "", docker},
		{[]string{".dockerenv", "run/secrets/kubernetes.io/serviceaccount/token"}, "", kubernetes},
		{[]string{"run/.containerenv"}, "", podman},
		{nil, "0::/kubepods/besteffort/pod1/abc\n", kubernetes},
		{nil, "0::/system.slice/docker-abc.scope\n", docker},
		{nil, "1:name=systemd:/lxc/c1\n", "lxc"},
	} {
		root := fstest.MapFS{"proc/1/cgroup": &fstest.MapFile{Data: []byte(tt.group)}}
		for _, f := range tt.files {
			root[f] = &fstest.MapFile{}
		}
		if got := findContainer(root); got != tt.want {
			t.Errorf("findContainer(%v, %q) = %q, want %q", tt.files, tt.group, got, tt.want)
		}
	}
	root := fstest.MapFS{"run/systemd/container": &fstest.MapFile{Data: []byte("systemd-nspawn\n")}}
	if got := findContainer(root); got != "systemd-nspawn" {
		t.Errorf("systemd's word: %q", got)
	}
}
