package guestfs

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// TreeEntry is one file of an archive.
type TreeEntry struct {
	// Name is slash-separated, relative and clean (fs.ValidPath). Directories need no entry of their own.
	Name string
	// Size is that of the content in bytes. Content of another size is an I/O error for the guest.
	Size    int64
	ModTime time.Time
	// Open gives the content. It is called at the first read of the file, by one goroutine at a time for each
	// entry, and again only if it failed.
	Open func() (io.ReadCloser, error)
}

// Tree is a read-only tree of files, such as the standard library. One Tree serves the whole process: it is safe
// for concurrent use, and content that has been read once stays in memory. Stat and Open read nothing.
type Tree struct {
	nodes map[string]*treeNode
}

type treeNode struct {
	name    string
	st      wsys.Stat_t // without Dev
	kids    []*treeNode // sorted by name
	open    func() (io.ReadCloser, error)
	mu      sync.Mutex // held while content is read
	content atomic.Pointer[[]byte]
}

// NewTree builds a tree of the entries, in any order. Inode numbers follow the order of names, so the same entries
// give the same numbers.
func NewTree(entries []TreeEntry) (*Tree, error) {
	t := &Tree{nodes: make(map[string]*treeNode, len(entries)+len(entries)/8+1)}
	t.nodes[""] = &treeNode{st: fixedStat(0, 1, fs.ModeDir|0o555, 0, 0)}
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range sorted {
		if err := t.add(e); err != nil {
			return nil, err
		}
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.kids, func(a, b *treeNode) int { return strings.Compare(a.name, b.name) })
	}
	return t, nil
}

func (t *Tree) add(e TreeEntry) error {
	switch {
	case !fs.ValidPath(e.Name) || e.Name == "." || strings.IndexByte(e.Name, 0) >= 0:
		return fmt.Errorf("tree entry %q: not a clean relative path", e.Name)
	case e.Size < 0 || e.Open == nil:
		return fmt.Errorf("tree entry %s: no content", e.Name)
	case t.nodes[e.Name] != nil:
		return fmt.Errorf("tree entry %s: exists twice", e.Name)
	}
	mtim := e.ModTime.UnixNano()
	dir, err := t.dir(dirOf(e.Name), mtim)
	if err != nil {
		return fmt.Errorf("tree entry %s: %w", e.Name, err)
	}
	_, base := split(e.Name)
	n := &treeNode{name: base, open: e.Open, st: fixedStat(0, t.nextIno(), 0o444, e.Size, mtim)}
	t.nodes[e.Name] = n
	dir.kids = append(dir.kids, n)
	return nil
}

// dir makes the directory and its parents. A directory is as old as its youngest file.
func (t *Tree) dir(path string, mtim int64) (*treeNode, error) {
	n := t.nodes[path]
	if n == nil {
		parent, err := t.dir(dirOf(path), mtim)
		if err != nil {
			return nil, err
		}
		_, base := split(path)
		n = &treeNode{name: base, st: fixedStat(0, t.nextIno(), fs.ModeDir|0o555, 0, mtim)}
		t.nodes[path] = n
		parent.kids = append(parent.kids, n)
		parent.st.Nlink++
	}
	if !n.st.Mode.IsDir() {
		return nil, fmt.Errorf("%s is a file", path)
	}
	if mtim > n.st.Mtim {
		n.st.Atim, n.st.Mtim, n.st.Ctim = mtim, mtim, mtim
	}
	return n, nil
}

func (t *Tree) nextIno() wsys.Inode { return wsys.Inode(len(t.nodes)) + 1 }

func (t *Tree) lookup(rel string) (*treeNode, sys.Errno) {
	if n := t.nodes[rel]; n != nil {
		return n, 0
	}
	for dir := dirOf(rel); dir != ""; dir = dirOf(dir) {
		if n := t.nodes[dir]; n != nil && !n.st.Mode.IsDir() {
			return nil, sys.ENOTDIR
		} else if n != nil {
			break
		}
	}
	return nil, sys.ENOENT
}

// load gives the content, which must not be changed.
func (n *treeNode) load() ([]byte, sys.Errno) {
	if p := n.content.Load(); p != nil {
		return *p, 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.content.Load(); p != nil {
		return *p, 0
	}
	content, err := n.read()
	if err != nil {
		return nil, sys.EIO
	}
	n.content.Store(&content)
	return content, 0
}

func (n *treeNode) read() (_ []byte, err error) {
	r, err := n.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content := make([]byte, n.st.Size)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, err
	}
	// One byte more must be the end. This also makes an archive's reader check its checksum.
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return nil, fmt.Errorf("content is not %d bytes: %w", n.st.Size, err)
	}
	return content, nil
}

// treeMount is a Tree in one session's mount table.
type treeMount struct {
	frozen
	tree *Tree
	dev  uint64
}

func (m *treeMount) stat(rel string, _ bool) (wsys.Stat_t, sys.Errno) {
	n, errno := m.tree.lookup(rel)
	if errno != 0 {
		return wsys.Stat_t{}, errno
	}
	st := n.st
	st.Dev = m.dev
	return st, 0
}

func (m *treeMount) readlink(rel string) (string, sys.Errno) {
	_, errno := m.tree.lookup(rel)
	return "", orEinval(errno)
}

func (m *treeMount) open(_ *FS, rel string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	n, errno := m.tree.lookup(rel)
	if errno == sys.ENOENT {
		errno = checkCreate(m, rel, flag)
	}
	if errno == 0 {
		errno = checkOpen(n.st.Mode, flag, true)
	}
	if errno != 0 {
		return nil, errno
	}
	st := n.st
	st.Dev = m.dev
	if !st.Mode.IsDir() {
		return &bytesFile{st: st, load: n.load}, 0
	}
	return &listing{st: st, count: len(n.kids), entry: func(i int) sys.Dirent {
		k := n.kids[i]
		return sys.Dirent{Ino: k.st.Ino, Name: k.name, Type: k.st.Mode.Type()}
	}}, 0
}
