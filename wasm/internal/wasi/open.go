package wasi

import "github.com/tetratelabs/wazero/experimental/sys"

// pathOpen is path_open(fd, lookupflags, *path, size, oflags, rights, inheriting, fdflags, *opened).
func pathOpen(c call, p []uint64) sys.Errno {
	path, err := c.at(uint32(p[0]), uint32(p[2]), uint32(p[3]))
	if err != 0 {
		return err
	}
	how, err := howToOpen(uint32(p[1]), uint32(p[4]), p[5], uint32(p[7]))
	if err != 0 {
		return err
	}
	result := uint32(p[8])
	if _, ok := c.mem.Read(result, 4); !ok {
		return sys.EFAULT
	}
	fd, err := c.env.files.lowest()
	if err != 0 {
		return err
	}
	d, err := c.env.openFile(path, how)
	if err != 0 {
		return err
	}
	c.env.files.put(fd, d)
	c.mem.WriteUint32Le(result, fd)
	return 0
}

// opening is path_open's flags in the FS's terms.
type opening struct {
	flags       sys.Oflag
	read, write bool
	fdflags     uint16
}

// howToOpen reads the flags. The rights say how the file is used: wasi-libc asks for writing rights
// when, and only when, the program opens for writing.
func howToOpen(lookupflags, oflags uint32, base rights, fdflags uint32) (opening, sys.Errno) {
	follow, err := follows(lookupflags)
	if err != 0 || oflags&^oflagsAll != 0 || fdflags&^fdflagsAll != 0 {
		return opening{}, sys.EINVAL
	}
	if oflags&oflagDirectory != 0 && oflags&^oflagDirectory != 0 {
		return opening{}, sys.EINVAL
	}
	how := opening{fdflags: uint16(fdflags)}
	how.write = base&(rightFdWrite|rightFdAllocate|rightFdFilestatSetSize) != 0
	how.read = !how.write || base&rightFdRead != 0
	switch {
	// POSIX leaves O_RDONLY|O_TRUNC open; Linux truncates. The file must be open for writing for that, the
	// descriptor is not.
	case how.read && (how.write || oflags&oflagTrunc != 0):
		how.flags = sys.O_RDWR
	case how.write:
		how.flags = sys.O_WRONLY
	}
	for _, f := range [...]struct {
		set  bool
		flag sys.Oflag
	}{
		{!follow, sys.O_NOFOLLOW},
		{oflags&oflagDirectory != 0, sys.O_DIRECTORY},
		{oflags&oflagCreat != 0, sys.O_CREAT},
		{oflags&oflagExcl != 0 && oflags&oflagCreat != 0, sys.O_EXCL},
		{oflags&oflagTrunc != 0, sys.O_TRUNC},
		{fdflags&fdflagAppend != 0, sys.O_APPEND},
		{fdflags&fdflagDsync != 0, sys.O_DSYNC},
		{fdflags&fdflagRsync != 0, sys.O_RSYNC},
		{fdflags&fdflagSync != 0, sys.O_SYNC},
	} {
		if f.set {
			how.flags |= f.flag
		}
	}
	return how, 0
}

// openFile opens and says what was opened.
func (e *Env) openFile(path string, how opening) (*descriptor, sys.Errno) {
	f, err := e.fs.OpenFile(path, how.flags, fileMode)
	if err != 0 {
		return nil, err
	}
	d := &descriptor{file: f, read: how.read, write: how.write, flags: how.fdflags}
	if err := d.identify(path, how.flags); err != 0 {
		_ = f.Close()
		return nil, err
	}
	return d, 0
}

// identify fills in what depends on the file's type, and refuses what does not fit it.
func (d *descriptor) identify(path string, flags sys.Oflag) sys.Errno {
	st, err := d.file.Stat()
	if err != 0 {
		return err
	}
	d.filetype = filetypeOf(st.Mode)
	switch {
	case d.filetype == filetypeSymbolicLink:
		return sys.ELOOP
	case d.isDir() && d.write:
		return sys.EISDIR
	case d.isDir():
		d.path = dirPath(path)
	case flags&sys.O_DIRECTORY != 0:
		return sys.ENOTDIR
	}
	return 0
}
