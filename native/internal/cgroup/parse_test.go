package cgroup

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var unexported = cmp.AllowUnexported(membership{}, mount{}, owner{})

func TestParseMemberships(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []membership
	}{
		"both versions": {
			"5:cpu,cpuacct:/a b\n1:name=systemd:/\n0::/x:y/z\n",
			[]membership{
				{5, []string{"cpu", "cpuacct"}, "/a b"},
				{1, []string{"name=systemd"}, "/"},
				{0, nil, "/x:y/z"},
			},
		},
		"above the namespace": {"0::/../other\n", []membership{{0, nil, "/../other"}}},
		"no end of line":      {"0::/", []membership{{0, nil, "/"}}},
		"nonsense":            {"\n::\nx::/\n-1::/\n0:/\n0::relative\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parseMemberships(c.text), unexported); diff != "" {
				t.Error(diff)
			}
		})
	}
	if !(membership{path: "/a (deleted)"}).removed() || (membership{path: "/a"}).removed() {
		t.Error("removed is wrong")
	}
}

func TestParseMounts(t *testing.T) {
	const text = `22 27 0:21 / /proc rw - proc proc rw
35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro,relatime shared:9 master:2 - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup\040with\134space rw - cgroup2 none rw,nsdelegate
37 31 0:34 / /short rw - cgroup
38 31 / /short rw - cgroup cgroup rw
39 31 0:34 no-path /x rw - cgroup cgroup rw
no dash
`
	want := []mount{
		{1, "/docker/1", "/sys/fs/cgroup/memory", []string{"rw", "memory"}},
		{2, "/", `/sys/fs/cgroup with\space`, []string{"rw", "nsdelegate"}},
	}
	got := parseMounts(text)
	if diff := cmp.Diff(want, got, unexported); diff != "" {
		t.Fatal(diff)
	}
	if !got[0].has("memory") || got[0].has("pids") || got[1].has("nsdelegate") {
		t.Error("has is wrong")
	}
}

func TestMount_Dir(t *testing.T) {
	for _, c := range []struct{ root, group, want string }{
		{"/", "/", "/m"},
		{"/", "/a/b", "/m/a/b"},
		{"/a", "/a", "/m"},
		{"/a", "/a/b", "/m/b"},
		{"/a", "/ab", ""},
		{"/a", "/", ""},
		{"/..", "/a", ""},
		{"/", "/..", ""},
		{"/", "/../a", ""},
	} {
		got, ok := mount{root: c.root, point: "/m"}.dir(c.group)
		// path.Clean takes a leading "/.." away, which would lead to groups of others.
		if got != c.want || ok != (c.want != "") {
			t.Errorf("mount of %s, group %s: %q, %v, want %q", c.root, c.group, got, ok, c.want)
		}
	}
}

func TestParsePids(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "0\n": {0}, "7\n12\n": {7, 12}} {
		if got, ok := parsePids(text); !ok || cmp.Diff(want, got) != "" {
			t.Errorf("parsePids(%q) = %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"-1\n", "x\n", "99999999999\n"} {
		if got, ok := parsePids(text); ok {
			t.Errorf("parsePids(%q) = %v", text, got)
		}
	}
}

func TestValue(t *testing.T) {
	const text = "low 0\noom 3\noom_kill 12\noom_group_kill 5\nbad x\nlast 9"
	for key, want := range map[string]int64{"low": 0, "oom": 3, "oom_kill": 12, "oom_group_kill": 5, "last": 9} {
		if got, ok := value([]byte(text), key); !ok || got != want {
			t.Errorf("value of %s = %d, %v, want %d", key, got, ok, want)
		}
	}
	for _, key := range []string{"kill", "bad", "none", "oom_kil"} {
		if got, ok := value([]byte(text), key); ok {
			t.Errorf("value of %s = %d", key, got)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "12\n": 12, "9223372036854775807\n": math.MaxInt64} {
		if got, ok := number([]byte(text)); !ok || got != want {
			t.Errorf("number(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "\n", "-1", "+1", "1 ", "max\n", "9223372036854775808", "99999999999999999999", "1\n\n"} {
		if got, ok := number([]byte(text)); ok {
			t.Errorf("number(%q) = %d", text, got)
		}
	}
}

func TestParseOwner(t *testing.T) {
	o := owner{pid: 12, start: 345, pidns: 4026531836, timens: 4026531834}
	const dir = "sandbar-12-345-4026531836.4026531834-"
	if o.String() != dir {
		t.Fatalf("String() = %s, want %s", o, dir)
	}
	for _, name := range []string{"cell", "a-b", "probe-1", "ü x"} {
		if got, ok := parseOwner(dir + name); !ok || got != o {
			t.Errorf("parseOwner(%s%s) = %+v, %v", dir, name, got, ok)
		}
	}
	for _, name := range []string{
		"", "x", hostLeaf, "sandbar-", dir, "sandbar-12-345-1-x", "sandbar-0-1-1.1-x", "sandbar--1-1-1.1-x", "sandbar-+1-1-1.1-x",
		"sandbar-01-1-1.1-x", "sandbar-1-x-1.1-x", "sandbar-1-1-1.x-x", "sandbar-1-1-x.1-x", "sandbar-99999999999-1-1.1-x", "Xsandbar-1-1-1.1-x",
	} {
		if got, ok := parseOwner(name); ok {
			t.Errorf("parseOwner(%q) = %+v", name, got)
		}
	}
}

func FuzzParseMemberships(f *testing.F) {
	f.Add("5:cpu,cpuacct:/a b\n1:name=systemd:/\n0::/x:y/z\n")
	f.Add("0::/../other (deleted)\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseMemberships(text) {
			if m.hierarchy < 0 || !strings.HasPrefix(m.path, "/") || strings.Contains(m.path, "\n") {
				t.Errorf("%q: %+v", text, m)
			}
		}
	})
}

func FuzzParseMounts(f *testing.F) {
	f.Add("35 31 0:32 /docker/1 /sys/fs/cgroup/memory ro shared:9 - cgroup cgroup rw,memory\n", "/docker/1/x")
	f.Add("36 31 0:33 /.. /a\\040b rw - cgroup2 none rw\n", "/../x")
	f.Fuzz(func(t *testing.T, text, group string) {
		for _, m := range parseMounts(text) {
			if m.version != 1 && m.version != 2 || !strings.HasPrefix(m.point, "/") {
				t.Errorf("%q: %+v", text, m)
			}
			if !strings.HasPrefix(group, "/") {
				continue
			}
			// Whatever the texts are, it never leads out of the mount.
			clean, _ := mount{root: "/", point: m.point}.dir("/")
			if dir, ok := m.dir(group); ok && dir != clean && !strings.HasPrefix(dir, strings.TrimSuffix(clean, "/")+"/") {
				t.Errorf("%q: group %q is at %q, outside of %q", text, group, dir, m.point)
			}
		}
	})
}

func FuzzValue(f *testing.F) {
	f.Add([]byte("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n"), "oom_kill")
	f.Add([]byte("usage_usec 123456\nuser_usec 9223372036854775808\n"), "user_usec")
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		n, ok := value(text, key)
		if n < 0 || !ok && n != 0 {
			t.Errorf("value(%q, %q) = %d, %v", text, key, n, ok)
		}
		if ok && !strings.Contains(string(text), key+" ") {
			t.Errorf("value(%q, %q) = %d, and there is no such key", text, key, n)
		}
	})
}

func FuzzParsePids(f *testing.F) {
	f.Add("0\n12\n")
	f.Fuzz(func(t *testing.T, text string) {
		pids, ok := parsePids(text)
		for _, pid := range pids {
			if pid < 0 || !ok {
				t.Errorf("parsePids(%q) = %v, %v", text, pids, ok)
			}
		}
	})
}

func FuzzParseOwner(f *testing.F) {
	f.Add("sandbar-12-345-4026531836.4026531834-cell")
	f.Add(hostLeaf)
	f.Fuzz(func(t *testing.T, dir string) {
		if o, ok := parseOwner(dir); ok && !strings.HasPrefix(dir, o.String()) {
			t.Errorf("parseOwner(%q) = %+v", dir, o)
		}
	})
}
