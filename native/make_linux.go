package native

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/rootfs"
	"github.com/sandbar-dev/sandbar/native/internal/ruleset"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// blueprint is all that a backend needs to make a cell.
type blueprint struct {
	identity *identity
	self     *os.File
	plan     *rootfs.Plan
	// mounts are detached mounts that go to the init.
	mounts []*os.File
	alone  bool // a network namespace of its own
	setup  spec.Setup
}

func (b *blueprint) close() { closeFiles(b.mounts) }

// files are what the init inherits, from descriptor spec.FDSocket on. The program is there three times: two of them
// hold the places of spec.FDScripts and spec.FDScore.
func (b *blueprint) files(theirs *os.File) []*os.File {
	return append([]*os.File{theirs, b.self, b.self, b.self}, b.mounts...)
}

// makeCell makes a cell of the driver's backend.
func (d *Driver) makeCell(ctx context.Context, ss *engine.SessionSpec, mode netpolicy.Mode, group *cgroup.Group) (*cell, error) {
	b, err := d.blueprint(ss, mode)
	if err != nil {
		return nil, err
	}
	defer b.close()
	l := &launching{
		backend: d.opts.Backend,
		setup:   &b.setup,
		serve: &spec.Serve{
			Alone: b.alone, Landlock: b.setup.Landlock.ABI, Filter: len(b.setup.Filter) > 0,
			Empty: []string{rootfs.Tmp, rootfs.Shm}, ReadOnly: readOnlyDirs,
		},
		group: group,
	}
	command := b.userns
	if d.opts.Backend == Bubblewrap {
		command = func(theirs *os.File) (*exec.Cmd, error) { return b.bubblewrap(d.opts.Bubblewrap, theirs) }
	}
	return l.launch(ctx, d.opts.StartTimeout, command)
}

// readOnlyDirs are directories that the init tries to write to, and must not be able to.
var readOnlyDirs = []string{"/", "/usr", "/etc", "/dev", "/run", spec.ScriptDir}

// blueprint draws up a cell. The caller closes it.
func (d *Driver) blueprint(ss *engine.SessionSpec, mode netpolicy.Mode) (b *blueprint, err error) {
	b = &blueprint{alone: mode != netpolicy.Open}
	defer func() {
		if err != nil {
			b.close()
			b = nil
		}
	}()
	if b.identity, err = d.host.identity(); err != nil {
		return b, err
	}
	if b.self, err = d.host.self(); err != nil {
		return b, err
	}
	program, err := d.host.filter()
	if err != nil {
		return b, &StartError{Backend: d.opts.Backend, Step: "seccomp filter", Err: err}
	}
	cfg, err := b.rootConfig(ss, mode)
	if err != nil {
		return b, err
	}
	host, ok := os.DirFS("/").(rootfs.HostFS)
	if !ok {
		return b, fmt.Errorf("os.DirFS reads no links")
	}
	if b.plan, err = rootfs.Build(host, cfg); err != nil {
		return b, err
	}
	b.setup = spec.Setup{
		Final: b.plan.Final, Hostname: rootfs.Hostname, Loopback: b.alone,
		Landlock: ruleset.Build(cfg, d.host.landlock()), Filter: program, Rlimits: rlimits(&ss.Limits),
	}
	return b, nil
}

// maxScripts is the size of the directory of scripts: one, and what its blocks round up to.
const maxScripts = engine.MaxScript + 1<<20

func (b *blueprint) rootConfig(ss *engine.SessionSpec, mode netpolicy.Mode) (*rootfs.Config, error) {
	cfg := &rootfs.Config{WorkTarget: engine.WorkDir, Tmp: ss.Limits.Tmp, TmpFiles: ss.Limits.TmpFiles + ownTmpFiles, Scripts: maxScripts}
	var err error
	if cfg.Work, err = b.work(ss); err != nil {
		return nil, err
	}
	if err := pin(&cfg.Work, ss.Root); err != nil {
		return nil, err
	}
	for _, g := range ss.Grants {
		target, err := filepath.EvalSymlinks(g.Path)
		if err != nil {
			return nil, fmt.Errorf("granted path: %w", err)
		}
		info, err := os.Stat(target)
		if err != nil {
			return nil, fmt.Errorf("granted path: %w", err)
		}
		src, err := b.source(target)
		if err != nil {
			return nil, err
		}
		cfg.Grants = append(cfg.Grants, rootfs.Grant{Target: g.Path, Source: src, Dir: info.IsDir(), Writable: g.Writable})
	}
	if ss.GPU {
		if cfg.Devices, cfg.Libraries, err = findGPU(os.DirFS("/")); err != nil {
			return nil, err
		}
	}
	if mode == netpolicy.Open {
		// Without the file there is no name server, as in a blocked cell.
		if data, err := os.ReadFile("/etc/resolv.conf"); err == nil {
			cfg.ResolvConf = string(data)
		}
	}
	return cfg, nil
}

// pin has the init check that what it mounts is the directory that the session has open, and not another one that
// has come to its path.
func pin(src *rootfs.Source, root *os.Root) error {
	info, err := root.Stat(".")
	if err != nil {
		return fmt.Errorf("work directory: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		src.Dev, src.Ino = st.Dev, st.Ino
	}
	return nil
}

// ownTmpFiles are the root and the work directory's mount point of the file system in /tmp.
const ownTmpFiles = 2

// source gives a host path as a cell mounts it: mapped to the script's user when we are root.
func (b *blueprint) source(path string) (rootfs.Source, error) {
	if b.identity.owner == nil {
		return rootfs.Source{Path: path}, nil
	}
	f, err := mapped(path, b.identity.owner)
	if err != nil {
		return rootfs.Source{}, fmt.Errorf("map the owner of %s: %w", path, err)
	}
	b.mounts = append(b.mounts, f)
	return rootfs.Source{Path: path, FD: len(b.mounts)}, nil
}

// rlimits are limits of each process. What is to bound a whole run is the cgroup's.
func rlimits(l *engine.Limits) []spec.Rlimit {
	all := []spec.Rlimit{
		{Resource: unix.RLIMIT_CORE, Value: 1}, // 0 would still start a host program that core_pattern names: core(5)
		{Resource: unix.RLIMIT_MEMLOCK, Value: 8 << 20},
		{Resource: unix.RLIMIT_MSGQUEUE, Value: 0}, // a queue would outlive the run
		{Resource: unix.RLIMIT_NICE, Value: 0},
		{Resource: unix.RLIMIT_NOFILE, Value: uint64(l.OpenFiles)},
		{Resource: unix.RLIMIT_RTPRIO, Value: 0},
		{Resource: unix.RLIMIT_SIGPENDING, Value: 4096},
	}
	if l.FileSize > 0 {
		all = append(all, spec.Rlimit{Resource: unix.RLIMIT_FSIZE, Value: uint64(l.FileSize)})
	}
	return all
}
