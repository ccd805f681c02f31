package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// onStderr is what --json has without a file.
const onStderr = "-"

// A reportFile is where --json has its object written. It is open from before the run, so that a run is not
// wasted for a name that cannot be written to, and so that no script has a say in what the name leads to.
type reportFile struct {
	name string
	file *os.File
	ours bool // opened by us
}

// openReport opens what --json names. A file is made, or made empty.
func openReport(name string, opts *engine.Options, stderr *os.File) (*reportFile, error) {
	switch name {
	case "":
		return nil, usageErrorf("--json: empty path")
	case onStderr:
		return &reportFile{name: "stderr", file: stderr}, nil
	}
	path, err := absolute("--json", name)
	if err != nil {
		return nil, err
	}
	if leadsThrough(path, append(slices.Clone(opts.ReadWrite), opts.WorkDir)) {
		return nil, usageErrorf("--json: %s is where the script can write: it could make a link of that name", name)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, usageErrorf("--json: open %s: %w", name, cause(err))
	}
	return &reportFile{name: name, file: f, ours: true}, nil
}

// write writes the object, and closes the file.
func (f *reportFile) write(res *engine.Result) error {
	if f == nil {
		return nil
	}
	if err := errors.Join(newReport(res).write(f.file), f.close()); err != nil {
		return outputError(f.name, err)
	}
	return nil
}

// close may be called again.
func (f *reportFile) close() error {
	if f == nil || !f.ours {
		return nil
	}
	f.ours = false
	return f.file.Close()
}

// maxLinks is how many symbolic links Linux follows: path_resolution(7).
const maxLinks = 40

// leadsThrough reports whether a name on the way to an absolute path is looked up in one of the directories, or below.
// Who can write there decides where the path leads.
func leadsThrough(path string, dirs []string) bool {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at := root // without links
	links := 0
	for todo := names(path); len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && liesIn(at, withoutLinks(dir)) }) {
			return true
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return true // the kernel does not follow it either
		}
		if filepath.IsAbs(target) {
			at = root
		}
		todo = append(names(target), todo...)
	}
	return false
}

// names are the names of a path, without the volume.
func names(path string) []string {
	path = filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	return slices.DeleteFunc(strings.Split(path, "/"), func(name string) bool { return name == "" || name == "." })
}

// liesIn reports whether path is dir or lies in it. Both are without links.
func liesIn(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// withoutLinks is the path without links, or as it is where that is not known.
func withoutLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
