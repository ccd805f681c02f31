package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// found is the answer of findAs.
type found struct {
	Setup      string // why the circumstances could not be made
	Version    int
	Dirs       []string
	Error      string
	Remedy     string
	Errno      unix.Errno
	Membership string // /proc/self/cgroup afterwards
}

// findAs calls Find under circumstances.
func findAs(circumstances []string) found {
	for _, c := range circumstances {
		if err := circumstance(c); err != nil {
			return found{Setup: c + ": " + err.Error()}
		}
	}
	p, err := Find()
	var f found
	if err == nil {
		f.Version = p.Version()
		for _, t := range p.trees {
			f.Dirs = append(f.Dirs, t.dir)
		}
	} else {
		f.Error = err.Error()
		if u, ok := errors.AsType[*Unavailable](err); ok {
			f.Remedy = u.Remedy
		}
		if errno, ok := errors.AsType[unix.Errno](err); ok {
			f.Errno = errno
		}
	}
	m, _ := os.ReadFile("/proc/self/cgroup")
	f.Membership = string(m)
	return f
}

// circumstance changes this copy of the test binary, in mount and cgroup namespaces of its own.
func circumstance(name string) error {
	switch name {
	case "unprivileged":
		return errors.Join(unix.Setgroups(nil), unix.Setresgid(65534, 65534, 65534), unix.Setresuid(65534, 65534, 65534))
	case "read-only":
		return eachCgroupMount(func(point string) error {
			return unix.Mount("", point, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
		})
	case "unmounted":
		return eachCgroupMount(func(point string) error { return unix.Unmount(point, unix.MNT_DETACH) })
	case "container": // a cgroup namespace with nothing but its own view of version 2
		if err := eachCgroupMount(func(point string) error { return unix.Unmount(point, unix.MNT_DETACH) }); err != nil {
			return err
		}
		if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
			return err
		}
		return unix.Mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, "")
	}
	return errors.New("unknown")
}

// eachCgroupMount does something with each mount in a private mount namespace. All threads share the namespace only
// if there is one thread, or all of them move: Find must then run on the thread that moved, which main locked.
func eachCgroupMount(do func(point string) error) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, m := range parseMounts(string(mounts)) {
		if err := do(m.point); err != nil {
			return pathError("change mount", m.point, err)
		}
	}
	return nil
}

func TestFind_Refused(t *testing.T) {
	p := find(t)
	clean(t, p)
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become less")
	}
	for role, want := range map[string]struct {
		errno  unix.Errno
		remedy string
	}{
		"find unprivileged": {unix.EACCES, remedyDelegate},
		"find read-only":    {unix.EROFS, remedyReadOnly},
		"find unmounted":    {0, remedyMount},
	} {
		t.Run(role, func(t *testing.T) {
			c := start(t, role)
			var got found
			c.mustBegin(&got)
			c.end()
			if got.Setup != "" {
				t.Skip(got.Setup)
			}
			if p.version == 2 && role == "find unprivileged" {
				want.errno = got.Errno // where the group is not delegated nothing is tried
			}
			if got.Error == "" || got.Errno != want.errno || got.Remedy != want.remedy {
				t.Errorf("Find: %+v, want %v and %q", got, want.errno, want.remedy)
			}
			t.Log(got.Error)
		})
	}
}

func TestHost_Locate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"shown/ours", "bind"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "cgroup.procs"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hidden := mount{version: 2, root: "/", point: dir + "/hidden"}
	shown := mount{version: 2, root: "/", point: dir + "/shown"}
	bind := mount{version: 2, root: "/ours", point: dir + "/bind"}
	other := mount{version: 2, root: "/other", point: dir + "/bind"}
	above := mount{version: 2, root: "/../..", point: dir + "/bind"}
	for name, c := range map[string]struct {
		mounts []mount
		path   string
		want   string
	}{
		"whole tree":      {[]mount{shown}, "/ours", dir + "/shown/ours"},
		"hidden mount":    {[]mount{hidden, shown}, "/ours", dir + "/shown/ours"},
		"bind of ours":    {[]mount{bind}, "/ours", dir + "/bind"},
		"bind of another": {[]mount{other}, "/ours", ""},
		"similar name":    {[]mount{bind}, "/ours-too", ""},
		"above our view":  {[]mount{above}, "/ours", ""},
		"we are above":    {[]mount{shown}, "/../ours", ""},
		"removed":         {[]mount{shown}, "/ours (deleted)", ""},
		"none":            {nil, "/ours", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, u := host{mounts: c.mounts}.locate(membership{path: c.path}, func(m mount) bool { return m.version == 2 })
			if got != c.want || (u == nil) != (c.want != "") {
				t.Errorf("locate = %q, %v, want %q", got, u, c.want)
			}
			if name == "removed" && !strings.Contains(u.Error(), "removed") {
				t.Errorf("locate: %v, want it to say that the group was removed", u)
			}
		})
	}
}

func TestHost_LocateV1(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/cgroup.procs", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	mounted := mount{version: 1, root: "/", point: dir, options: []string{"rw", "cpu", "cpuacct"}}
	for name, c := range map[string]struct {
		controllers []string
		mounts      []mount
		want        string
	}{
		"with cpu":       {[]string{"cpu", "cpuacct"}, []mount{mounted}, dir},
		"with cpuset":    {[]string{"cpuset", "cpuacct"}, []mount{mounted}, ""},
		"in version 2":   {nil, []mount{mounted}, ""},
		"mounted as v2":  {[]string{"cpuacct"}, []mount{{version: 2, root: "/", point: dir, options: []string{"cpuacct"}}}, ""},
		"not mounted":    {[]string{"cpuacct"}, nil, ""},
		"other mounting": {[]string{"cpuacct"}, []mount{{version: 1, root: "/", point: dir, options: []string{"memory"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := host{memberships: []membership{{hierarchy: 4, controllers: c.controllers, path: "/"}}, mounts: c.mounts}
			got, u := h.locateV1("cpuacct")
			if got != c.want || (u == nil) != (c.want != "") {
				t.Errorf("locateV1 = %q, %v, want %q", got, u, c.want)
			}
		})
	}
}

// This process is in no group with a limit of ours, whatever Find did.
func TestFind_LeavesUsWithoutLimit(t *testing.T) {
	p := find(t)
	clean(t, p)
	newGroup(t, p, "limited", Limits{Memory: 1 << 20, Processes: 1})
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range parseMemberships(string(text)) {
		if last := filepath.Base(m.path); strings.HasPrefix(last, prefix) && last != hostLeaf {
			t.Errorf("this process is in %s", m.path)
		}
	}
	for _, tr := range p.trees {
		pids, err := processes(filepath.Join(tr.dir, p.owner.String()+"limited"))
		if err != nil || slices.Contains(pids, os.Getpid()) || len(pids) > 0 {
			t.Errorf("processes %v, %v in a new group", pids, err)
		}
	}
}
