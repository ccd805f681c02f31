package rootfs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden again")

// checkGolden compares with a golden file, or writes it with -update.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
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

// plain is a session without options.
func plain() Config {
	return Config{
		Work: Source{Path: "/tmp/sandbar-1/work"}, WorkTarget: "/tmp/sandbox-work",
		Tmp: 64 << 20, TmpFiles: 4098, Scripts: 65 << 20,
	}
}

// grant is of a directory that the script sees at its own path.
func grant(target string, writable bool) Grant {
	return Grant{Target: target, Source: Source{Path: target}, Dir: true, Writable: writable}
}

// fileGrant is of a file.
func fileGrant(target string, writable bool) Grant {
	g := grant(target, writable)
	g.Dir = false
	return g
}

// oddGrants are in places that the plan has something to do with already.
func oddGrants() Config {
	cfg := plain()
	cfg.Grants = []Grant{
		{Target: "/bin/env", Source: Source{Path: "/usr/bin/env"}, Writable: true}, // /bin is a link
		fileGrant("/etc/hostname", false),
		{Target: "/etc/localtime", Source: Source{Path: "/usr/share/zoneinfo/Europe/Berlin"}},
		fileGrant("/etc/services", false),
		grant("/etc/ssh", false),
		grant("/etc/ssl", false),
		fileGrant("/home/me/notes", true),
		grant("/home/me/src", false),
		grant("/opt/a/b", true),
		{Target: "/opt/link", Source: Source{Path: "/srv/z"}, Dir: true},
		grant("/run/user", false),
		grant("/srv/xy", false),
		{Target: "/usr/local/linked", Source: Source{Path: "/srv/x"}, Dir: true, Writable: true},
		{Target: "/usr/local/near", Source: Source{Path: "/usr/local/share/data"}, Dir: true, Writable: true},
		grant("/var/tmp/x", true),
	}
	return cfg
}

func TestBuild_Golden(t *testing.T) {
	mapped := plain()
	mapped.Work.FD = 1
	mapped.Grants = []Grant{
		{Target: "/opt/a/b", Source: Source{Path: "/opt/a/b", FD: 2}, Dir: true, Writable: true},
		{Target: "/var/tmp/x", Source: Source{Path: "/var/tmp/x", FD: 3}, Dir: true},
	}
	devices := plain()
	devices.Devices = []string{"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-caps/nvidia-cap2"}
	devices.Libraries = []string{"/lib/x86_64-linux-gnu", "/opt/nvidia/lib"}
	open := plain()
	open.ResolvConf = "nameserver 192.0.2.53\n"
	for _, tt := range []struct {
		name string
		host *fakeHost
		cfg  Config
	}{
		{"merged", merged(), plain()},
		{"unmerged", unmerged(), plain()},
		{"grants", merged(), oddGrants()},
		{"mapped", merged(), mapped},
		{"devices", merged(), devices},
		{"devices.unmerged", unmerged(), devices},
		{"open", unmerged(), open},
		{"empty", newHost(nil, nil), plain()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Build(tt.host, &tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, tt.name, plan.Text())
		})
	}
}
