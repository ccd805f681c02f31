package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sandbar-dev/sandbar/engine"
)

// applyPaths refuses paths of the host that are below no root. WorkDir and Overlay become what their links lead to, so that
// a link that is changed after the check changes nothing. ReadOnly and ReadWrite stay, since scripts see them by these paths.
func (p *Policy) applyPaths(o *engine.Options) error {
	for _, one := range []struct {
		field string
		path  *string
		roots []string
	}{
		{"WorkDir", &o.WorkDir, p.WorkDirs},
		{"Overlay", &o.Overlay, p.Overlays},
	} {
		if *one.path == "" {
			continue
		}
		target, err := allowedPath(one.field, *one.path, one.roots)
		if err != nil {
			return err
		}
		*one.path = target
	}
	for _, many := range []struct {
		field        string
		paths, roots []string
	}{
		{"ReadOnly", o.ReadOnly, p.ReadOnly},
		{"ReadWrite", o.ReadWrite, p.ReadWrite},
	} {
		for i, path := range many.paths {
			if _, err := allowedPath(fmt.Sprintf("%s[%d]", many.field, i), path, many.roots); err != nil {
				return err
			}
		}
	}
	return nil
}

// allowedPath is the path without links, if that is below a root. A path that is not there gets the same answer as one that
// may not be asked for: the answer must not tell what the host has.
func allowedPath(field, path string, roots []string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", &engine.InvalidError{Field: field, Problem: "is not an absolute path"}
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil && slices.ContainsFunc(roots, func(root string) bool { return below(target, root) }) {
		return target, nil
	}
	if len(roots) == 0 {
		return "", &DeniedError{field, "allows no path of the host"}
	}
	return "", &DeniedError{field, "allows what exists at or below " + spelled(roots)}
}

// below reports whether path is root or in it, by the elements of both. Both are absolute and clean.
func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// realRoot checks a root of a policy file, and is its path without links.
func realRoot(root string) (string, error) {
	if !filepath.IsAbs(root) || strings.ContainsRune(root, 0) {
		return "", errors.New("is not an absolute path")
	}
	target, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir() && !info.Mode().IsRegular():
		return "", errors.New("is neither a file nor a directory")
	case othersWrite(info.Mode()):
		return "", fmt.Errorf("its group or other users can write it (mode %#o), and so put links in it", info.Mode().Perm())
	}
	// Who can write above a root can put another one in its place, but for a directory with the sticky bit, as /tmp is.
	for dir := filepath.Dir(target); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		if othersWrite(info.Mode()) && info.Mode()&os.ModeSticky == 0 {
			return "", fmt.Errorf("is in %s, which its group or other users can write", dir)
		}
		if dir == filepath.Dir(dir) {
			return target, nil
		}
	}
}
