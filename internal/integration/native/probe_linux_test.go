package nativetests

import (
	"flag"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/integration/probe"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

// TestProbe runs the hostile program in a cell of each backend and mode: each of its calls gets the answer of
// the table, whose twins show that it would succeed outside.
func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		program := probe.Build(t)
		rows := probe.Table(t, program)
		code, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []netpolicy.Mode{netpolicy.Blocked, netpolicy.Open} {
			t.Run(string(mode), func(t *testing.T) {
				needLandlock(t, d, 6)
				s := open(t, d, &engine.Options{Network: mode, Timeout: patience, Limits: engine.Limits{OpenFiles: 1024}})
				if err := s.PutBytes(t.Context(), "probe", code, &engine.PutOptions{Mode: 0o755}); err != nil {
					t.Fatal(err)
				}
				args := hostSecrets(t, mode)
				out, err := s.Exec(t.Context(), `exec ./probe "$@"`, &engine.RunOptions{Type: engine.Shell, Args: args.Flags()})
				if err != nil {
					t.Fatal(err)
				}
				if out.Result.ExitCode != 0 {
					t.Fatalf("the probe ended with %+v\n%s", out.Result, out.Stderr)
				}
				answers := probe.Answers(out.Stdout)
				for _, wrong := range probe.Check(rows, answers, args) {
					t.Error(wrong)
				}
				t.Logf("%d answers", len(answers))
			})
		}
	})
}

// hostSecrets are things of this host that the probe is told about and must not reach.
func hostSecrets(t *testing.T, mode netpolicy.Mode) *probe.Args {
	t.Helper()
	sleeper := osexec.CommandContext(t.Context(), "sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	})
	args := &probe.Args{
		HostPIDs: []int{sleeper.Process.Pid, os.Getpid()}, Canary: canaryFile, Secret: canaryValue,
		Abstract: fmt.Sprintf("sandbar-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")),
		Socket:   filepath.Join(filepath.Dir(canaryFile), fmt.Sprintf("%s-%d.sock", mode, len(t.Name()))), HostNet: mode == netpolicy.Open,
	}
	for _, name := range []string{"@" + args.Abstract, args.Socket} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	return args
}

// TestPosture is the whole posture of a process in a cell, as it sees it, against a golden file per backend. What
// differs from host to host is left out or named by its kind.
func TestPosture(t *testing.T) {
	each(t, func(t *testing.T, d *native.Driver) {
		if !hasCgroup(d) {
			t.Log("without cgroups; nothing of the posture shows it")
		}
		program := probe.Build(t)
		code, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, d, nil)
		if err := s.PutBytes(t.Context(), "probe", code, &engine.PutOptions{Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		out, err := s.Exec(t.Context(), `exec ./probe posture`, &engine.RunOptions{Type: engine.Shell})
		if err != nil || out.Result.ExitCode != 0 {
			t.Fatalf("%v, %+v", err, out)
		}
		got := normalPosture(string(out.Stdout))
		golden := filepath.Join("testdata", "posture-"+d.Info().Backend+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("the posture differs from %s (-want +got); if it is meant, run this test with -update:\n%s", golden, diff)
		}
	})
}
