package guestfs

import (
	"io/fs"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"
)

const (
	nameMax  = 255  // bytes in a component: NAME_MAX
	pathMax  = 4096 // bytes in a path and its NUL: PATH_MAX
	maxLinks = 40   // as Linux: path_resolution(7)

	// maxLookups bounds the components that the walk of one call looks at, over all the links that it expands: each
	// costs the host about a microsecond, and the guest's deadline is not looked at meanwhile. As a component costs as
	// many as it lies deep, a path with ".." or a link out of its mount can go down some 250 levels; others, as far as
	// PATH_MAX.
	maxLookups = 1 << 15
)

// errWalk is what a mount answers to a path that it cannot follow by itself: a link leads out of it, there
// are too many links, or something changed under the call. It never leaves the package.
const errWalk sys.Errno = 0xffff

// lastKind tells what a path ends in, where that is no name.
type lastKind uint8

const (
	lastName lastKind = iota
	lastDot
	lastDotDot
	lastRoot
)

// walk is the resolution of one path.
type walk struct {
	fs *FS
	// abs is the path seen from "/", with single slashes, without "." and without slashes at its ends.
	// It is "" for "/" itself.
	abs string
	// follow says that a link in the last component is followed.
	follow bool
	// dir is set when the path ends in a slash or in dots: what it names must be a directory, and a link there is
	// followed.
	dir     bool
	slash   bool
	last    lastKind // of the path as it was given
	links   int
	lookups int
	settled bool
}

// walkPath begins the resolution of path. A slash at its end, or a last component "." or "..", makes it
// follow a link there.
func (f *FS) walkPath(path string, follow bool) (walk, sys.Errno) {
	w := walk{fs: f, follow: follow}
	switch {
	case f.closed:
		return w, sys.EBADF
	case path == "":
		return w, sys.ENOENT
	case len(path) >= pathMax:
		return w, sys.ENAMETOOLONG
	case strings.IndexByte(path, 0) >= 0:
		return w, sys.EINVAL
	}
	var errno sys.Errno
	w.abs, w.last, w.slash, errno = clean(path)
	w.dir = w.slash || w.last != lastName
	return w, errno
}

// clean takes slashes and "." out of a path. ".." stays: only the walk knows what it means.
func clean(path string) (abs string, last lastKind, slash bool, errno sys.Errno) {
	path = strings.TrimLeft(path, "/")
	abs = strings.TrimRight(path, "/")
	slash = len(abs) < len(path)
	last = lastRoot
	dirty := false
	for rest := abs; rest != ""; {
		var c string
		c, rest, _ = strings.Cut(rest, "/")
		switch c {
		case "":
			dirty = true
			continue
		case ".":
			dirty = true
			last = lastDot
		case "..":
			last = lastDotDot
		default:
			last = lastName
		}
		if len(c) > nameMax {
			return "", last, slash, sys.ENAMETOOLONG
		}
	}
	if dirty {
		abs = dropDots(abs)
	}
	return abs, last, slash, 0
}

func dropDots(path string) string {
	var b strings.Builder
	for rest := path; rest != ""; {
		var c string
		c, rest, _ = strings.Cut(rest, "/")
		if c == "" || c == "." {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteString(c)
	}
	return b.String()
}

// at runs op on the mount that the path lies in and the path's rest there, "" for the mount's root. While op
// answers errWalk, the walk expands a link and op runs again.
func (w *walk) at(op func(n *node, b backend, rel string) sys.Errno) sys.Errno {
	for {
		if errno := w.normalise(); errno != 0 {
			return errno
		}
		n, rel := w.fs.session.table.locate(w.abs)
		errno := op(n, w.fs.backend(n), rel)
		if errno != errWalk {
			return errno
		}
		if errno := w.again(); errno != 0 {
			return errno
		}
	}
}

// again expands the first link of the path. If there is none, what stopped the mount is gone by now, or hides
// again at the next try; that counts as a link, so that nobody can keep us busy.
func (w *walk) again() sys.Errno {
	expanded, errno := w.expand(true)
	if errno == 0 && !expanded {
		errno = w.countLink()
	}
	return errno
}

// normalise takes the ".." components out of the path, expanding the links before them.
func (w *walk) normalise() sys.Errno {
	for hasDotDot(w.abs) {
		if _, errno := w.expand(false); errno != 0 {
			return errno
		}
	}
	return 0
}

// settle expands all links, so that the mount that the path seems to lie in is the one where it does.
func (w *walk) settle() sys.Errno {
	for !w.settled {
		expanded, errno := w.expand(true)
		if errno != 0 {
			return errno
		}
		w.settled = !expanded
	}
	return 0
}

// expand goes through the path from the start. At the first link it puts the target in the link's place and
// reports true. Until then it takes out each ".." with the component before it, which is a directory.
// Without all it stops behind the last "..".
func (w *walk) expand(all bool) (bool, sys.Errno) {
	done, rest := "", w.abs
	for rest != "" && (all || hasDotDot(rest)) {
		c, tail, _ := strings.Cut(rest, "/")
		if c == ".." {
			done, rest = dirOf(done), tail
			continue
		}
		next := join(done, c)
		if tail != "" || w.follow || w.dir {
			target, errno := w.look(next, tail != "")
			if errno != 0 {
				return false, errno
			}
			if target != "" {
				return true, w.splice(done, target, tail)
			}
		}
		done, rest = next, tail
	}
	w.abs = join(done, rest)
	return false, 0
}

// look returns the target if abs is a link. A component with others behind it must exist and be a directory;
// the last one is left to the call that the walk is for.
func (w *walk) look(abs string, inner bool) (target string, errno sys.Errno) {
	n, rel := w.fs.session.table.locate(abs)
	if rel == "" {
		if inner && n.single {
			return "", sys.ENOTDIR
		}
		return "", 0
	}
	if w.lookups += 1 + strings.Count(rel, "/"); w.lookups > maxLookups {
		return "", sys.ELOOP
	}
	b := w.fs.backend(n)
	st, errno := b.stat(rel, false)
	switch {
	case errno == sys.ENOENT && !inner:
		return "", 0
	case errno == errWalk:
		// The path in front of it held no link a moment ago.
		return "", w.countLink()
	case errno != 0:
		return "", errno
	case st.Mode&fs.ModeSymlink != 0:
		target, errno = b.readlink(rel)
		if errno == errWalk || (errno == 0 && target == "") {
			errno = sys.ENOENT
		}
		return target, errno
	case inner && !st.Mode.IsDir():
		return "", sys.ENOTDIR
	}
	return "", 0
}

// splice replaces the path by done/target/tail, or /target/tail for an absolute target.
func (w *walk) splice(done, target, tail string) sys.Errno {
	if errno := w.countLink(); errno != 0 {
		return errno
	}
	path := target
	if target[0] != '/' {
		path = join(done, target)
	}
	abs, last, slash, errno := clean(path)
	if errno != 0 {
		return errno
	}
	if tail == "" && (slash || last != lastName) {
		w.dir = true
	}
	w.abs = join(abs, tail)
	w.settled = false
	return 0
}

func (w *walk) countLink() sys.Errno {
	if w.links++; w.links > maxLinks {
		return sys.ELOOP
	}
	return 0
}

func hasDotDot(abs string) bool {
	for i := strings.Index(abs, ".."); i >= 0; {
		if (i == 0 || abs[i-1] == '/') && (i+2 == len(abs) || abs[i+2] == '/') {
			return true
		}
		next := strings.Index(abs[i+1:], "..")
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	}
	return dir + "/" + name
}

// dirOf returns the path without its last component.
func dirOf(abs string) string {
	return abs[:max(strings.LastIndexByte(abs, '/'), 0)]
}

// split returns the path's directory and its last component.
func split(rel string) (dir, base string) {
	i := strings.LastIndexByte(rel, '/')
	return rel[:max(i, 0)], rel[i+1:]
}
