package native

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/internal/testuser"
)

func TestOverlay_Unprivileged(t *testing.T) {
	t.Parallel()
	testuser.Again(t, "^TestOverlay_(Keeper|Moved|Mounted|HostKilled|NothingIsLeft)$")
}

// lay makes an overlay over dir, or skips the test.
func lay(t *testing.T, d *Driver, dir string) *workspace {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root's scripts have another id, and an overlayfs cannot be mapped to it")
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.MakeOverlay(t.Context(), engine.Limits{Disk: mib}, dir, info)
	testneed.Feature(t, "overlayfs", err)
	return w.(*workspace)
}

func TestOverlay_Root(t *testing.T) {
	needBackend(t, Userns)
	if os.Geteuid() != 0 {
		t.Skip("it is for root")
	}
	dir := t.TempDir()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := driverOf(t, Userns).MakeOverlay(t.Context(), engine.Limits{Disk: mib}, dir, info); !errors.Is(err, engine.ErrNotAvailable) || w != nil {
		t.Errorf("MakeOverlay = %v, %v", w, err)
	}
}

// The keeper has no right and holds nothing that it does not need, and what it hands out is not to be forged through.
func TestOverlay_Keeper(t *testing.T) {
	needBackend(t, Userns)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := lay(t, driverOf(t, Userns), dir)
	defer w.Close()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.keeper.proc.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"CapPrm", "CapEff", "CapInh", "CapAmb"} {
		if want := fmt.Sprintf("%s:\t%016x\n", set, 1<<unix.CAP_SYS_ADMIN|1<<unix.CAP_DAC_OVERRIDE); !bytes.Contains(status, []byte(want)) {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
	merged, upper := fmt.Sprintf("/proc/self/fd/%d/", w.dir.Fd()), fmt.Sprintf("/proc/self/fd/%d/", w.upper.Fd())
	for i, path := range []string{merged + "f", merged + "d", merged + "d/below"} {
		if i > 0 {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"opaque", "redirect", "metacopy", "origin", "whiteout"} {
			_ = unix.Setxattr(path, "user.overlay."+name, []byte("forged"), 0)
			value := make([]byte, 64)
			if n, err := unix.Getxattr(upper+path[len(merged):], "user.overlay."+name, value); err == nil && bytes.Contains(value[:n], []byte("forged")) {
				t.Errorf("%s has it: user.overlay.%s", path, name)
			}
		}
	}
	if err := unix.Mknod(merged+"w", unix.S_IFCHR|0o600, 0); err == nil {
		t.Error("a whiteout was made")
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(w.dir.Fd()), &st); err != nil || st.Flags&unix.ST_NODEV == 0 || st.Flags&unix.ST_NOSUID == 0 {
		t.Errorf("flags %#x, %v", st.Flags, err)
	}
}

// A directory that has taken the place of the one that was meant is none.
func TestOverlay_Moved(t *testing.T) {
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	dir, other := t.TempDir(), t.TempDir()
	if err := lay(t, d, dir).Close(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(other)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := d.MakeOverlay(t.Context(), engine.Limits{Disk: mib}, dir, info); !errors.Is(err, unix.ESTALE) {
		t.Errorf("MakeOverlay = %v, %v", w, err)
	}
}

// overlayTest tells a test that it is started again, in another process.
const overlayTest = "SANDBAR_TEST_OVERLAY"

// again starts a test of this binary once more, with that set.
func again(t *testing.T, name, value string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), overlayTest+"="+value)
	return cmd
}

// What is mounted in the directory is not looked under, also where it is of the same file system.
func TestOverlay_Mounted(t *testing.T) {
	needBackend(t, Userns)
	if os.Getenv(overlayTest) == "" {
		lay(t, driverOf(t, Userns), t.TempDir()).Close()
		cmd := again(t, "TestOverlay_Mounted", "1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
		}
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	d := driverOf(t, Userns)
	for name, mount := range map[string]func(dir string) error{
		"tmpfs": func(dir string) error { return unix.Mount("none", dir+"/m", "tmpfs", 0, "") },
		"bind":  func(dir string) error { return unix.Mount(dir+"/d", dir+"/m", "", unix.MS_BIND, "") },
		"file":  func(dir string) error { return unix.Mount(dir+"/f", dir+"/g", "", unix.MS_BIND, "") },
	} {
		dir := t.TempDir()
		for _, sub := range []string{"m", "d"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, file := range []string{"f", "g"} {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		lay(t, d, dir).Close()
		if err := mount(dir); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := d.MakeOverlay(t.Context(), engine.Limits{Disk: mib}, dir, info)
		if err == nil {
			w.Close()
		}
		if !errors.Is(err, unix.EINVAL) {
			t.Errorf("%s: MakeOverlay = %v", name, err)
		}
		if s, err := engine.Open(t.Context(), []engine.Driver{d}, &engine.Options{Overlay: dir, Limits: engine.Limits{Disk: mib}}); err != nil {
			t.Errorf("%s: Open = %v", name, err)
		} else {
			if kind := s.Info().OverlayKind; kind != engine.OverlayCopy {
				t.Errorf("%s: %s", name, kind)
			}
			_ = s.Close()
		}
		for _, at := range []string{"m", "g"} {
			_ = unix.Unmount(filepath.Join(dir, at), unix.MNT_DETACH)
		}
	}
}

// When the program is killed, nothing goes on and nothing stays mounted.
func TestOverlay_HostKilled(t *testing.T) {
	needBackend(t, Userns)
	if dir := os.Getenv(overlayTest); dir != "" {
		s := openWith(driverOf(t, Userns))(t, &engine.Options{Overlay: dir, Limits: engine.Limits{Disk: mib}})
		shell(t, s, "true")
		fmt.Fprintln(os.Stderr, "kind", s.Info().OverlayKind)
		time.Sleep(time.Hour)
	}
	lay(t, driverOf(t, Userns), t.TempDir()).Close()
	cmd := again(t, "TestOverlay_HostKilled", t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len("kind overlayfs\n"))
	_, readErr := io.ReadFull(stderr, said)
	children := childrenOf(t, cmd.Process.Pid, "")
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if readErr != nil || !strings.HasSuffix(string(said), "overlayfs\n") || len(children) == 0 {
		t.Fatalf("%q, %v, children %v", said, readErr, children)
	}
	waitGone(t, children)
}

func TestOverlay_NothingIsLeft(t *testing.T) {
	needBackend(t, Userns)
	d := driverOf(t, Userns)
	dir := t.TempDir()
	lay(t, d, dir).Close()
	once := func(i int) {
		s, err := d.Open(t.Context(), &engine.Options{Overlay: dir, Limits: engine.Limits{Disk: mib, DiskFiles: 10}})
		if err != nil {
			t.Fatal(err)
		}
		if s.Info().OverlayKind != engine.OverlayFS {
			t.Error("it is a copy")
		}
		mustPut(t, s, "f", []byte("x"))
		if i%5 == 0 {
			shell(t, s, "cat f")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	once(0)
	before := held(t)
	for i := range 10 {
		once(i)
	}
	after := held(t)
	for range 100 {
		if !after.exceeds(before) {
			return
		}
		time.Sleep(10 * time.Millisecond)
		after = held(t)
	}
	t.Errorf("before: %+v, after: %+v", before, after)
}
