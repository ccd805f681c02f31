// Package rootfs plans what a cell's file system consists of: a list of typed steps, made from options and
// from what the host has. It mounts nothing itself and runs on any system.
//
// A script sees the host's programs and libraries read-only, a few files of /etc, its work directory, what is
// granted, and otherwise file systems of its own. What is not listed here is not there.
package rootfs

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// The paths that scripts may write to, and that are emptied between runs.
const (
	Tmp = "/tmp"
	Shm = "/dev/shm"
)

// Config says what is to be in a cell.
type Config struct {
	// Work is mounted on WorkTarget, which lies in Tmp.
	Work       Source
	WorkTarget string
	Grants     []Grant
	// Tmp and TmpFiles bound each of Tmp and Shm.
	Tmp, TmpFiles int64
	// Scripts is the size of spec.ScriptDir in bytes.
	Scripts int64
	// ResolvConf is the content of /etc/resolv.conf. Empty: no name server.
	ResolvConf string
	// Devices are host device nodes to have as well, Libraries host directories; both at the same path.
	Devices, Libraries []string
}

// Source is what is mounted: a path on the host without links, or the detached mount FD, counted from 1.
type Source struct {
	Path string
	FD   int
	// Dev and Ino are those that it must have when it is mounted; zero is not checked.
	Dev, Ino uint64
}

// Grant is a path that the script sees as on the host.
type Grant struct {
	Target   string
	Source   Source
	Dir      bool // it is a directory
	Writable bool
}

// Plan is what stage 1 does.
type Plan struct{ Base, Final []spec.Op }

// HostFS is the root of the host's file system, for what it has: os.DirFS("/").
type HostFS = fs.ReadLinkFS

// Build makes the plan. Host is the root of the host's file system, for what it has; names are without a
// leading slash.
func Build(host fs.ReadLinkFS, cfg *Config) (*Plan, error) {
	b := &builder{host: host, cfg: cfg, made: map[string]bool{"/": true}, links: map[string]string{}}
	b.system()
	b.etc()
	b.dev()
	b.op(spec.Op{Kind: spec.OpProc, Target: b.dir("/proc", 0o555)})
	b.dir("/run", 0o755)
	b.dir(spec.ScriptDir, 0o755)
	b.dir(Tmp, 0o1777)
	b.grants()
	if b.err != nil {
		return nil, b.err
	}
	base := b.ops
	b.ops = nil
	b.final()
	return &Plan{Base: base, Final: b.ops}, nil
}

// builder collects steps. The first error stays.
type builder struct {
	host fs.ReadLinkFS
	cfg  *Config
	ops  []spec.Op
	// made are the paths that exist by now in the root, bound the directories that come from the host, links where
	// the links lead.
	made  map[string]bool
	bound []string
	links map[string]string
	err   error
}

func (b *builder) op(op spec.Op) { b.ops = append(b.ops, op) }

// dir makes a directory and those above it, and returns its path.
func (b *builder) dir(target string, mode uint32) string {
	if b.made[target] || b.inBound(target) {
		return target
	}
	b.dir(path.Dir(target), 0o755)
	b.made[target] = true
	b.op(spec.Op{Kind: spec.OpDir, Target: target, Mode: mode})
	return target
}

// file makes a file.
func (b *builder) file(target, data string) {
	b.dir(path.Dir(target), 0o755)
	b.made[target] = true
	b.op(spec.Op{Kind: spec.OpFile, Target: target, Data: data, Mode: 0o644})
}

// bind mounts a host path on the same path, read-only.
func (b *builder) bind(target string, dir bool) {
	b.mountPoint(target, dir)
	b.op(spec.Op{Kind: spec.OpBind, Target: target, Source: target, ReadOnly: true})
}

// mountPoint makes what something can be mounted on.
func (b *builder) mountPoint(target string, dir bool) {
	switch {
	case b.inBound(target) || b.made[target] && !dir:
		// It is there.
	case dir:
		b.dir(target, 0o755)
		b.bound = append(b.bound, target)
	default:
		b.file(target, "")
	}
}

func (b *builder) inBound(target string) bool {
	return slices.ContainsFunc(b.bound, func(dir string) bool { return within(target, dir) })
}

// within reports whether target is dir or below it.
func within(target, dir string) bool {
	rest, ok := strings.CutPrefix(target, dir)
	return ok && (rest == "" || rest[0] == '/' || dir == "/")
}

// same puts target into the root as the host has it: a link as a link, a file or directory bound. What the host
// does not have is left out.
func (b *builder) same(target string) {
	info, err := b.host.Lstat(strings.TrimPrefix(target, "/"))
	if err != nil {
		return
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		b.link(target)
	case info.IsDir():
		b.bind(target, true)
	case info.Mode().IsRegular():
		b.bind(target, false)
	}
}
