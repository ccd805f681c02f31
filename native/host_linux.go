package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

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
	janitor  janitor

	identifying sync.Mutex
	found       *identity

	mu    sync.Mutex
	files []*os.File    // to be closed with the driver
	swept chan struct{} // closed when the sweep is over; nil when there is none
}

// keep notes a file that stays open as long as the driver.
func (h *host) keep(f *os.File, err error) error {
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files = append(h.files, f)
	return nil
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
			h.mu.Lock()
			defer h.mu.Unlock()
			h.swept = make(chan struct{})
			go h.sweep(p, h.swept)
		}
		return p, err
	})
	h.self = sync.OnceValues(func() (*os.File, error) {
		f, err := openSelf()
		return f, h.keep(f, err)
	})
}

// identity is who scripts are. An error is not kept: the next call tries again.
func (h *host) identity() (*identity, error) {
	h.identifying.Lock()
	defer h.identifying.Unlock()
	if h.found != nil {
		return h.found, nil
	}
	id, err := findIdentity(h.self)
	if err != nil {
		return nil, err
	}
	if id.owner != nil {
		err = h.keep(id.owner, nil)
	}
	h.found = id
	return id, err
}

// sweepPatience is how long Close waits for a sweep. Where something does not end, it goes on for seconds.
const sweepPatience = 100 * time.Millisecond

// sweep ends what another process of this program could not end because it was killed.
func (h *host) sweep(p *cgroup.Parent, done chan<- struct{}) {
	defer close(done)
	if err := cgroup.Sweep(p); err != nil {
		h.opts.Logger.Warn("groups of a dead process are left", "err", err)
	}
}

// landlockABI asks the kernel, and does not count on what is newer than the rules.
func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return min(abi, stage1.MaxABI)
}

// openSelf opens this program, so that it can be executed when its path is gone or hidden. When we are root the
// init is another user, who may be allowed to execute it no more than anybody; else a copy in memory does.
func openSelf() (*os.File, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&0o001 != 0 || os.Geteuid() != 0 {
		return f, err
	}
	defer f.Close()
	return copyInMemory(f)
}

// copyInMemory copies a program into a file that anybody may execute, and nobody change.
func copyInMemory(f *os.File) (*os.File, error) {
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	fd, err := unix.MemfdCreate("sandbar", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	m := os.NewFile(uintptr(fd), "sandbar")
	if _, err := io.Copy(m, f); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if err := m.Chmod(0o555); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if _, err := unix.FcntlInt(m.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl F_ADD_SEALS", err), m.Close())
	}
	// Read-only: a file that is open for writing cannot be executed (ETXTBSY).
	r, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", m.Fd()))
	return r, errors.Join(err, m.Close())
}

// Close ends what the driver keeps. No session of it may be open.
func (d *Driver) Close() error {
	d.host.mu.Lock()
	defer d.host.mu.Unlock()
	if d.host.swept != nil {
		select {
		case <-d.host.swept:
		case <-time.After(sweepPatience):
		}
	}
	err := d.host.janitor.close()
	closeFiles(d.host.files)
	d.host.files = nil
	return err
}

// controllerLimits is what each controller holds.
var controllerLimits = []struct{ controller, limit string }{{"memory", "Memory"}, {"cpu", "CPU"}, {"pids", "Processes"}}

// missing names the limits whose controller is not there.
func (h *host) missing() []string {
	var names []string
	groups, err := h.groups()
	for _, l := range controllerLimits {
		if err != nil || !slices.Contains(groups.Controllers(), l.controller) {
			names = append(names, l.limit)
		}
	}
	return names
}

// cellInfo describes the backends that make cells.
func (d *Driver) cellInfo(info *engine.DriverInfo) {
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
	}
	info.Unenforced = append(info.Unenforced, d.host.missing()...)
	if groups, err := d.host.groups(); err != nil || !groups.MeasuresMemory() {
		info.Unmeasured = append(info.Unmeasured, "PeakMemory")
	}
	if id, err := d.host.identity(); err == nil && id.warning != "" {
		info.Warnings = append(info.Warnings, id.warning)
	}
}
