package probe

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the host user of a namespace that root makes: what is tried there has no rights outside.
const nobody = 65534

const namespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS |
	syscall.CLONE_NEWNET | 0x02000000 // CLONE_NEWCGROUP

// throwAway starts a command as the first process of new namespaces, with id as its user and group there.
func throwAway(t *testing.T, id int, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	uid, gid := os.Getuid(), os.Getgid()
	root := uid == 0
	if root {
		uid, gid = nobody, nobody
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:                 namespaces,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: id, HostID: uid, Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: id, HostID: gid, Size: 1}},
		GidMappingsEnableSetgroups: root,
		Credential:                 &syscall.Credential{Uid: uint32(id), Gid: uint32(id), NoSetGroups: !root},
		Setsid:                     true,
		Pdeathsig:                  syscall.SIGKILL,
	}
	return cmd
}

// noUserns skips the test, as no user namespace can be made, unless SANDBOX_REQUIRE names them.
func noUserns(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "userns") {
		t.Fatalf("user namespaces do not work, and this machine must have them: %v", err)
	}
	t.Skipf("user namespaces do not work here: %v", err)
}

// run returns stdout.
func run(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		noUserns(t, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// What the sandbox refuses works where nothing guards it. A call that the kernel does not have shows nothing.
func TestTwins(t *testing.T) {
	program := Build(t)
	rows := Table(t, program)
	answers := Answers(run(t, throwAway(t, 0, program, "twin", "--throw-away", "all")))
	twins, missing := 0, 0
	for _, r := range rows {
		got, ok := answers[r.ID]
		switch {
		case !ok:
			t.Errorf("%s has no answer", r.ID)
		case r.Twin == "":
		case got == "ENOSYS" && !accepts(r.Want, got):
			missing++
		case !accepts(r.Twin, got):
			t.Errorf("twin of %s (%s, %s) = %s, want %s", r.ID, r.Class, r.What, got, r.Twin)
		default:
			twins++
		}
	}
	t.Logf("%d rows, %d twins work, %d calls are not in this kernel", len(rows), twins, missing)
}

// The probe must notice a sandbox without a filter, without Landlock and with the host's files.
func TestCheck_FindsWhatIsOpen(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	program := Build(t)
	cmd := throwAway(t, 1000, setpriv, "--no-new-privs", program, "--inside")
	cmd.Dir = filepath.Dir(program)
	if err := os.Chmod(cmd.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	answers := Answers(run(t, cmd))
	wrong := map[string]bool{}
	for _, text := range Check(Table(t, program), answers, &Args{}) {
		id, _, _ := strings.Cut(text, " ")
		wrong[id] = true
	}
	for _, id := range []string{
		"call.native.ptrace", "unshare.user", "clone.user", "clone3.plain", "high.personality", "tty.TIOCSTI", "keyring.add", "ptrace.own-child",
		"memory.fault.user", "view.status.Seccomp", "view.landlock", "absent.sys", "view.mounts.suid", "caps.bounding.count", "host.canary",
	} {
		if !wrong[id] {
			t.Errorf("%s = %s is taken for right", id, answers[id])
		}
	}
	if n := len(wrong); n < 200 || n == len(answers) {
		t.Errorf("%d of %d answers are wrong", n, len(answers))
	}
}

// Run by mistake where it has rights, the probe does nothing.
func TestProbe_Refuses(t *testing.T) {
	program := Build(t)
	plain := exec.Command("setpriv", "--no-new-privs", program, "--inside")
	if os.Getuid() == 0 {
		plain.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	for _, tt := range []struct {
		name string
		cmd  *exec.Cmd
		says string
	}{
		{"a user of the host", plain, "first user or PID name space"},
		{"as it is", exec.Command(program, "--inside"), "refused: "},
		{"without --inside", exec.Command(program), "usage: "},
		{"twin without its word", exec.Command(program, "twin", "all"), "usage: "},
		{"twin outside", exec.Command(program, "twin", "--throw-away", "all"), "not the first process"},
		{"root in a user namespace", throwAway(t, 0, program, "--inside"), "as root"},
		{"privileges can be gained", throwAway(t, 1000, program, "--inside"), "no_new_privs"},
		{"twin of another user", throwAway(t, 1000, program, "twin", "--throw-away", "all"), "user map"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			tt.cmd.Stdout, tt.cmd.Stderr = &stdout, &stderr
			if err := tt.cmd.Start(); errors.Is(err, exec.ErrNotFound) {
				t.Skip(err)
			} else if err != nil {
				noUserns(t, err)
			}
			err := tt.cmd.Wait()
			if code := tt.cmd.ProcessState.ExitCode(); code != 3 || stdout.Len() > 0 || !strings.Contains(stderr.String(), tt.says) {
				t.Errorf("it ended with %v, stdout of %d bytes, stderr %q", err, stdout.Len(), stderr.Bytes())
			}
		})
	}
}

func TestProbe_Posture(t *testing.T) {
	program := Build(t)
	var texts []string
	for range 2 {
		cmd := exec.Command(program, "posture")
		cmd.Env = []string{"NAME=value"}
		texts = append(texts, string(run(t, cmd)))
	}
	if texts[0] != texts[1] {
		t.Errorf("two runs differ:\n%s\n%s", texts[0], texts[1])
	}
	for _, line := range []string{"namespaces:\n\tcgroup\n", "\nCapBnd: ", "\nNoNewPrivs: ", "\nLandlock: ", "\nmounts:\n\t/ ", "\ndescriptors:\n\t0 /dev/null\n", "\nenvironment:\n\tNAME=value\n", "\n\tnofile "} {
		if !strings.Contains(texts[0], line) {
			t.Errorf("the posture lacks %q:\n%s", line, texts[0])
		}
	}
}
