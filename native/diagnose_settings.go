package native

import (
	"bufio"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// settings are what of a host decides whether cells can be made on it. What could not be read has its zero
// value, which knows nothing.
type settings struct {
	uid         int
	program     string // path of this program
	kernel      string // release, as uname -r says it
	version     [2]int // of the kernel: 6.1 is {6, 1}
	gvisor      bool
	container   container
	capSysAdmin bool // effective, in our own user namespace
	// seccomp is the mode of this process: 0 none, 1 strict, 2 a filter. refusedCalls are the system calls that
	// were tried and that a filter answers before the kernel looks at them, with its answer (ENOSYS in place of a
	// signal); nil when none was tried.
	seccomp      int
	refusedCalls map[string]syscall.Errno
	profile      string   // of AppArmor, for this process; "unconfined" and "" are none
	lsm          []string // security modules in force, nil when unknown
	maskedProc   []string // what is mounted below /proc
	sysctls      map[string]int
}

// container is a kind of container runtime.
type container string

// The kinds that remedies differ for; others have the name that systemd or their cgroup tells.
const (
	docker     container = "docker"
	podman     container = "podman"
	kubernetes container = "kubernetes"
)

// The settings of the kernel that matter: sysctl(8) names.
const (
	sysctlAppArmor = "kernel.apparmor_restrict_unprivileged_userns"
	sysctlDebian   = "kernel.unprivileged_userns_clone"
	sysctlMaxUser  = "user.max_user_namespaces"
)

var sysctlNames = []string{
	sysctlAppArmor, sysctlDebian, sysctlMaxUser, "user.max_mnt_namespaces", "user.max_pid_namespaces", "user.max_ipc_namespaces",
	"user.max_uts_namespaces", "user.max_net_namespaces", "user.max_cgroup_namespaces",
}

// isOff reports a sysctl that is there and zero.
func (s *settings) isOff(name string) bool {
	v, ok := s.sysctls[name]
	return ok && v == 0
}

// older reports a kernel that is known to be older.
func (s *settings) older(major, minor int) bool {
	v := s.version
	return v != [2]int{} && (v[0] < major || v[0] == major && v[1] < minor)
}

// capSysAdminBit is CAP_SYS_ADMIN in a set of capabilities: capabilities(7).
const capSysAdminBit = 1 << 21

// readSettings reads the settings of a host whose root is given. It tries nothing.
func readSettings(root fs.FS) *settings {
	s := &settings{sysctls: map[string]int{}}
	s.readStatus(root)
	s.readKernel(root)
	s.readMounts(root)
	s.container = findContainer(root)
	for _, name := range sysctlNames {
		if v, err := strconv.Atoi(readLine(root, "proc/sys/"+strings.ReplaceAll(name, ".", "/"))); err == nil {
			s.sysctls[name] = v
		}
	}
	for _, name := range []string{"proc/self/attr/apparmor/current", "proc/self/attr/current"} {
		if s.profile == "" {
			s.profile, _, _ = strings.Cut(readLine(root, name), " (")
		}
	}
	if list := readLine(root, "sys/kernel/security/lsm"); list != "" {
		s.lsm = strings.Split(list, ",")
	}
	return s
}

// readStatus reads proc_pid_status(5).
func (s *settings) readStatus(root fs.FS) {
	eachLine(root, "proc/self/status", func(line string) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "Seccomp":
			s.seccomp, _ = strconv.Atoi(value)
		case "CapEff":
			set, _ := strconv.ParseUint(value, 16, 64)
			s.capSysAdmin = set&capSysAdminBit != 0
		case "Uid":
			if ids := strings.Fields(value); len(ids) > 1 { // real, effective, ...
				s.uid, _ = strconv.Atoi(ids[1])
			}
		}
	})
}

var kernelVersion = regexp.MustCompile(`^(\d+)\.(\d+)`)

// gvisorBuilt is in the version that gVisor tells, whatever its release: the date of the Linux that it plays.
const gvisorBuilt = "Sun Jan 10 15:06:54 PST 2016"

func (s *settings) readKernel(root fs.FS) {
	text := readLine(root, "proc/version")
	if words := strings.Fields(text); len(words) > 2 && words[1] == "version" {
		s.kernel = words[2]
	}
	if m := kernelVersion.FindStringSubmatch(s.kernel); m != nil {
		s.version[0], _ = strconv.Atoi(m[1])
		s.version[1], _ = strconv.Atoi(m[2])
	}
	s.gvisor = strings.Contains(strings.ToLower(text), "gvisor") || strings.Contains(text, gvisorBuilt)
}

// readMounts finds what hides parts of /proc: proc_pid_mountinfo(5), the fifth field is the mount point.
func (s *settings) readMounts(root fs.FS) {
	eachLine(root, "proc/self/mountinfo", func(line string) {
		fields := strings.Fields(line)
		// What is mounted on binfmt_misc hides nothing: the directory is always empty.
		if len(fields) > 4 && strings.HasPrefix(fields[4], "/proc/") && fields[4] != "/proc/sys/fs/binfmt_misc" && !slices.Contains(s.maskedProc, fields[4]) {
			s.maskedProc = append(s.maskedProc, fields[4])
		}
	})
}

// containerSigns are what runtimes leave, the more telling first: a pod's container is one of containerd or
// Docker as well.
var containerSigns = []struct {
	path string
	kind container
}{
	{"run/secrets/kubernetes.io", kubernetes},
	{"var/run/secrets/kubernetes.io", kubernetes},
	{"run/.containerenv", podman},
	{".dockerenv", docker},
}

// cgroupSigns are in the path of a group that a runtime has made, where that can be seen.
var cgroupSigns = []struct {
	words string
	kind  container
}{
	{"kubepods", kubernetes}, {"libpod", podman}, {"docker", docker}, {"lxc", "lxc"}, {"containerd", "containerd"},
}

// findContainer tells the kind of container that we are in, or "" when nothing says that we are in one.
func findContainer(root fs.FS) container {
	for _, sign := range containerSigns {
		if _, err := fs.Stat(root, sign.path); err == nil {
			return sign.kind
		}
	}
	if kind := readLine(root, "run/systemd/container"); kind != "" { // systemd-detect-virt(1)
		return container(kind)
	}
	groups, err := fs.ReadFile(root, "proc/1/cgroup")
	if err != nil {
		return ""
	}
	for _, sign := range cgroupSigns {
		if strings.Contains(string(groups), sign.words) {
			return sign.kind
		}
	}
	return ""
}

// maxSetting bounds what is read of a file: none of them is long.
const maxSetting = 1 << 20

// eachLine calls f with the lines of a file that can be read.
func eachLine(root fs.FS, name string, f func(string)) {
	file, err := root.Open(path.Clean(name))
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }() // nothing was written
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan() && n < maxSetting; n += len(lines.Text()) {
		f(lines.Text())
	}
}

// readLine returns the first line of a file, or "".
func readLine(root fs.FS, name string) string {
	first, seen := "", false
	eachLine(root, name, func(line string) {
		if !seen {
			first, seen = strings.TrimRight(strings.TrimSpace(line), "\x00"), true
		}
	})
	return first
}
