package guestfs

import (
	"github.com/tetratelabs/wazero/experimental/sys"
)

// pair is the two paths of a rename or a link.
type pair struct {
	from, to           walk
	fromSlash, toSlash bool
}

func (f *FS) pairOf(from, to string) (p pair, errno sys.Errno) {
	if p.from, p.fromSlash, errno = f.entryPath(from); errno != 0 {
		return p, errno
	}
	p.to, p.toSlash, errno = f.entryPath(to)
	return p, errno
}

// at runs op on where the two names lie. Which mounts these are must be known for sure before EXDEV or EROFS
// is given, so the links of both paths are expanded first unless both seem to lie in the same writable mount.
func (p *pair) at(op func(from, to *node, b backend, fromRel, toRel string) sys.Errno) sys.Errno {
	f := p.from.fs
	for {
		if errno := p.each((*walk).normalise); errno != 0 {
			return errno
		}
		a, fromRel := f.session.table.locate(p.from.abs)
		b, toRel := f.session.table.locate(p.to.abs)
		m := f.backend(a)
		if (a != b || m.readOnly()) && (!p.from.settled || !p.to.settled) {
			if errno := p.each((*walk).settle); errno != 0 {
				return errno
			}
			continue
		}
		errno := op(a, b, m, fromRel, toRel)
		if errno != errWalk {
			return errno
		}
		if errno := p.each((*walk).again); errno != 0 {
			return errno
		}
	}
}

func (p *pair) each(do func(*walk) sys.Errno) sys.Errno {
	if errno := do(&p.from); errno != 0 {
		return errno
	}
	return do(&p.to)
}

// Rename implements sys.FS. It replaces files and empty directories; EXDEV between mounts; EBUSY for a mount
// point, for "/" and for a path that ends in dots.
func (f *FS) Rename(from, to string) sys.Errno {
	p, errno := f.pairOf(from, to)
	if errno != 0 {
		return errno
	}
	if p.from.last != lastName || p.to.last != lastName {
		for _, path := range []string{from, to} {
			if errno := f.parentErrno(path); errno != 0 {
				return errno
			}
		}
		return eBUSY
	}
	return p.at(func(a, b *node, m backend, fromRel, toRel string) sys.Errno {
		switch {
		case fromRel == "" || toRel == "":
			return eBUSY
		case a != b:
			return eXDEV
		case m.readOnly():
			return sys.EROFS
		}
		return m.rename(fromRel, toRel, p.fromSlash || p.toSlash)
	})
}

// Link implements sys.FS. A link at the end of from is not followed: the new name is one more for the link
// itself. Directories give EPERM, other mounts EXDEV.
func (f *FS) Link(from, to string) sys.Errno {
	p, errno := f.pairOf(from, to)
	if errno != 0 {
		return errno
	}
	fromDir := p.fromSlash || p.from.last != lastName
	if fromDir {
		if _, errno := f.Stat(from); errno != 0 {
			return errno
		}
	}
	if p.to.last != lastName {
		if _, errno := f.Lstat(from); errno != 0 {
			return errno
		}
		if errno := f.parentErrno(to); errno != 0 {
			return errno
		}
		return sys.EEXIST
	}
	return p.at(func(a, b *node, m backend, fromRel, toRel string) sys.Errno {
		fromDir := fromDir || fromRel == ""
		if a == b && !fromDir && !p.toSlash && toRel != "" && !m.readOnly() {
			return m.link(fromRel, toRel)
		}
		if _, errno := m.stat(fromRel, false); errno != 0 {
			return errno
		}
		switch errno := f.linkable(b, toRel, p.toSlash); {
		case errno != 0:
			return errno
		case a != b:
			return eXDEV
		case fromDir:
			return sys.EPERM
		}
		return sys.EROFS
	})
}

// linkable gives the error that the new name alone deserves.
func (f *FS) linkable(n *node, rel string, slash bool) sys.Errno {
	b := f.backend(n)
	switch _, errno := b.stat(rel, false); {
	case errno == 0:
		return sys.EEXIST
	case errno != sys.ENOENT:
		return errno
	case slash:
		return sys.ENOENT
	}
	return noDir(b, rel)
}
