package rootfs

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// carryOut checks a plan step by step and returns what has come of it.
func carryOut(t *testing.T, host fs.ReadLinkFS, cfg *Config) *model {
	t.Helper()
	plan, err := Build(host, cfg)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(host)
	for _, op := range slices.Concat(plan.Base, plan.Final) {
		if err := m.do(op); err != nil {
			t.Errorf("%s: %v", opText(op), err)
		}
	}
	last := plan.Final[len(plan.Final)-1]
	if last.Kind != spec.OpFreeze || last.Target != "/" {
		t.Errorf("the last step is %s", opText(last))
	}
	return m
}

// checkCell checks what a script finds.
func checkCell(t *testing.T, m *model, cfg *Config) {
	t.Helper()
	checkWritable(t, m, cfg)
	for _, g := range append(slices.Clone(cfg.Grants), Grant{Target: cfg.WorkTarget, Source: cfg.Work, Dir: true, Writable: true}) {
		at, _ := m.walk(g.Target)
		mount, rel := m.mountOf(at)
		if mount.source != g.Source.Path || mount.op.FD != g.Source.FD || mount.op.ReadOnly == g.Writable || rel != "/" {
			t.Errorf("at %s there is %s", g.Target, opText(mount.op))
		}
	}
	for _, secret := range []string{"/etc/shadow", "/etc/sudoers", "/etc/ssl/private", "/etc/ssh", "/home/me", "/home/me/notes", "/root", "/srv/x", "/sys", "/var/tmp", "/boot"} {
		at, what := m.walk(secret)
		mount, _ := m.mountOf(at)
		if what != "" && what != "dir" && !granted(cfg, at) || mount.source != "" && !granted(cfg, at) {
			t.Errorf("%s is there: %q, by %s", secret, what, opText(mount.op))
		}
	}
}

// granted reports whether a path is what a grant gives.
func granted(cfg *Config, p string) bool {
	return slices.ContainsFunc(cfg.Grants, func(g Grant) bool { return within(p, g.Target) || within(p, g.Source.Path) })
}

// checkWritable looks for what can be written to.
func checkWritable(t *testing.T, m *model, cfg *Config) {
	t.Helper()
	for _, mount := range m.mounts[1:] { // the root is frozen in the end
		op := mount.op
		switch {
		case op.Kind == spec.OpBind && op.Device:
			if !slices.Contains(cfg.DeviceNodes(), op.Target) || op.Source != op.Target {
				t.Errorf("a device that was not asked for: %s", opText(op))
			}
		case op.Kind == spec.OpBind && !op.ReadOnly:
			writable := op.Target == cfg.WorkTarget && op.Source == cfg.Work.Path ||
				slices.ContainsFunc(cfg.Grants, func(g Grant) bool { return g.Writable && g.Source.Path == op.Source })
			if !writable {
				t.Errorf("writable: %s", opText(op))
			}
		case op.Kind == spec.OpTmpfs:
			if op.Target != Tmp && op.Target != Shm || op.Size != cfg.Tmp || op.Inodes != cfg.TmpFiles {
				t.Errorf("writable: %s", opText(op))
			}
		case op.Kind != spec.OpBind && op.Kind != spec.OpProc && op.Kind != spec.OpDevpts && op.Kind != spec.OpScripts:
			t.Errorf("a mount of a kind that this test does not know: %s", opText(op))
		}
	}
}

func TestBuild_OddGrants(t *testing.T) {
	cfg := oddGrants()
	checkCell(t, carryOut(t, merged(), &cfg), &cfg)
}

// pool are the grants that random sessions draw from. None lies in another, as the engine sees to.
var pool = []string{
	"/bin/env", "/bin/", "/etc/alternatives/", "/etc/debian_version", "/etc/hostname", "/etc/hosts", "/etc/passwd", "/etc/localtime", "/etc/os-release",
	"/etc/resolv.conf", "/etc/services", "/etc/ssh/", "/etc/ssl/certs/", "/etc/ssl/openssl.cnf", "/home/me/notes", "/home/me/src/", "/lib/", "/lib64/",
	"/opt/a/b/", "/opt/link/", "/run/user/", "/srv/x/", "/srv/xy/", "/srv/z/deep/", "/usr/lib/os-release", "/usr/local/bin/tool", "/usr/local/linked/",
	"/usr/local/near/", "/usr/local/share/data/", "/usr/share/zoneinfo/Europe/Berlin", "/var/tmp/x/",
}

// randomConfig draws a session.
func randomConfig(r *rand.Rand, host *fakeHost) Config {
	cfg := plain()
	for _, i := range r.Perm(len(pool))[:r.IntN(8)] {
		target := strings.TrimSuffix(pool[i], "/")
		source := realPath(host, target)
		info, err := host.Stat(strings.TrimPrefix(source, "/"))
		if err != nil {
			continue // not on this host
		}
		g := Grant{Target: target, Source: Source{Path: source}, Dir: info.IsDir(), Writable: r.IntN(2) == 0}
		if !slices.ContainsFunc(cfg.Grants, func(o Grant) bool { return overlap(o, g) }) {
			cfg.Grants = append(cfg.Grants, g)
		}
	}
	slices.SortFunc(cfg.Grants, func(a, b Grant) int { return strings.Compare(a.Target+"/", b.Target+"/") })
	if r.IntN(2) == 0 {
		cfg.Work.FD = 1
		for i := range cfg.Grants {
			cfg.Grants[i].Source.FD = i + 2
		}
	}
	if r.IntN(2) == 0 {
		cfg.Devices = []string{"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap1"}
	}
	return cfg
}

// overlap is what the engine refuses.
func overlap(a, b Grant) bool {
	return within(a.Target, b.Target) || within(b.Target, a.Target) || within(a.Source.Path, b.Source.Path) || within(b.Source.Path, a.Source.Path)
}

// realPath follows all links on the host.
func realPath(host *fakeHost, p string) string {
	at, _ := (&model{host: host, mounts: []*modelMount{{op: spec.Op{Target: "/"}, source: "/"}}}).walk(p)
	return at
}

func TestBuild_RandomGrants(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		host := merged()
		if seed%4 == 0 {
			host = unmerged()
		}
		cfg := randomConfig(r, host)
		checkCell(t, carryOut(t, host, &cfg), &cfg)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, cfg.Grants)
		}
	}
}

func TestBuild_Refuses(t *testing.T) {
	for _, target := range []string{
		"/usr/local/loop",      // nowhere
		"/usr/local/temporary", // to /tmp, which is empty in a cell
		"/run", "/run/sandbar", "/run/sandbar/x", "/tmp", "/tmp/x", "/dev", "/dev/shm", "/proc/self", "/",
	} {
		cfg := plain()
		cfg.Grants = []Grant{grant("/opt/a/b", false), grant(target, false)}
		if plan, err := Build(merged(), &cfg); err == nil || plan != nil || !strings.Contains(err.Error(), target) {
			t.Errorf("a grant of %s: %v", target, err)
		}
	}
}

// What the host cannot read is an error, not a hole.
func TestBuild_HostErrors(t *testing.T) {
	cfg := plain()
	if _, err := Build(brokenLinks{merged()}, &cfg); err == nil || !strings.Contains(err.Error(), "/bin") {
		t.Errorf("Build = %v", err)
	}
}

type brokenLinks struct{ *fakeHost }

func (brokenLinks) ReadLink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrPermission}
}

func TestBuild_Links(t *testing.T) {
	host := newHost([]string{"/usr/bin/env", "/etc/ssl/real", "/etc/zone"}, map[string]string{
		"/bin": "usr/bin", "/lib": "/usr/lib", "/etc/localtime": "/etc/zone", "/etc/ssl/openssl.cnf": "/etc/ssl/real",
	})
	cfg := plain()
	plan, err := Build(host, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"/bin": "usr/bin", "/lib": "usr/lib", "/etc/localtime": "../etc/zone", "/etc/ssl/openssl.cnf": "../../etc/ssl/real"} {
		i := slices.IndexFunc(plan.Base, func(op spec.Op) bool { return op.Target == target })
		if i < 0 || plan.Base[i].Kind != spec.OpSymlink || plan.Base[i].Source != want {
			t.Errorf("%s: want a link to %s in\n%s", target, want, plan.Text())
		}
	}
}

func TestConfig_DeviceNodes(t *testing.T) {
	cfg := Config{Devices: []string{"/dev/nvidia0"}}
	for range 2 { // it does not grow
		if got, want := fmt.Sprint(cfg.DeviceNodes()), "[/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/nvidia0]"; got != want {
			t.Errorf("DeviceNodes() = %s, want %s", got, want)
		}
	}
}
