package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// The bounds of a path: those of Linux (PATH_MAX with its NUL, and the links of one resolution), and one
// for the work that a path made for the purpose can cause.
const (
	maxPath  = 4095
	maxLinks = 40
	maxSteps = 1 << 14
)

// A place is where a path leads: a name in an open directory. The directory is held by its descriptor,
// so that what a script moves or links afterwards does not change which one it is.
type place struct {
	dir  *os.Root
	own  bool   // dir is closed with the place
	rel  string // of name, from the work directory, without links
	name string // one path element; "." for the work directory itself
	// info describes name, which is a link only for who asked not to follow it. It is nil if there is
	// nothing of that name.
	info fs.FileInfo
	// below are the elements of the path after name; there are none if name exists.
	below []string
	// slash is set for a path that ends in a slash: it names a directory.
	slash bool
}

func (p *place) close() {
	if p.own {
		p.dir.Close()
	}
}

// isRoot reports whether the place is the work directory itself.
func (p *place) isRoot() bool { return p.name == "." }

// exists returns ErrNotExist for a place where nothing is, and ErrNotDirectory for a file where the path
// asks for a directory.
func (p *place) exists() error {
	switch {
	case p.info == nil:
		return ErrNotExist
	case p.slash && !p.info.IsDir():
		return ErrNotDirectory
	}
	return nil
}

// Where a path stands while it is above the work directory. The two directories above exist for the
// script but not for file calls: a path may only go through them.
const (
	inWork = iota
	inTmp  // /tmp
	inRoot // /
)

// A walker follows a path element by element, as the kernel does for the script: os.Root would refuse
// absolute links, which for the script lead into the work directory.
type walker struct {
	root  *os.Root
	dir   *os.Root // where it stands, if level is inWork
	names []string // how it got there from root
	level int
	todo  []string
	slash bool
	links int
	steps int
}

// locate follows a path of a file call, or of a link in it. Without follow, a link at the end is not
// followed. The caller closes the place.
func (w *workspace) locate(ctx context.Context, name string, follow bool) (*place, error) {
	if problem := pathProblem(name); problem != "" {
		return nil, &InvalidError{"path", fmt.Sprintf("%q %s", shorten(name), problem)}
	}
	wk := &walker{root: w.root, dir: w.root}
	wk.follow(name)
	p, err := wk.walk(ctx, follow)
	if err != nil {
		wk.leave()
		return nil, err
	}
	return p, nil
}

func pathProblem(name string) string {
	switch {
	case name == "":
		return "is empty"
	case strings.ContainsRune(name, 0):
		return "contains NUL"
	case len(name) > maxPath:
		return fmt.Sprintf("has %d bytes, more than the maximum of %d", len(name), maxPath)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxName {
			return fmt.Sprintf("has a name of %d bytes, more than the maximum of %d", len(part), maxName)
		}
	}
	return ""
}

// follow puts the elements of a path before what is still to do.
func (w *walker) follow(name string) {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	if len(w.todo) == 0 && (strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")) {
		w.slash = true
	}
	if strings.HasPrefix(name, "/") {
		w.leave()
		w.level = inRoot
	}
	w.todo = append(parts, w.todo...)
}

func (w *walker) walk(ctx context.Context, follow bool) (*place, error) {
	for len(w.todo) > 0 {
		part := w.todo[0]
		w.todo = w.todo[1:]
		if err := w.spend(ctx, 1); err != nil {
			return nil, err
		}
		p, err := w.step(ctx, part, follow)
		if p != nil || err != nil {
			return p, err
		}
	}
	if w.level != inWork {
		return nil, ErrEscapes
	}
	info, err := w.dir.Lstat(".")
	if err != nil {
		return nil, coded(err)
	}
	if len(w.names) == 0 {
		return &place{dir: w.root, rel: ".", name: ".", info: info, slash: true}, nil
	}
	// A path that ends in ".." stands in a directory, and its parent is what a place holds.
	last := w.names[len(w.names)-1]
	if err := w.up(ctx); err != nil {
		return nil, err
	}
	w.todo, w.slash = []string{last}, true
	return w.walk(ctx, false)
}

// step goes on by one element. It returns a place when that was the last one, or when there is nothing.
func (w *walker) step(ctx context.Context, part string, follow bool) (*place, error) {
	if w.level != inWork {
		return nil, w.outside(part)
	}
	if part == ".." {
		return nil, w.up(ctx)
	}
	info, err := w.dir.Lstat(part)
	if errors.Is(err, fs.ErrNotExist) {
		return w.place(part, nil), nil
	}
	if err != nil {
		return nil, coded(err)
	}
	last := len(w.todo) == 0
	switch {
	case info.Mode().Type() == fs.ModeSymlink && (!last || follow || w.slash):
		return nil, w.link(part)
	case last:
		return w.place(part, info), nil
	case !info.IsDir():
		return nil, ErrNotDirectory
	}
	sub, err := openDir(w.dir, part)
	if err != nil {
		return nil, coded(err)
	}
	w.enter(sub, append(w.names, part))
	return nil, nil
}

func (w *walker) place(part string, info fs.FileInfo) *place {
	return &place{
		dir:   w.dir,
		own:   w.dir != w.root,
		rel:   path.Join(append(slices.Clone(w.names), part)...),
		name:  part,
		info:  info,
		below: w.todo,
		slash: w.slash,
	}
}

// outside goes on in a directory above the work directory.
func (w *walker) outside(part string) error {
	switch {
	case part == "..":
		w.level = inRoot
	case w.level == inRoot && part == "tmp":
		w.level = inTmp
	case w.level == inTmp && part == path.Base(WorkDir):
		w.level = inWork
	default:
		return ErrEscapes
	}
	return nil
}

// up goes to the parent directory. It does so from the top: ".." of a descriptor is wherever a script
// has moved the directory meanwhile.
func (w *walker) up(ctx context.Context) error {
	n := len(w.names)
	if n == 0 {
		w.level = inTmp
		return nil
	}
	if err := w.spend(ctx, n); err != nil {
		return err
	}
	if n == 1 {
		w.leave()
		return nil
	}
	names := w.names[:n-1]
	dir, err := openDir(w.root, path.Join(names...))
	if err != nil {
		return coded(err)
	}
	w.enter(dir, names)
	return nil
}

func (w *walker) link(part string) error {
	if w.links++; w.links > maxLinks {
		return &InvalidError{"path", "goes through too many symbolic links"}
	}
	target, err := w.dir.Readlink(part)
	if err != nil {
		return coded(err)
	}
	w.follow(target)
	return nil
}

// enter makes dir the directory where the walker stands.
func (w *walker) enter(dir *os.Root, names []string) {
	w.leave()
	w.dir, w.names = dir, names
}

// leave goes back to the work directory.
func (w *walker) leave() {
	if w.dir != w.root {
		w.dir.Close()
	}
	w.dir, w.names = w.root, nil
}

// spend counts work.
func (w *walker) spend(ctx context.Context, steps int) error {
	if w.steps += steps; w.steps > maxSteps {
		return &InvalidError{"path", "goes through too many directories"}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// directory resolves a path to a directory and returns it from the work directory, without links.
func (w *workspace) directory(ctx context.Context, name string) (string, error) {
	p, err := w.locate(ctx, name, true)
	if err != nil {
		return "", err
	}
	defer p.close()
	if err := p.exists(); err != nil {
		return "", err
	}
	if !p.info.IsDir() {
		return "", ErrNotDirectory
	}
	dir, err := openDir(p.dir, p.name) // may it be entered?
	if err != nil {
		return "", coded(err)
	}
	return p.rel, dir.Close()
}
