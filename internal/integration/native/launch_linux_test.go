package nativetests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// C080: a launcher that is not there, that ends, that hangs or that talks is an error in bounded time, which holds
// what it said and can be told from a script that fails. Nothing is left of it.
func TestC080_BrokenLauncher(t *testing.T) {
	driver(t, native.Bubblewrap)
	dir := wideTemp(t)
	mark := marker()
	for name, script := range map[string]string{
		"ends":         "exit 1",
		"ends well":    "exit 0",
		"hangs":        "exec sleep " + mark,
		"hangs deeply": "sleep " + mark + " & sleep " + mark + "; wait",
		"complains":    "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
		"talks":        "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1",
		"talks on":     "exec sh -c 'while :; do echo talk; done' >&2",
		"dies":         "kill -SEGV $$",
		"gives wrong":  "printf 'not the protocol, but long enough for a header and more' >&3; exec sleep " + mark,
		"says nothing": "exec 3>&-; exec sleep " + mark,
		"no program":   "",
	} {
		t.Run(name, func(t *testing.T) {
			nothingMore(t)
			path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			if script != "" {
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			d := plainDriver(t, &native.Options{Backend: native.Bubblewrap, Bubblewrap: path, StartTimeout: time.Second})
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			s := open(t, d, nil)
			out, err := s.Exec(ctx, "exit 1", shell(nil))
			var start *native.StartError
			if !errors.As(err, &start) || !errors.Is(err, engine.ErrNotAvailable) || !errors.Is(err, engine.ErrNotStarted) {
				t.Fatalf("%+v, %v", out, err)
			}
			if start.Backend != native.Bubblewrap || start.Step == "" || len(err.Error()) > 20_000 || ctx.Err() != nil {
				t.Errorf("%+v", start)
			}
			if strings.Contains(name, "complains") && !strings.Contains(err.Error(), "setting up uid map") || strings.HasPrefix(name, "talks") && start.Output == "" {
				t.Errorf("the launcher's own words are not there: %v", err)
			}
			t.Logf("%.300v", err)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			noneLeft(t, mark)
		})
	}
}

// C098, C080: which bwrap is executed is not decided by PATH, the caller's or ours.
func TestC098_PathDoesNotChoose(t *testing.T) {
	driver(t, native.Bubblewrap)
	dir := wideTemp(t)
	for _, name := range []string{"bwrap", "bash", "sh", "python3"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ntouch "+dir+"/escaped\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("LD_LIBRARY_PATH", dir)
	t.Setenv("BASH_ENV", dir+"/sh")
	t.Setenv("GODEBUG", "inittrace=1")
	for _, b := range backends {
		d := newDriver(t, &native.Options{Backend: b})
		s := open(t, d, nil)
		stillWorks(t, s)
		printed(t, s, "print('py')", python(nil), "py\n")
	}
	if _, err := os.Stat(filepath.Join(dir, "escaped")); err == nil {
		t.Error("a program in PATH was executed")
	}
}

// nested is a program that runs as the root of a user namespace, as in a container. Args: what the namespace is
// like, and the backends.
func nested(args []string) int {
	if err := prepareNested(args[0]); err != nil {
		return failed(err)
	}
	for _, name := range args[1:] {
		if err := tryNested(native.Backend(name)); err != nil {
			fmt.Fprintf(os.Stdout, "%s error available=%v %q\n", name, !errors.Is(err, engine.ErrNotAvailable), err)
		}
	}
	return 0
}

func prepareNested(kind string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	switch kind {
	case "no namespaces":
		return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0o600)
	case "masked proc": // as container runtimes do
		for _, dir := range []string{"/proc/fs", "/proc/bus", "/proc/scsi", "/proc/acpi"} {
			if err := unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, "size=0"); err != nil && !errors.Is(err, unix.ENOENT) {
				return os.NewSyscallError("mount "+dir, err)
			}
		}
		return os.NewSyscallError("mount", unix.Mount("/dev/null", "/proc/version", "", unix.MS_BIND, ""))
	}
	return nil
}

func tryNested(b native.Backend) error {
	d, err := native.New(&native.Options{Backend: b})
	if err != nil {
		return err
	}
	defer d.Close()
	s, err := d.Open(context.Background(), nil)
	if err != nil {
		return err
	}
	defer s.Close()
	// Host processes would show as more than the four of the run.
	out, err := s.Exec(context.Background(), "id -u; touch w && stat -c %u w; test $(ls -d /proc/[0-9]* | wc -l) -le 5 && echo alone", shell(nil))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s works %q %q %v\n", b, out.Stdout, out.Stderr, d.Info().Warnings)
	return nil
}

// runNested runs nested in a user namespace whose root is an unprivileged user of the host, and returns what it
// says, a line a backend.
func runNested(t *testing.T, kind string) []string {
	t.Helper()
	args := []string{kind}
	for _, b := range backends {
		driver(t, b)
		args = append(args, string(b))
	}
	outside := unprivileged()
	cmd := child(t, "nested", args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+wideTemp(t), "HOME=/")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:                 syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: outside, Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: outside, Size: 1}},
		GidMappingsEnableSetgroups: os.Geteuid() == 0,
		Credential:                 &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: os.Geteuid() != 0},
	}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.GidMappings[0].HostID = os.Getegid()
	}
	said := childOutput(t, cmd)
	if len(said) != len(backends) {
		t.Fatalf("it says %q", said)
	}
	return said
}

// unprivileged is a user that tests which are root let their children be.
func unprivileged() int {
	if uid := os.Geteuid(); uid != 0 {
		return uid
	}
	return 65534
}

// childOutput runs a part of a test to its end, which must be a good one, and returns its lines.
func childOutput(t *testing.T, cmd *osexec.Cmd) []string {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	noCanary(t, out.Bytes())
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// C079: where user namespaces are forbidden, both backends say so, with the setting, within seconds; nothing is
// tried that isolates less.
func TestC079_NoUserNamespaces(t *testing.T) {
	for _, line := range runNested(t, "no namespaces") {
		if !strings.Contains(line, "error available=false") || !strings.Contains(line, "max_user_namespaces") {
			t.Errorf("%s", line)
		}
		t.Log(line)
	}
}

// C081: where a /proc of its own is refused to a container, a backend says so or shows no process of the host.
func TestC081_MaskedProc(t *testing.T) {
	for _, line := range runNested(t, "masked proc") {
		works := strings.Contains(line, "works") && strings.Contains(line, `alone\n`)
		refused := strings.Contains(line, "error available=false") && strings.Contains(line, "proc")
		if !works && !refused {
			t.Errorf("%s", line)
		}
		t.Log(line)
	}
}

// C168: the root of a user namespace, as in a rootless container, is like any user.
func TestC168_NestedRoot(t *testing.T) {
	for _, line := range runNested(t, "plain") {
		if !strings.Contains(line, `works "1000\n1000\nalone\n" ""`) {
			t.Errorf("%s", line)
		}
		t.Log(line)
	}
}
