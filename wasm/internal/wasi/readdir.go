package wasi

import (
	"encoding/binary"
	"io"
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/errno"
)

const (
	direntSize = 24
	// maxListed bounds the directory entries that the open descriptors of a run hold together: 2^18 names
	// of 255 bytes are 80 MB.
	maxListed = 1 << 18
	// readdirBatch is how many entries are asked of a File at a time.
	readdirBatch = 1024
)

// fdReaddir is fd_readdir(fd, *buf, size, cookie, *used). A cookie is the index of the next entry in a
// list that is made at cookie 0 and kept until it has been read to its end, so changes to the directory
// neither repeat nor skip what was there. The list starts with "." and "..". The last entry is cut where
// the buffer ends; used == size tells the guest to come again.
func fdReaddir(c call, p []uint64) sys.Errno {
	d := c.env.files.get(uint32(p[0]))
	switch {
	case d == nil:
		return sys.EBADF
	case !d.isDir():
		return sys.ENOTDIR
	}
	buf, ok := c.mem.Read(uint32(p[1]), uint32(p[2]))
	if !ok {
		return sys.EFAULT
	}
	if _, ok := c.mem.Read(uint32(p[4]), 4); !ok {
		return sys.EFAULT
	}
	cookie := p[3]
	if cookie == 0 || d.list == nil {
		if err := c.env.makeList(d); err != 0 {
			return err
		}
	}
	used := 0
	for ; cookie < uint64(len(d.list)) && used < len(buf); cookie++ {
		used += putDirent(buf[used:], &d.list[cookie], cookie+1)
	}
	if used < len(buf) {
		c.env.dropList(d)
	}
	c.mem.WriteUint32Le(uint32(p[4]), uint32(used))
	return 0
}

// putDirent writes as much of an entry as fits.
func putDirent(buf []byte, e *sys.Dirent, next uint64) int {
	var head [direntSize]byte
	le := binary.LittleEndian
	le.PutUint64(head[:], next)
	le.PutUint64(head[8:], e.Ino)
	le.PutUint32(head[16:], uint32(len(e.Name)))
	head[20] = filetypeOf(e.Type)
	n := copy(buf, head[:])
	return n + copy(buf[n:], e.Name)
}

// makeList reads the directory from its start.
func (e *Env) makeList(d *descriptor) sys.Errno {
	e.dropList(d)
	f, err := e.open(d)
	if err != 0 {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != 0 {
		return err
	}
	list, err := e.dots(d, f)
	if err != 0 {
		return err
	}
	for {
		batch, err := f.Readdir(readdirBatch)
		if err != 0 {
			return err
		}
		list = append(list, batch...)
		if e.listed+len(list) > maxListed {
			return errno.ENOMEM
		}
		if len(batch) < readdirBatch {
			break
		}
	}
	e.listed += len(list)
	d.list = list
	return 0
}

// dots gives the two entries that an FS leaves out. wasi-libc looks up an inode that is 0 by name, and
// ".." is a name that only the preopen resolves: so it has one.
func (e *Env) dots(d *descriptor, f sys.File) ([]sys.Dirent, sys.Errno) {
	self, err := f.Ino()
	if err != 0 {
		return nil, err
	}
	parent := self
	if d.path != "" {
		st, err := e.fs.Stat(d.path + "/..")
		if err == 0 {
			parent = st.Ino
		}
	}
	return []sys.Dirent{
		{Name: ".", Ino: self, Type: fs.ModeDir},
		{Name: "..", Ino: max(parent, 1), Type: fs.ModeDir},
	}, 0
}

func (e *Env) dropList(d *descriptor) {
	e.listed -= len(d.list)
	d.list = nil
}
