package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// The bounds of walking a tree that a script has made: how many of the directories between the root and where
// the walk stands are open at once, and how deep it goes.
const (
	descentOpen = 128
	maxDepth    = 1 << 12
)

// errMoved: a directory is not any more where it was seen.
var errMoved = fmt.Errorf("%w: it was moved meanwhile", ErrNotExist)

// A descent stands in a directory of a tree, however deep: it holds the last few directories open, and opens
// the others again, from the top, when it comes back to them. Each step checks that it enters the directory that was
// seen and not what a script has put in its place. So it never follows a link, and ".." is never asked for.
type descent struct {
	root   *os.Root // not closed
	levels []descentLevel
}

type descentLevel struct {
	name string
	info fs.FileInfo
	dir  *os.Root // nil while it is closed
}

// here returns the directory where the descent stands. It is open until the next step.
func (d *descent) here() (*os.Root, error) {
	n := len(d.levels)
	if n == 0 {
		return d.root, nil
	}
	if dir := d.levels[n-1].dir; dir != nil {
		return dir, nil
	}
	return d.reopen()
}

// reopen opens the last levels again. None is open: those that are closed are always the outer ones.
func (d *descent) reopen() (*os.Root, error) {
	dir := d.root
	for i := range d.levels {
		l := &d.levels[i]
		next, err := enter(dir, l.name, l.info)
		if dir != d.root && d.levels[i-1].dir == nil {
			dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir = next
		if i >= len(d.levels)-descentOpen {
			l.dir = dir
		}
	}
	return dir, nil
}

// enter opens the directory name in dir, if it is the one that info describes.
func enter(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	sub, err := openDir(dir, name)
	if err != nil {
		if code := coded(err); errors.Is(code, ErrNotExist) || errors.Is(code, ErrNotDirectory) || errors.Is(code, ErrEscapes) {
			return nil, errMoved
		}
		return nil, err
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(now, info) || errors.Is(err, fs.ErrNotExist) { // in a removed directory there is no "."
		err = errMoved
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// push goes down into the directory that info describes. After an error the descent stands where it stood.
func (d *descent) push(info fs.FileInfo) error {
	if len(d.levels) == maxDepth {
		return &TooLargeError{Path: shorten(d.path(info.Name())), Size: maxDepth + 1, Max: maxDepth}
	}
	dir, err := d.here()
	if err != nil {
		return err
	}
	sub, err := enter(dir, info.Name(), info)
	if err != nil {
		return err
	}
	d.levels = append(d.levels, descentLevel{info.Name(), info, sub})
	if i := len(d.levels) - 1 - descentOpen; i >= 0 && d.levels[i].dir != nil {
		d.levels[i].dir.Close()
		d.levels[i].dir = nil
	}
	return nil
}

// pop goes up to where push was called.
func (d *descent) pop() {
	n := len(d.levels) - 1
	if dir := d.levels[n].dir; dir != nil {
		dir.Close()
	}
	d.levels = d.levels[:n]
}

func (d *descent) close() {
	for len(d.levels) > 0 {
		d.pop()
	}
}

// path names an entry of the directory where the descent stands, from the root.
func (d *descent) path(name string) string {
	if len(d.levels) == 0 {
		return name
	}
	n := len(name)
	for i := range d.levels {
		n += len(d.levels[i].name) + 1
	}
	b := make([]byte, 0, n)
	for i := range d.levels {
		b = append(append(b, d.levels[i].name...), '/')
	}
	return path.Clean(string(append(b, name...)))
}
