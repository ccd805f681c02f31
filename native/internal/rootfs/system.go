package rootfs

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// systemDirs hold programs and libraries. Where the host has merged them into /usr they are links.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

func (b *builder) system() {
	for _, dir := range systemDirs {
		b.same(dir)
	}
	for _, dir := range b.cfg.Libraries {
		target, err := b.resolve(dir)
		if err != nil {
			b.fail(err)
			return
		}
		if !b.inBound(target) {
			b.bind(target, true)
		}
	}
}

// devices are the device nodes that every cell has.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// devLinks are links in /dev.
var devLinks = [][2]string{
	{"fd", "/proc/self/fd"},
	{"stdin", "/proc/self/fd/0"},
	{"stdout", "/proc/self/fd/1"},
	{"stderr", "/proc/self/fd/2"},
	{"ptmx", "pts/ptmx"},
}

// DeviceNodes are the paths of the device nodes of a cell.
func (cfg *Config) DeviceNodes() []string {
	var all []string
	for _, name := range devices {
		all = append(all, "/dev/"+name)
	}
	return append(all, cfg.Devices...)
}

func (b *builder) dev() {
	b.dir("/dev", 0o755)
	for _, node := range b.cfg.DeviceNodes() {
		b.file(node, "")
		b.op(spec.Op{Kind: spec.OpBind, Target: node, Source: node, Device: true})
	}
	for _, l := range devLinks {
		b.op(spec.Op{Kind: spec.OpSymlink, Target: "/dev/" + l[0], Source: l[1]})
	}
	b.dir("/dev/pts", 0o755)
	b.dir(Shm, 0o1777)
}

// masked are files of /proc that tell about the host or command its kernel, and directories of such;
// container runtimes mask the same ones.
var masked = []string{
	"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg",
	"/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags", "/proc/latency_stats", "/proc/modules", "/proc/sched_debug", "/proc/scsi",
	"/proc/slabinfo", "/proc/timer_list", "/proc/timer_stats", "/proc/vmallocinfo",
}

// frozen are read-only parts of /proc.
var frozen = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}

// final are the mounts that both backends leave to the init: bubblewrap has no words for them.
func (b *builder) final() {
	b.op(spec.Op{Kind: spec.OpDevpts, Target: "/dev/pts"})
	b.op(spec.Op{Kind: spec.OpTmpfs, Target: Shm, Size: b.cfg.Tmp, Inodes: b.cfg.TmpFiles, Mode: 0o1777})
	b.op(spec.Op{Kind: spec.OpTmpfs, Target: Tmp, Size: b.cfg.Tmp, Inodes: b.cfg.TmpFiles, Mode: 0o1777})
	b.op(spec.Op{Kind: spec.OpScripts, Target: spec.ScriptDir, Size: b.cfg.Scripts, Inodes: 16, Mode: 0o755})
	b.op(spec.Op{Kind: spec.OpDir, Target: b.cfg.WorkTarget, Mode: 0o755})
	b.op(spec.Op{Kind: spec.OpBind, Target: b.cfg.WorkTarget, Source: b.cfg.Work.Path, FD: b.cfg.Work.FD, Dev: b.cfg.Work.Dev, Ino: b.cfg.Work.Ino})
	for _, p := range masked {
		b.op(spec.Op{Kind: spec.OpMask, Target: p})
	}
	for _, p := range append(frozen, "/") {
		b.op(spec.Op{Kind: spec.OpFreeze, Target: p})
	}
}

// etcEntries are what of the host's /etc programs need and what tells nothing about the host's users, services
// and secrets. A pattern is one of path.Match.
var etcEntries = []string{
	"alternatives", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "ethertypes",
	"fonts", "gai.conf", "host.conf", "inputrc", "java*", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime",
	"lsb-release", "magic", "magic.mime", "mime.types", "netconfig", "os-release", "perl", "pki", "profile", "profile.d", "protocols",
	"python*", "rpc", "services", "shells", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "xattr.conf",
}

// etc makes an /etc of files that are its own and files of the host.
func (b *builder) etc() {
	b.dir("/etc", 0o755)
	for _, pattern := range etcEntries {
		names, err := fs.Glob(b.host, path.Join("etc", pattern))
		if err != nil {
			b.fail(fmt.Errorf("/etc: %w", err))
		}
		for _, name := range names {
			b.same("/" + name)
		}
	}
	for _, f := range ownFiles(b.cfg) {
		b.file("/etc/"+f[0], f[1])
	}
}

// Hostname is the name of every cell.
const Hostname = "sandbox"

func ownFiles(cfg *Config) [][2]string {
	resolv := cfg.ResolvConf
	if resolv == "" {
		// Without a name server the library asks the loopback, where nobody listens: lookups fail at once.
		resolv = "# no network\noptions timeout:1 attempts:1\n"
	}
	return [][2]string{
		{"group", "root:x:0:\ntty:x:5:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
		{"hostname", Hostname + "\n"},
		{"hosts", "127.0.0.1 localhost " + Hostname + "\n::1 localhost ip6-localhost ip6-loopback\n"},
		{"nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n"},
		{"passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nsandbox:x:1000:1000:sandbox:" + cfg.WorkTarget + ":/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
		{"resolv.conf", resolv},
	}
}
