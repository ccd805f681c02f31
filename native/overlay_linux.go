package native

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sandbar-dev/sandbar/engine"
)

// errNotMapped: for a program that is root, the mounts of cells are mapped to the scripts' id.
var errNotMapped = fmt.Errorf("%w: the kernel cannot map the owners of an overlayfs, and scripts have another id than this program, which is root", engine.ErrNotAvailable)

// overlayInodes are what overlayfs has of its own: two directories, one in them, and one file that it is just making.
const overlayInodes = 4

// MakeOverlay implements engine.OverlayMaker.
func (d *Driver) MakeOverlay(ctx context.Context, limits engine.Limits, dir string, info fs.FileInfo) (engine.OverlayWorkspace, error) {
	if d.opts.Backend != Bubblewrap && d.opts.Backend != Userns {
		return nil, fmt.Errorf("%w: a work directory of the backend %s", engine.ErrNotAvailable, d.opts.Backend)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%w: nothing says which directory %s is", engine.ErrNotAvailable, dir)
	}
	k, err := keepOf(&limits)
	if err != nil {
		return nil, err
	}
	if k.Inodes > 0 {
		k.Inodes += overlayInodes
	}
	k.Lower, k.LowerDev, k.LowerIno = dir, uint64(st.Dev), st.Ino
	w, err := d.newWorkspace(ctx, k)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Upper implements engine.OverlayWorkspace.
func (w *workspace) Upper() *os.File { return w.upper }
