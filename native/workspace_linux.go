package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native/internal/rootfs"
	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// workspace is a work directory in memory, a tmpfs that holds the disk limit: engine.Workspace. It is mounted
// nowhere but in its keeper's mount namespace and in the cells of its session.
type workspace struct {
	backend  Backend
	owner    *os.File // as in identity
	patience time.Duration
	dir      *os.File
	upper    *os.File // of an overlayfs

	mu     sync.Mutex
	keeper *keeper
}

// MakeWorkspace implements engine.WorkspaceMaker.
func (d *Driver) MakeWorkspace(ctx context.Context, limits engine.Limits) (engine.Workspace, error) {
	if d.opts.Backend != Bubblewrap && d.opts.Backend != Userns {
		return nil, fmt.Errorf("%w: Limits.Disk and Limits.DiskFiles by the backend %s", engine.ErrNotEnforceable, d.opts.Backend)
	}
	k, err := keepOf(&limits)
	if err != nil {
		return nil, err
	}
	w, err := d.newWorkspace(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := w.tryMapped(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// maxInodes is more than any memory has room for, and less than what the kernel refuses.
const maxInodes = 1 << 50

// keepOf says what the limits are in a tmpfs: tmpfs(5). It counts whole pages, and its root as a file.
func keepOf(l *engine.Limits) (*spec.Keep, error) {
	k := &spec.Keep{}
	if l.Disk > 0 {
		page := int64(os.Getpagesize())
		if k.Size = l.Disk / page * page; k.Size == 0 {
			return nil, fmt.Errorf("%w: Limits.Disk of %d bytes: a file takes whole pages of %d bytes", engine.ErrNotEnforceable, l.Disk, page)
		}
	}
	if l.DiskFiles > 0 {
		k.Inodes = min(l.DiskFiles, maxInodes) + 1
	}
	return k, nil
}

func (d *Driver) newWorkspace(ctx context.Context, k *spec.Keep) (*workspace, error) {
	// What stands in the way of a keeper is what stands in the way of userns, whatever the backend is.
	l := &launching{backend: Userns}
	failed := func(step string, err error) error {
		err = l.failure(step, err)
		if e, ok := errors.AsType[*StartError](err); ok {
			e.Backend = d.opts.Backend
		}
		return err
	}
	id, err := d.host.identity()
	if err != nil {
		return nil, failed("identity", err)
	}
	self, err := d.host.self()
	if err != nil {
		return nil, failed("open this program", err)
	}
	if id.owner != nil && k.Lower != "" {
		return nil, errNotMapped
	}
	if id.owner == nil {
		k.UID, k.GID = spec.UID, spec.GID // who we are, in the keeper's user namespace
	}
	payload, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	w := &workspace{backend: d.opts.Backend, owner: id.owner, patience: d.opts.StartTimeout}
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	if w.keeper, err = startKeeper(id, self, &l.stderr, k.Lower != ""); err != nil {
		return nil, failed("start of the keeper of the work directory", err)
	}
	unhook := context.AfterFunc(ctx, w.keeper.conn.giveUp)
	err = w.setUp(k, payload)
	if !unhook() {
		err = errors.Join(context.Cause(ctx), err)
	}
	if err != nil {
		err = errors.Join(err, w.Close())
		l.stderr.finish()
		return nil, failed("keeper of the work directory", err)
	}
	l.stderr.discard()
	return w, nil
}

// setUp has the keeper make the directory.
func (w *workspace) setUp(k *spec.Keep, payload []byte) error {
	n := 1
	if k.Lower != "" {
		n = 2
	}
	mounts, err := w.keeper.ask(spec.KindSetup, payload, spec.KindReady, n)
	if err != nil {
		return err
	}
	if w.dir = mounts[0]; n == 2 {
		w.upper = mounts[1]
	}
	return nil
}

// tryMapped finds out at once whether the cells' mounts can be mapped.
func (w *workspace) tryMapped() error {
	f, err := w.mount()
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: Limits.Disk and Limits.DiskFiles: this kernel cannot map the owner of a tmpfs, Linux 6.3 can: %w", engine.ErrNotEnforceable, err)
	}
	return &StartError{Backend: w.backend, Step: "mount of the work directory", Err: err}
}

// Dir implements engine.Workspace.
func (w *workspace) Dir() *os.File { return w.dir }

// errNoKeeper: somebody has killed the keeper. Cells that have the directory go on with it.
var errNoKeeper = errors.New("the process that keeps the work directory has ended, so that no new cell can have it; open another session")

// mount makes a detached mount of the directory for one cell, whose owner is mapped. The caller closes it.
func (w *workspace) mount() (*os.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.keeper.conn.c.SetReadDeadline(time.Now().Add(w.patience))
	mounts, err := w.keeper.ask(spec.KindStart, nil, spec.KindStarted, 1)
	if err != nil {
		// An answer that comes late would be taken for that of the next question: there is none.
		return nil, errors.Join(fmt.Errorf("%w: %w", errNoKeeper, err), w.keeper.close())
	}
	f := mounts[0]
	if w.owner == nil {
		return f, nil
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Propagation: unix.MS_PRIVATE, Userns_fd: uint64(w.owner.Fd())}
	if err := unix.MountSetattr(int(f.Fd()), "", unix.AT_EMPTY_PATH, attr); err != nil {
		return nil, errors.Join(os.NewSyscallError("mount_setattr MOUNT_ATTR_IDMAP", err), f.Close())
	}
	return f, nil
}

// Close implements engine.Workspace.
func (w *workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.keeper.close()
	for _, f := range []*os.File{w.dir, w.upper} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// work gives the work directory of a session as a cell mounts it.
func (b *blueprint) work(ss *engine.SessionSpec) (rootfs.Source, error) {
	if ss.Workspace == nil {
		return b.source(ss.HostDir)
	}
	w, ok := ss.Workspace.(*workspace)
	if !ok {
		return rootfs.Source{}, fmt.Errorf("%w: the work directory was made by another tier (%T)", engine.ErrNotAvailable, ss.Workspace)
	}
	f, err := w.mount()
	if err != nil {
		return rootfs.Source{}, &StartError{Backend: w.backend, Step: "mount of the work directory", Err: err}
	}
	b.mounts = append(b.mounts, f)
	return rootfs.Source{FD: len(b.mounts)}, nil
}

// burdenShare is the part of Limits.Memory, one in so many, that an idle cell may hold.
const burdenShare = 8

// burdened reports whether a cell that has nothing to do holds much of its limit of memory. Pages of the work
// directory are charged to the group of who wrote them first, for as long as they are there: a run in this cell
// would have that much less, and after one that came to the limit none could even remove files. A new cell has a
// new group.
func (s *session) burdened(c *cell) bool {
	if s.spec.Workspace == nil || c.group == nil {
		return false
	}
	u, err := c.group.Usage()
	if err != nil || u.OOMKills > 0 { // also where the peak cannot be reset
		return true
	}
	if err := c.group.Reset(); err != nil {
		return true
	}
	u, err = c.group.Usage() // the peak since the moment before: what it has now
	return err != nil || u.PeakMemory > s.spec.Limits.Memory/burdenShare
}
