package native

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestFindGPU(t *testing.T) {
	char := func() *fstest.MapFile { return &fstest.MapFile{Mode: os.ModeDevice | os.ModeCharDevice} }
	host := fstest.MapFS{
		"dev/nvidia0": char(), "dev/nvidiactl": char(), "dev/nvidia-uvm": char(), "dev/nvidia-modeset": char(),
		"dev/nvidia-caps/nvidia-cap1": char(), "dev/nvidia1": &fstest.MapFile{}, "run/opengl-driver/lib/libcuda.so.1": &fstest.MapFile{},
	}
	nodes, libraries, err := findGPU(host)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1"}; !slices.Equal(nodes, want) {
		t.Errorf("nodes %v, want %v", nodes, want)
	}
	if want := []string{"/run/opengl-driver"}; !slices.Equal(libraries, want) {
		t.Errorf("libraries %v, want %v", libraries, want)
	}
	delete(host, "dev/nvidia0")
	if _, _, err := findGPU(host); !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("without a card: %v", err)
	}
}

// A host without a card refuses the run, and says so.
func TestGPU_None(t *testing.T) {
	if _, _, err := findGPU(os.DirFS("/")); err == nil {
		t.Skip("this host has a card")
	}
	s := openWith(driverOf(t, Userns))(t, &engine.Options{GPU: true})
	if _, err := s.Exec(t.Context(), "true", &engine.RunOptions{Type: engine.Shell}); !errors.Is(err, engine.ErrNotAvailable) {
		t.Errorf("Exec = %v", err)
	}
}

// standIns are device nodes as NVIDIA's driver has them, with the null device behind them.
var standIns = []string{"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"}

// TestGPU_StandIns runs in a mount namespace of its own, whose /dev has the nodes.
func TestGPU_StandIns(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("to make device nodes takes root")
	}
	need(t, "userns")
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestGPU_InNamespace$", "-test.v")
	cmd.Env = append(os.Environ(), "SANDBAR_TEST_DEV=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGPU_InNamespace is the part of TestGPU_StandIns that runs in the namespace.
func TestGPU_InNamespace(t *testing.T) {
	if os.Getenv("SANDBAR_TEST_DEV") == "" {
		t.Skip("run by TestGPU_StandIns")
	}
	// A /dev of its own: the host's must not get the nodes.
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", 0, "mode=755"); err != nil {
		t.Fatal(err)
	}
	unix.Umask(0)
	for i, name := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", standIns[0], standIns[1], standIns[2]} {
		device := []uint64{unix.Mkdev(1, 3), unix.Mkdev(1, 5), unix.Mkdev(1, 7), unix.Mkdev(1, 8), unix.Mkdev(1, 9), unix.Mkdev(5, 0)}[min(i, 5)]
		if i > 5 {
			device = unix.Mkdev(1, 3)
		}
		if err := unix.Mknod(name, unix.S_IFCHR|0o666, int(device)); err != nil {
			t.Fatalf("mknod %s: %v", name, err)
		}
	}
	for _, b := range []Backend{Userns, Bubblewrap} {
		d := driverOf(t, b)
		with, without := openWith(d)(t, &engine.Options{GPU: true}), openWith(d)(t, nil)
		const script = "for n in 0 ctl -uvm; do echo x > /dev/nvidia$n && echo $n works; done 2>/dev/null; true"
		if got, want := mustRun(t, with, engine.Shell, script), "0 works\nctl works\n-uvm works\n"; got != want {
			t.Errorf("%s: with the option %q, want %q", b, got, want)
		}
		if got := mustRun(t, without, engine.Shell, script); got != "" {
			t.Errorf("%s: without the option %q", b, got)
		}
	}
}
