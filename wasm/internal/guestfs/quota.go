package guestfs

import (
	"io/fs"
	"os"
	"sync"
	"syscall"

	wsys "github.com/tetratelabs/wazero/sys"
)

// account keeps a Quota in step with what the runs of a session do to one mount. Its lock is held over looking at
// a file, charging and changing it, so that runs of one session cannot be played against each other. What a
// process outside does meanwhile is not counted here; whoever lets one in must count again.
type account struct {
	mu    sync.Mutex
	quota Quota
	open  map[inode]*openInode
}

type inode struct{ dev, ino uint64 }

// openInode is an inode that runs have open. When its last name goes, the space is given back at the last close:
// else a guest could keep as many unlinked files as it has descriptors beyond its limit.
type openInode struct {
	opens  int
	orphan bool
}

func newAccount(q Quota) *account {
	return &account{quota: q, open: make(map[inode]*openInode)}
}

// inodeOf identifies a file. It cannot on Windows, where a file that is open is not unlinked either.
func inodeOf(fi fs.FileInfo) (id inode, ok bool) {
	st := wsys.NewStat_t(fi)
	return inode{dev: st.Dev, ino: st.Ino}, st.Ino != 0
}

// opened notes an open file. The lock is held. A nil account notes nothing.
func (a *account) opened(fi fs.FileInfo) {
	if a == nil {
		return
	}
	id, ok := inodeOf(fi)
	if !ok {
		return
	}
	if a.open[id] == nil {
		a.open[id] = &openInode{}
	}
	a.open[id].opens++
}

// closing notes that f, which was fi when it was opened, is about to be closed. The lock is held.
func (a *account) closing(f *os.File, fi fs.FileInfo) {
	if a == nil {
		return
	}
	id, ok := inodeOf(fi)
	o := a.open[id]
	if o == nil || !ok {
		return
	}
	if o.opens--; o.opens > 0 {
		return
	}
	delete(a.open, id)
	if !o.orphan {
		return
	}
	if now, err := f.Stat(); err == nil {
		a.quota.Charge(-now.Size(), 0)
	}
}

// lostName gives back what the removal of one name of fi frees. The lock is held.
func (a *account) lostName(fi fs.FileInfo) {
	bytes := int64(0)
	if st := wsys.NewStat_t(fi); !fi.IsDir() && st.Nlink <= 1 {
		bytes = fi.Size()
		if id, ok := inodeOf(fi); ok && a.open[id] != nil {
			a.open[id].orphan = true
			bytes = 0
		}
	}
	a.quota.Charge(-bytes, -1)
}

// grow runs a write of n bytes that begins at start, or at the end for append. It charges what lies past the end
// before, and gives back what was not written.
func (a *account) grow(f *os.File, n int64, appends bool, start func() (int64, error), write func() (int, error)) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := fi.Size()
	from := size
	if !appends {
		if from, err = start(); err != nil {
			return 0, err
		}
	}
	if from+n < from {
		return 0, syscall.EFBIG
	}
	more := max(from+n-size, 0)
	if more > 0 && !a.quota.Charge(more, 0) {
		return 0, syscall.ENOSPC
	}
	written, err := write()
	if grown := max(from+int64(written)-size, 0); written <= 0 || grown < more {
		if written <= 0 {
			grown = 0
		}
		a.quota.Charge(grown-more, 0)
	}
	return written, err
}

// truncate sets the size of f and charges or gives back the difference.
func (a *account) truncate(f *os.File, size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	diff := size - fi.Size()
	if diff > 0 && !a.quota.Charge(diff, 0) {
		return syscall.ENOSPC
	}
	err = f.Truncate(size)
	switch {
	case err != nil && diff > 0:
		a.quota.Charge(-diff, 0)
	case err == nil && diff < 0:
		a.quota.Charge(diff, 0)
	}
	return err
}
