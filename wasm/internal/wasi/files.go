package wasi

import (
	"io"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

const (
	preopenFd   = 3
	preopenName = "/"
	firstFree   = 4
)

// descriptor is an open file, a directory or a standard stream.
type descriptor struct {
	// file is nil for streams, and for the preopen until it is first needed.
	file sys.File
	// out is set for an output stream. A descriptor with neither file nor out that is no directory is
	// standard input.
	out      io.Writer
	filetype filetype
	preopen  bool
	// read and write are how it was opened.
	read, write bool
	flags       uint16
	// path is where a directory was opened, without "." and empty names; the root is "".
	path string
	// list is what fd_readdir goes through.
	list []sys.Dirent
	// number is a stream's inode.
	number uint64
}

func (d *descriptor) isDir() bool { return d.filetype == filetypeDirectory }

// isStream: standard input or output, under whatever number it has now.
func (d *descriptor) isStream() bool { return d.file == nil && !d.isDir() }

func (d *descriptor) isStdin() bool { return d.isStream() && d.out == nil }

// isPipe: it has no offset. Streams are pipes.
func (d *descriptor) isPipe() bool { return d.filetype == filetypeSocketStream }

// rights gives the base and inheriting rights to report.
func (d *descriptor) rights() (base, inheriting rights) {
	if d.isDir() {
		return rightsDirectory, rightsInheriting
	}
	base = rightsFile
	if d.isPipe() {
		base = rightsStream
	}
	if d.read {
		base |= rightsReading
	}
	if d.write {
		base |= rightsWriting
	}
	return base, 0
}

// table maps numbers to descriptors; the lowest free number is given next.
type table struct {
	slots []*descriptor
	max   int
	// low: no number below it is free.
	low int
}

func (t *table) init(slots []*descriptor, limit int) {
	if limit == 0 {
		limit = DefaultMaxFiles
	}
	t.slots, t.max = slots, max(limit, firstFree)
}

func (t *table) get(fd uint32) *descriptor {
	if uint64(fd) >= uint64(len(t.slots)) {
		return nil
	}
	return t.slots[fd]
}

// lowest finds the number for the next descriptor: EMFILE when there is none. Asked before the file is
// opened, so that a full table creates no file.
func (t *table) lowest() (uint32, sys.Errno) {
	for t.low < len(t.slots) && t.slots[t.low] != nil {
		t.low++
	}
	if t.low >= t.max {
		return 0, errno.EMFILE
	}
	return uint32(t.low), 0
}

// put stores d at a number that lowest gave.
func (t *table) put(fd uint32, d *descriptor) {
	if int(fd) == len(t.slots) {
		t.slots = append(t.slots, d)
		return
	}
	t.slots[fd] = d
}

// take removes and returns the descriptor, or nil.
func (t *table) take(fd uint32) *descriptor {
	d := t.get(fd)
	if d != nil {
		t.slots[fd] = nil
		t.low = min(t.low, int(fd))
	}
	return d
}

// release closes what d holds.
func (e *Env) release(d *descriptor) sys.Errno {
	e.dropList(d)
	if d.file == nil {
		return 0
	}
	f := d.file
	d.file = nil
	return f.Close()
}

// open gives the descriptor's file, and opens the preopen now if this is the first use.
func (e *Env) open(d *descriptor) (sys.File, sys.Errno) {
	if d.file == nil && d.preopen {
		f, err := e.fs.OpenFile(".", sys.O_RDONLY|sys.O_DIRECTORY, 0)
		if err != 0 {
			return nil, err
		}
		d.file = f
	}
	return d.file, 0
}

// fdClose is fd_close(fd).
func fdClose(c call, p []uint64) sys.Errno {
	d := c.env.files.take(uint32(p[0]))
	if d == nil {
		return sys.EBADF
	}
	return c.env.release(d)
}

// fdRenumber is fd_renumber(fd, to). Both must be open; what was at to is closed.
func fdRenumber(c call, p []uint64) sys.Errno {
	from, to := uint32(p[0]), uint32(p[1])
	files := &c.env.files
	if files.get(from) == nil || files.get(to) == nil {
		return sys.EBADF
	}
	if from == to {
		return 0
	}
	d, old := files.take(from), files.slots[to]
	files.slots[to] = d
	// As with dup2, what closing the old one answers is lost.
	_ = c.env.release(old)
	return 0
}

// fdPrestatGet is fd_prestat_get(fd, *prestat). wasi-libc counts up from 3 until EBADF.
func fdPrestatGet(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	if d == nil || !d.preopen {
		return sys.EBADF
	}
	// Tag 0 (a directory), three bytes of padding, and the length of the name.
	if !c.mem.WriteUint64Le(uint32(p[1]), uint64(len(preopenName))<<32) {
		return sys.EFAULT
	}
	return 0
}

// fdPrestatDirName is fd_prestat_dir_name(fd, *name, size).
func fdPrestatDirName(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	if d == nil || !d.preopen {
		return sys.EBADF
	}
	if uint32(p[2]) < uint32(len(preopenName)) {
		return sys.ENAMETOOLONG
	}
	if !c.mem.WriteString(uint32(p[1]), preopenName) {
		return sys.EFAULT
	}
	return 0
}
