package native

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

// profileConfig is what a profile depends on. Paths are absolute; those of the run and of the work directory are
// without links, because what the kernel compares has none.
type profileConfig struct {
	work, script, tmp string
	tty               string // empty for none
	grants            []profileGrant
	network           netpolicy.Mode
}

// profileGrant is a granted path, as it is spelled and without links.
type profileGrant struct {
	path, real string
	writable   bool
}

// profile is the policy of a run in the language of sandbox-exec(1), a dialect of Scheme. Of two rules that fit,
// the later counts.
//
// No path of the host stands in the text: each is a parameter, which is an argument of its own. So nothing in a
// name can end a string or add a rule.
type profile struct {
	text   string
	params []string // -Dname=value
}

// buildProfile makes the profile of a run.
func buildProfile(c *profileConfig) *profile {
	p := &profile{}
	var b strings.Builder
	b.WriteString(profileHead)
	work, tmp, script := p.subpath("WORK", c.work), p.subpath("TMP", c.tmp), p.subpath("SCRIPT", c.script)
	reads, writes := []string{work, tmp}, []string{work, tmp}
	paths := []string{c.work, c.tmp, c.script}
	for i, g := range c.grants {
		grant := p.subpath(fmt.Sprintf("GRANT_%d", i), g.real)
		reads = append(reads, grant)
		if g.writable {
			writes = append(writes, grant)
		}
		paths = append(paths, g.path, g.real)
	}
	rule(&b, "What the script may read, and execute.", "file-read* file-map-executable process-exec*", reads)
	rule(&b, "Its own text.", "file-read*", []string{script})
	rule(&b, "What it may change.", "file-write*", writes)
	rule(&b, "The way to all that.", "file-read-metadata", p.parents(paths, c.grants))
	if c.tty != "" {
		rule(&b, "Its terminal.", "file-read* file-write-data file-ioctl", []string{`(literal "/dev/tty")`, p.literal("TTY", c.tty)})
	}
	if c.network == netpolicy.Open {
		b.WriteString(profileOpen)
	}
	p.text = b.String()
	return p
}

// parents are the directories above paths, and links on the way to a grant.
func (p *profile) parents(paths []string, grants []profileGrant) []string {
	all := map[string]bool{}
	for _, dir := range paths {
		for dir = path.Dir(dir); dir != "/" && dir != "."; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	for _, g := range grants {
		if g.path != g.real {
			all[g.path] = true
		}
	}
	filters := []string{`(literal "/")`}
	for i, dir := range slices.Sorted(maps.Keys(all)) {
		filters = append(filters, p.literal(fmt.Sprintf("PARENT_%d", i), dir))
	}
	return filters
}

// subpath is a filter for a path and all below it.
func (p *profile) subpath(name, path string) string { return p.filter("subpath", name, path) }

// literal is a filter for a path alone.
func (p *profile) literal(name, path string) string { return p.filter("literal", name, path) }

func (p *profile) filter(kind, name, path string) string {
	p.params = append(p.params, fmt.Sprintf("-D%s=%s", name, path))
	return fmt.Sprintf(`(%s (param "%s"))`, kind, name)
}

// rule writes a rule that allows operations where one of the filters fits.
func rule(b *strings.Builder, comment, operations string, filters []string) {
	fmt.Fprintf(b, "\n; %s\n(allow %s", comment, operations)
	for _, f := range filters {
		fmt.Fprintf(b, "\n  %s", f)
	}
	b.WriteString(")\n")
}

// profileHead is the same in all profiles: what an interpreter needs to start.
//
// The denials after the first one are of operations that the default does not reach. Environments of other
// processes are behind sysctl-read (kern.procargs2) and process-info; not all versions of macOS keep them there.
// Set-user-ID programs cannot be executed under any profile.
const profileHead = `(version 1)
(deny default)
(deny file-map-executable iokit-get-properties nvram* process-info* sysctl-read)

; Processes of the run see and signal each other.
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))

; Programs and libraries of the system.
(allow file-read* file-map-executable process-exec*
  (subpath "/Library/Apple")
  (subpath "/Library/Developer/CommandLineTools")
  (subpath "/Library/Frameworks")
  (subpath "/System/Cryptexes")
  (subpath "/System/Library")
  (subpath "/System/Volumes/Preboot/Cryptexes")
  (subpath "/bin")
  (subpath "/opt/homebrew")
  (subpath "/private/preboot/Cryptexes")
  (subpath "/sbin")
  (subpath "/usr"))

; Settings of the system that hold no secrets.
(allow file-read*
  (literal "/")
  (literal "/private/etc/group")
  (literal "/private/etc/hosts")
  (literal "/private/etc/localtime")
  (literal "/private/etc/passwd")
  (literal "/private/etc/protocols")
  (literal "/private/etc/services")
  (literal "/private/etc/shells")
  (literal "/private/var/db/xcode_select_link")
  (subpath "/private/etc/ssl")
  (subpath "/private/var/db/dyld")
  (subpath "/private/var/db/timezone")
  (subpath "/private/var/select"))
(allow file-read-metadata
  (literal "/Library")
  (literal "/Library/Developer")
  (literal "/System")
  (literal "/System/Volumes")
  (literal "/System/Volumes/Preboot")
  (literal "/dev")
  (literal "/etc")
  (literal "/opt")
  (literal "/private")
  (literal "/private/etc")
  (literal "/private/preboot")
  (literal "/private/tmp")
  (literal "/private/var")
  (literal "/private/var/db")
  (literal "/tmp")
  (literal "/var"))

; Devices.
(allow file-read*
  (literal "/dev/null")
  (literal "/dev/random")
  (literal "/dev/stdin")
  (literal "/dev/urandom")
  (literal "/dev/zero")
  (subpath "/dev/fd"))
(allow file-write-data
  (literal "/dev/null")
  (literal "/dev/stderr")
  (literal "/dev/stdout")
  (literal "/dev/zero")
  (subpath "/dev/fd"))
(allow file-ioctl
  (literal "/dev/null")
  (literal "/dev/zero"))

; What the kernel tells of the machine.
(allow sysctl-read
  (sysctl-name "kern.argmax")
  (sysctl-name "kern.boottime")
  (sysctl-name "kern.hostname")
  (sysctl-name "kern.iossupportversion")
  (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.maxproc")
  (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion")
  (sysctl-name "kern.osrelease")
  (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status")
  (sysctl-name "kern.osversion")
  (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version")
  (sysctl-name "security.mac.lockdown_mode_state")
  (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "sysctl.proc_translated")
  (sysctl-name "vm.loadavg")
  (sysctl-name-prefix "hw.")
  (sysctl-name-prefix "machdep.cpu."))

; Names of users and groups; notice of a change of the time zone.
(allow mach-lookup
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-shm-read*
  (ipc-posix-name "apple.shm.notification_center"))

; Locks of Python's multiprocessing. Their names are the whole system's.
(allow ipc-posix-sem)
`

// profileOpen is the host's network. Unix sockets of the host are not part of it, but for the one that resolves
// names: behind others are programs that do as they are told.
const profileOpen = `
; The network.
(allow network-outbound
  (remote ip "*:*")
  (literal "/private/var/run/mDNSResponder"))
(allow network-bind network-inbound
  (local ip "*:*"))
(allow system-socket
  (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow file-read*
  (literal "/private/etc/resolv.conf")
  (literal "/private/var/run/resolv.conf"))
(allow file-read-metadata
  (literal "/private/var/run"))
(allow sysctl-read
  (sysctl-name-prefix "net.routetable"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.networkd")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))
`
