package ruleset

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/native/internal/rootfs"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

// newest is the newest version of Landlock's interface that the rules are written for.
const newest = 11

func config() rootfs.Config {
	grant := func(target string, dir, writable bool) rootfs.Grant {
		return rootfs.Grant{Target: target, Source: rootfs.Source{Path: target}, Dir: dir, Writable: writable}
	}
	return rootfs.Config{
		Work: rootfs.Source{Path: "/tmp/sandbar-1/work"}, WorkTarget: "/tmp/sandbox-work", Tmp: 64 << 20, TmpFiles: 4098, Scripts: 65 << 20,
		Grants: []rootfs.Grant{
			grant("/home/me/notes", false, true),
			grant("/home/me/src", true, false),
			grant("/opt/a/b", true, true),
			grant("/opt/file", false, false),
		},
		Devices: []string{"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap1"},
	}
}

func TestBuild_Golden(t *testing.T) {
	with, without := config(), config()
	without.Grants, without.Devices = nil, nil
	got := "# a session without options\n" + Text(Build(&without, newest)) + "\n# grants and devices\n" + Text(Build(&with, newest))
	file := filepath.Join("testdata", "rules.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; if that is meant, run the test with -update and explain it in the commit (-want +got):\n%s", file, diff)
	}
}

// What a class of rights is in each version is the matter of stage 1: the rules are the same.
func TestBuild_EachABI(t *testing.T) {
	cfg := config()
	want := Build(&cfg, newest).Rules
	for abi := range newest + 1 {
		if got := Build(&cfg, abi); got.ABI != abi || !slices.Equal(got.Rules, want) {
			t.Errorf("for ABI %d:\n%s", abi, Text(got))
		}
	}
}

// The rules say what the mounts say: neither gives what the other takes.
func TestBuild_AgreesWithTheMounts(t *testing.T) {
	cfg := config()
	plan, err := rootfs.Build(fstest.MapFS{"usr/bin/env": {}}, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	var mounted, writable, devices []string
	for _, op := range slices.Concat(plan.Base, plan.Final) {
		mounted = append(mounted, op.Target)
		switch {
		case op.Kind == spec.OpBind && op.Device || op.Kind == spec.OpDevpts:
			devices = append(devices, op.Target)
		case op.Kind == spec.OpBind && !op.ReadOnly || op.Kind == spec.OpTmpfs || op.Kind == spec.OpScripts:
			writable = append(writable, op.Target)
		}
	}
	granted := map[string]spec.Access{}
	for _, r := range Build(&cfg, newest).Rules {
		granted[r.Path] = r.Access
		switch {
		case !slices.Contains(mounted, r.Path): // stage 1 could not open it
			t.Errorf("a rule for %s, which is not there", r.Path)
		case r.Access == spec.AccessWrite && !slices.Contains(writable, r.Path), r.Access == spec.AccessDevice && !slices.Contains(devices, r.Path):
			t.Errorf("%s at %s, whose mount does not allow it", r.Access, r.Path)
		case r.Access == spec.AccessRead && r.Path != "/":
			t.Errorf("a rule for %s, which the one for / covers", r.Path)
		}
	}
	if granted["/"] != spec.AccessRead {
		t.Error("nothing can be read")
	}
	for _, target := range devices {
		if granted[target] != spec.AccessDevice {
			t.Errorf("no rule for the device %s", target)
		}
	}
	for _, target := range writable {
		if target != cfg.WorkTarget && granted[target] != spec.AccessWrite {
			t.Errorf("no rule for %s, which the mount lets write", target)
		}
	}
	if !strings.HasPrefix(cfg.WorkTarget, rootfs.Tmp+"/") {
		t.Errorf("no rule for the work directory: it does not lie in %s", rootfs.Tmp)
	}
}
