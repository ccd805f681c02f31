package native

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/cgroup"
	"github.com/sandbar-dev/sandbar/native/internal/filter"
	"github.com/sandbar-dev/sandbar/native/internal/stage1"
)

// host is what a driver finds on its host, each thing once.
type host struct {
	opts *Options

	landlock func() int // version of the interface; 0 for none
	filter   func() ([]byte, error)
	groups   func() (*cgroup.Parent, error)
	self     func() (*os.File, error)
	identity func() (*identity, error)
}

func (h *host) init(opts *Options) {
	h.opts = opts
	h.landlock = sync.OnceValue(landlockABI)
	h.filter = sync.OnceValues(func() ([]byte, error) {
		p, err := filter.Build(runtime.GOARCH)
		if err != nil {
			return nil, err
		}
		return p.Bytes(), nil
	})
	h.groups = sync.OnceValues(func() (*cgroup.Parent, error) {
		p, err := cgroup.Find()
		if err == nil {
			// What another process of this program could not end because it was killed.
			err = cgroup.Sweep(p)
		}
		return p, err
	})
	h.self = sync.OnceValues(openSelf)
	h.identity = sync.OnceValues(func() (*identity, error) { return findIdentity(h.self) })
}

// landlockABI asks the kernel, and does not count on what is newer than the rules.
func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return min(abi, stage1.MaxABI)
}

// openSelf opens this program, so that it can be executed when its path is gone or hidden.
func openSelf() (*os.File, error) { return os.Open("/proc/self/exe") }

// Close ends what the driver keeps. No session of it may be open.
func (d *Driver) Close() error {
	if id, err := d.host.identity(); err == nil {
		id.close()
	}
	if f, err := d.host.self(); err == nil {
		return f.Close()
	}
	return nil
}

// Info implements engine.Driver.
func (d *Driver) Info() engine.DriverInfo {
	info := engine.DriverInfo{Tier: engine.TierNative, Backend: string(d.opts.Backend), Versions: map[string]string{}, Enforced: map[string]string{}}
	if d.opts.Backend == None {
		info.Warnings = append(info.Warnings, warnNone)
		info.Unenforced = unenforcedNone
		return info
	}
	info.Enforced["namespaces"] = "user, mount, pid, ipc, uts, cgroup, net unless open"
	info.Enforced["capabilities"] = "none in any set"
	abi := d.host.landlock()
	info.Enforced["landlock"] = fmt.Sprintf("ABI %d", abi)
	if abi == 0 {
		info.Enforced["landlock"] = "not there"
		info.Warnings = append(info.Warnings, "native: this kernel has no Landlock; namespaces, capabilities and seccomp are in force")
	}
	if program, err := d.host.filter(); err == nil {
		info.Enforced["seccomp"] = fmt.Sprintf("%d instructions", len(program)/8)
	}
	info.Unenforced = append(info.Unenforced, "Disk", "DiskFiles")
	if groups, err := d.host.groups(); err == nil {
		info.Enforced["cgroup"] = fmt.Sprintf("v%d: %v", groups.Version(), groups.Controllers())
	} else {
		info.Enforced["cgroup"] = "not available: " + err.Error()
		info.Unenforced = append(info.Unenforced, "Memory", "CPU", "Processes")
	}
	if id, err := d.host.identity(); err == nil && id.warning != "" {
		info.Warnings = append(info.Warnings, id.warning)
	}
	return info
}

// OpenSession implements engine.Driver.
func (d *Driver) OpenSession(_ context.Context, spec *engine.SessionSpec) (engine.DriverSession, error) {
	if d.opts.Backend == None {
		return openNone(d, spec)
	}
	return openCells(d, spec)
}
