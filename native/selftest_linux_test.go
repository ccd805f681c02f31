package native

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/rootfs"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// An init that finds less in force than was promised serves nothing.
func TestSelfTest_Refuses(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		weaken     func(*spec.Setup, *spec.Serve)
	}{
		{"nothing weakened", "", func(*spec.Setup, *spec.Serve) {}},
		{"no filter", "Seccomp is 0", func(s *spec.Setup, _ *spec.Serve) { s.Filter = nil }},
		{"a filter that allows all", "unshare", func(s *spec.Setup, _ *spec.Serve) { s.Filter = []byte{6, 0, 0, 0, 0, 0, 0xff, 0x7f} }},
		{"no Landlock", "write to /proc/self/comm works", func(s *spec.Setup, _ *spec.Serve) { s.Landlock.ABI = 0 }},
		{"Landlock that allows all", "write to /proc/self/comm works", func(s *spec.Setup, _ *spec.Serve) {
			s.Landlock.Rules = append(s.Landlock.Rules, spec.Rule{Path: "/", Access: spec.AccessWrite})
		}},
		{"a directory that can be written to", "making /tmp", func(_ *spec.Setup, s *spec.Serve) { s.ReadOnly = append(s.ReadOnly, rootfs.Tmp) }},
		{"no loopback", "the loopback is down", func(s *spec.Setup, _ *spec.Serve) { s.Loopback = false }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			need(t, "userns")
			d := driverOf(t, Userns)
			if d.host.landlock() == 0 && strings.Contains(tt.name, "Landlock") {
				t.Skip("this kernel has no Landlock")
			}
			err := weakCell(t, d, tt.weaken)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var start *StartError
			if !errors.As(err, &start) || start.Step != "self-test" || !strings.Contains(start.Err.Error(), tt.want) {
				t.Errorf("the error is %v, want one of the self-test with %q", err, tt.want)
			}
		})
	}
}

// weakCell makes a cell whose set-up is not what its init is told to find.
func weakCell(t *testing.T, d *Driver, weaken func(*spec.Setup, *spec.Serve)) error {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ss := &engine.SessionSpec{ID: "weak", Root: root, HostDir: dir, Limits: engine.Limits{OpenFiles: 64, Tmp: 1 << 20, TmpFiles: 64}}
	b, err := d.blueprint(ss, netpolicy.Blocked)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	l := &launching{backend: Userns, setup: &b.setup, serve: &spec.Serve{
		Alone: true, Landlock: b.setup.Landlock.ABI, Filter: true, Empty: []string{rootfs.Tmp, rootfs.Shm}, ReadOnly: readOnlyDirs,
	}}
	c, err := l.launch(t.Context(), d.opts.StartTimeout, func(theirs *os.File) (*exec.Cmd, error) {
		cmd, err := b.userns(theirs)
		weaken(&b.setup, l.serve)
		return cmd, err
	})
	if err != nil {
		return err
	}
	return c.close()
}
