package guestfs

import (
	"hash/fnv"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// devShift leaves room for the device numbers of one host mount, which can span several host file systems.
const devShift = 8

// hostMount is a directory of the host behind an os.Root: the work directory or a granted one.
type hostMount struct {
	root    *os.Root
	ro      bool
	account *account // nil: no limit
	dev     uint64   // what the guest sees for hostDev
	hostDev uint64

	mu     sync.Mutex
	others map[uint64]uint64 // host device to ours, for file systems mounted below the root
}

func newHostMount(root *os.Root, readOnly bool, dev, hostDev uint64, q Quota) *hostMount {
	m := &hostMount{root: root, ro: readOnly, dev: dev, hostDev: hostDev}
	if q != nil {
		m.account = newAccount(q)
	}
	return m
}

func (m *hostMount) readOnly() bool { return m.ro }

// rootPath is rel as os.Root wants it.
func rootPath(rel string) string {
	if rel == "" {
		return "."
	}
	return rel
}

// info is stat(2) or lstat(2).
func (m *hostMount) info(rel string, follow bool) (fi fs.FileInfo, errno sys.Errno) {
	if !hostName(rel) {
		return nil, sys.ENOENT
	}
	var err error
	if follow {
		fi, err = m.root.Stat(rootPath(rel))
	} else {
		fi, err = m.root.Lstat(rootPath(rel))
	}
	return fi, rootErrno(err)
}

// guestStat is what the guest sees of a host file: a device number of ours, and no bits above 0777.
func (m *hostMount) guestStat(fi fs.FileInfo, rel string) wsys.Stat_t {
	st := wsys.NewStat_t(fi)
	st.Mode &= fs.ModeType | permMask
	st.Dev = m.guestDev(st.Dev)
	if st.Ino == 0 {
		st.Ino = inoOfPath(rel)
	}
	return st
}

// inoOfPath stands in for the inode number on Windows, where os gives none: with one number for all, every two files
// would be the same to os.path.samefile.
func inoOfPath(rel string) wsys.Inode {
	h := fnv.New64a()
	_, _ = h.Write([]byte(rel))
	return h.Sum64() | 1
}

func (m *hostMount) guestDev(hostDev uint64) uint64 {
	if hostDev == m.hostDev {
		return m.dev
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.others == nil {
		m.others = make(map[uint64]uint64)
	}
	dev, ok := m.others[hostDev]
	if !ok {
		// Past the room there is for them, file systems share a number.
		dev = m.dev + uint64(min(len(m.others)+1, 1<<devShift-1))
		m.others[hostDev] = dev
	}
	return dev
}

func (m *hostMount) stat(rel string, follow bool) (wsys.Stat_t, sys.Errno) {
	fi, errno := m.info(rel, follow)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	return m.guestStat(fi, rel), 0
}

func (m *hostMount) readlink(rel string) (string, sys.Errno) {
	if !hostName(rel) {
		return "", sys.ENOENT
	}
	if rel == "" {
		return "", sys.EINVAL
	}
	target, err := m.root.Readlink(rel)
	return target, rootErrno(err)
}

func (m *hostMount) mkdir(rel string, perm fs.FileMode) sys.Errno {
	return m.making(rel, 0, func() sys.Errno {
		// With all rights for ourselves at first, so that it can be opened to set its mode.
		if errno := rootErrno(m.root.Mkdir(rel, perm|0o700)); errno != 0 {
			return errno
		}
		m.undoUmask(rel, perm)
		return 0
	})
}

// undoUmask gives a new directory the mode that the guest asked for. The set-group-ID bit that it may have got from
// its parent stays. If it cannot be done the directory is there all the same, with less.
func (m *hostMount) undoUmask(rel string, perm fs.FileMode) {
	fi, err := m.root.Lstat(rel)
	if err == nil && fi.IsDir() && fi.Mode().Perm() != perm {
		_ = m.chmodSame(rel, fi, perm|fi.Mode()&fs.ModeSetgid)
	}
}

// chmodSame changes the mode of what was seen, through a descriptor: os.Root.Chmod follows links, and one to "." that
// appears meanwhile would lead it to the mount's root.
func (m *hostMount) chmodSame(rel string, seen fs.FileInfo, mode fs.FileMode) sys.Errno {
	flag := os.O_RDONLY
	if seen.IsDir() {
		flag |= hostDirectory
	}
	file, fi, errno := m.openSame(rel, flag, seen)
	if errno == sys.EACCES && !seen.IsDir() {
		file, fi, errno = m.openSame(rel, os.O_WRONLY, seen)
	}
	if errno != 0 {
		return errno
	}
	defer file.Close()
	top, err := m.root.Lstat(".")
	switch {
	case err != nil:
		return hostErrno(err)
	case os.SameFile(top, fi):
		return sys.EPERM
	}
	return hostErrno(file.Chmod(mode))
}

func (m *hostMount) symlink(target, rel string) sys.Errno {
	return m.making(rel, int64(len(target)), func() sys.Errno {
		return rootErrno(m.root.Symlink(target, rel))
	})
}

func (m *hostMount) link(from, to string) sys.Errno {
	if !hostName(from) {
		return sys.ENOENT
	}
	return m.making(to, 0, func() sys.Errno {
		return rootErrno(m.root.Link(from, to))
	})
}

// making runs what makes one more name, of an inode of size bytes, under the quota.
func (m *hostMount) making(rel string, size int64, create func() sys.Errno) sys.Errno {
	if !hostName(rel) {
		return sys.EINVAL
	}
	if m.account == nil {
		return create()
	}
	m.account.mu.Lock()
	defer m.account.mu.Unlock()
	if !m.account.quota.Charge(size, 1) {
		if _, err := m.root.Lstat(rel); err == nil {
			return sys.EEXIST // makedirs(exist_ok=True) must work when the disk is full
		}
		return eNOSPC
	}
	errno := create()
	if errno != 0 {
		m.account.quota.Charge(-size, -1)
	}
	return errno
}

func (m *hostMount) unlink(rel string) sys.Errno {
	return m.removing(rel, func() sys.Errno {
		errno := m.unlinkAt(rel, false)
		if errno != sys.EPERM {
			return errno
		}
		if fi, err := m.root.Lstat(rel); err == nil && fi.IsDir() {
			return sys.EISDIR // macOS says EPERM
		}
		return errno
	})
}

func (m *hostMount) rmdir(rel string) sys.Errno {
	return m.removing(rel, func() sys.Errno {
		errno := m.unlinkAt(rel, true)
		if errno == sys.EEXIST {
			errno = sys.ENOTEMPTY // POSIX allows either
		}
		return errno
	})
}

// removing runs what takes the name rel away and gives back to the quota what that frees.
func (m *hostMount) removing(rel string, remove func() sys.Errno) sys.Errno {
	if !hostName(rel) {
		return sys.ENOENT
	}
	if m.account == nil {
		return remove()
	}
	m.account.mu.Lock()
	defer m.account.mu.Unlock()
	fi, err := m.root.Lstat(rel)
	if errno := remove(); errno != 0 {
		return errno
	}
	if err == nil {
		m.account.lostName(fi)
	}
	return 0
}

func (m *hostMount) rename(from, to string, dirOnly bool) sys.Errno {
	if !hostName(from) {
		return sys.ENOENT
	}
	if !hostName(to) {
		return sys.EINVAL
	}
	if m.account == nil {
		return m.renameAt(from, to, dirOnly)
	}
	m.account.mu.Lock()
	defer m.account.mu.Unlock()
	moved, errFrom := m.root.Lstat(from)
	over, errTo := m.root.Lstat(to)
	if errno := m.renameAt(from, to, dirOnly); errno != 0 {
		return errno
	}
	if errFrom == nil && errTo == nil && !os.SameFile(moved, over) {
		m.account.lostName(over)
	}
	return 0
}

// chmod needs a descriptor, so a file that the host lets us neither read nor write keeps its mode.
func (m *hostMount) chmod(rel string, perm fs.FileMode) sys.Errno {
	fi, errno := m.info(rel, true)
	switch {
	case errno != 0:
		return errno
	case !fi.IsDir() && !fi.Mode().IsRegular():
		return sys.EACCES
	}
	return m.chmodSame(rootPath(rel), fi, perm)
}

func (m *hostMount) utimens(rel string, atim, mtim int64, follow bool) sys.Errno {
	if !hostName(rel) {
		return sys.ENOENT
	}
	if follow || rel == "" {
		return rootErrno(m.root.Chtimes(rootPath(rel), hostTime(atim), hostTime(mtim)))
	}
	return m.utimensAt(rel, atim, mtim)
}

// hostTime translates a time for os.Root.Chtimes, where the zero time means to leave it. No number of nanoseconds
// gives the zero time: that lies before what an int64 can say.
func hostTime(nanos int64) time.Time {
	if nanos == sys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}
