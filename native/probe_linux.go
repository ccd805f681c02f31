package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// The namespaces of trials. Inner ones are the first process of a PID namespace.
const (
	inUserNamespace  = unix.CLONE_NEWUSER
	inPIDNamespace   = inUserNamespace | unix.CLONE_NEWPID
	inMountNamespace = inPIDNamespace | unix.CLONE_NEWNS
)

// asRoot is no flag of clone(2): the trial's user is 0 in its user namespace.
const asRoot = 1 << 40

// probedFeatures are what is tried here, in the order of the report.
func probedFeatures(p *prober) []feature {
	list := []feature{
		p.trial("user-namespace", "start", stepNamespaces, inUserNamespace),
		p.trial("mount-namespace", "mount", stepMount, inMountNamespace),
		p.trial("pid-namespace", "pid", stepNamespaces, inPIDNamespace),
		p.trial("ipc-namespace", "start", stepNamespaces, inUserNamespace|unix.CLONE_NEWIPC),
		p.trial("uts-namespace", "uts", stepRights, inPIDNamespace|unix.CLONE_NEWUTS),
		p.trial("cgroup-namespace", "start", stepNamespaces, inUserNamespace|unix.CLONE_NEWCGROUP),
		p.trial("network-namespace", "network", stepNetwork, inPIDNamespace|unix.CLONE_NEWNET),
		p.trial("proc", "proc", stepProc, inMountNamespace),
		p.trial("mount-api", "mount-api", stepMount, inMountNamespace),
		p.trial("pivot-root", "pivot", stepPivot, inMountNamespace),
		p.trial("terminal", "terminal", stepDevpts, inMountNamespace|asRoot),
		p.trial("landlock", "landlock", stepLandlock, 0),
		p.trial("seccomp", "seccomp", stepFilter, 0),
		p.trial("pidfd", "pidfd", stepUnknown, 0),
		{"cgroup", p.cgroup},
		{"bwrap", p.bwrap},
		{"bash", p.bash},
		{"python3", p.python},
		p.trial("gpu", "gpu", stepNodes, 0),
	}
	if os.Geteuid() == 0 {
		list = append(list, feature{"mapped-mounts", p.mappedMounts})
	}
	return list
}

// explain adds cause and remedy to the error of a step.
func (p *prober) explain(ctx context.Context, s step, err error) error {
	if err == nil {
		return nil
	}
	if p.settings.seccomp == unix.SECCOMP_MODE_FILTER && p.settings.refusedCalls == nil {
		p.settings.refusedCalls = tryCalls(ctx)
	}
	y := symptom{step: s, text: err.Error()}
	errors.As(err, &y.errno)
	e := &found{err: err}
	e.cause, e.remedy = explain(p.settings, y, err)
	return e
}

// trial is a feature that a trial uses. The step is that of what it does; what comes before are its namespaces.
func (p *prober) trial(name, trialName string, s step, flags uint64) feature {
	return feature{name, func(ctx context.Context) (string, error) {
		out, err := startTrial(ctx, trialName, flags)
		if err != nil {
			var errno syscall.Errno
			errors.As(err, &errno)
			return "", p.explain(ctx, startStep(errno), err)
		}
		var r trialResult
		if err := json.Unmarshal(out, &r); err != nil {
			return "", fmt.Errorf("the trial says %q", out)
		}
		if r.Error != "" {
			return "", p.explain(ctx, s, &trialError{r})
		}
		return r.Detail, nil
	}}
}

// trialError is an error that a trial told.
type trialError struct{ r trialResult }

func (e *trialError) Error() string { return e.r.Error }

// Unwrap gives the system's error.
func (e *trialError) Unwrap() error {
	if e.r.Errno == 0 {
		return nil
	}
	return e.r.Errno
}

// startTrial starts this program for a trial in namespaces of its own, and returns what it wrote.
func startTrial(ctx context.Context, name string, flags uint64) ([]byte, error) {
	exe, err := openSelf()
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	cmd := command(ctx, selfPath, trialArg, name)
	cmd.ExtraFiles = []*os.File{nil, exe}
	if flags != 0 {
		uid, gid := spec.UID, spec.GID
		if flags&asRoot != 0 {
			uid, gid = 0, 0
		}
		a := cmd.SysProcAttr
		a.Cloneflags = uintptr(flags &^ asRoot)
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getegid(), Size: 1}}
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
		a.AmbientCaps = initCapabilities
	}
	return output(cmd)
}

// command is for a program that may misbehave: whatever it starts ends with it when ctx does.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	return cmd
}

// maxProgramOutput is how much of a program's output is kept.
const maxProgramOutput = 8 << 10

// programOutput is the beginning of what is written to it.
type programOutput struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *programOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(b[:min(len(b), maxProgramOutput-o.buf.Len())])
	return len(b), nil
}

// output runs a command and returns the beginning of what it wrote.
func output(cmd *exec.Cmd) ([]byte, error) {
	o := &programOutput{}
	cmd.Stdout = o
	err := cmd.Run()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Bytes(), err
}

// mappedMounts maps the owner of a mount, as cells need it when we are root.
func (p *prober) mappedMounts(ctx context.Context) (string, error) {
	self, err := openSelf()
	if err != nil {
		return "", err
	}
	defer self.Close()
	owner, err := mappedOwner(func() (*os.File, error) { return self, nil })
	if err != nil {
		return "", p.explain(ctx, stepNamespaces, err)
	}
	defer owner.Close()
	if err := tryMapped(owner); err != nil {
		return "", p.explain(ctx, stepOwner, err)
	}
	return fmt.Sprintf("in %s; scripts are user %d", os.TempDir(), OutsideID), nil
}

// cgroup makes a group with limits and removes it.
func (p *prober) cgroup(ctx context.Context) (detail string, err error) {
	d, err := New(nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parent, err := d.host.groups()
	if err != nil {
		return "", p.explain(ctx, stepGroup, err)
	}
	detail = fmt.Sprintf("version %d: %s", parent.Version(), strings.Join(parent.Controllers(), ", "))
	g, err := parent.New("probe", cgroup.Limits{Memory: 64 << 20, Processes: 16})
	if err != nil {
		return "", p.explain(ctx, stepGroup, fmt.Errorf("%s; %w", detail, err))
	}
	return detail, g.Close()
}

// bwrapVersion is what `bwrap --version` says.
var bwrapVersion = regexp.MustCompile(`^bubblewrap (\d+)\.(\d+)\S*`)

// bwrap asks bubblewrap for its version.
func (p *prober) bwrap(ctx context.Context) (string, error) {
	fail := func(err error) (string, error) {
		e := &found{err: err}
		e.cause, e.remedy = diagnosis(p.settings, symptom{backend: Bubblewrap, step: stepLauncher, text: err.Error()})
		return "", e
	}
	path, err := findBwrap(p.opts.Bubblewrap)
	if err != nil {
		return fail(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fail(err)
	}
	if info.Mode()&fs.ModeSetuid != 0 {
		return fail(fmt.Errorf("%s is in setuid mode", path))
	}
	out, err := output(command(ctx, path, "--version"))
	m := bwrapVersion.FindSubmatch(out)
	if err != nil || m == nil {
		return fail(fmt.Errorf("%s --version: %q, %w", path, short(string(out)), orNot(err)))
	}
	major, _ := strconv.Atoi(string(m[1]))
	minor, _ := strconv.Atoi(string(m[2]))
	if major == 0 && minor < 5 {
		return fail(fmt.Errorf("%s, %s: Unknown option --perms", m[0], path))
	}
	return fmt.Sprintf("%s, %s", m[0], path), nil
}

var errNoVersion = errors.New("which is no version of bubblewrap")

func orNot(err error) error {
	if err == nil {
		return errNoVersion
	}
	return err
}

// bash tells what runs shell scripts.
func (p *prober) bash(ctx context.Context) (string, error) {
	shell := findShell()
	switch {
	case shell.path == "":
		return "", &found{fmt.Errorf("no bash or sh in %v", programDirs), "shell scripts cannot run here", "install bash"}
	case shell.args[0] != "bash":
		return "", &found{fmt.Errorf("no bash in %v", programDirs), "", "none is needed: shell scripts run in " + shell.path}
	}
	return interpreter(ctx, shell.path, "--norc", "--noprofile", "-c", `echo "$BASH_VERSION"`)
}

func (p *prober) python(ctx context.Context) (string, error) {
	python := findPython()
	if python.path == "" {
		return "", &found{fmt.Errorf("no python3 in %v", programDirs), "", "install it (Debian, Ubuntu: apt install python3), or run Python scripts in the wasm tier"}
	}
	return interpreter(ctx, python.path, "-I", "-S", "-c", `import sys; print(sys.version.split()[0])`)
}

// interpreter runs an interpreter that prints its version.
func interpreter(ctx context.Context, path string, args ...string) (string, error) {
	out, err := output(command(ctx, path, args...))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Sprintf("%s, %s", strings.TrimSpace(short(string(out))), path), nil
}
