package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// provided are directories that every tier makes itself. What is at or below them on the host is never
// the script's: a granted /proc would show the process that runs the sandbox.
var provided = []string{"/dev", "/proc", "/sys", scriptDir}

// scriptDir holds the script of a run.
const scriptDir = "/run/sandbar"

// guestTmp holds WorkDir, and is otherwise empty when a run begins. What is below it on the host can be
// granted by another path alone.
const guestTmp = "/tmp"

// A grantField is a granted path with the option that named it.
type grantField struct {
	Grant
	field string
	real  string // without links
}

// grants checks ReadOnly and ReadWrite and returns them as one list, sorted by path.
func (o *Options) grants() ([]Grant, error) {
	all := make([]grantField, 0, len(o.ReadOnly)+len(o.ReadWrite))
	for i, p := range o.ReadOnly {
		all = append(all, grantField{Grant{p, false}, fmt.Sprintf("ReadOnly[%d]", i), ""})
	}
	for i, p := range o.ReadWrite {
		all = append(all, grantField{Grant{p, true}, fmt.Sprintf("ReadWrite[%d]", i), ""})
	}
	for i := range all {
		if problem := all[i].check(o.WorkDir, o.Overlay); problem != "" {
			return nil, &InvalidError{all[i].field, fmt.Sprintf("%q %s", shorten(all[i].Path), problem)}
		}
	}
	if err := disjoint(all); err != nil {
		return nil, err
	}
	out := make([]Grant, len(all))
	for i, g := range all {
		out[i] = g.Grant
	}
	return out, nil
}

// check says what is wrong with one path, and sets real.
func (g *grantField) check(workDir, overlay string) string {
	switch {
	case strings.ContainsRune(g.Path, 0):
		return "contains NUL"
	case !filepath.IsAbs(g.Path):
		return "is not an absolute path"
	case filepath.Clean(g.Path) != g.Path:
		return fmt.Sprintf("is not in its shortest form, %q", filepath.Clean(g.Path))
	}
	target, err := filepath.EvalSymlinks(g.Path)
	if err != nil {
		return "cannot be reached: " + reasonOf(err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return "cannot be reached: " + reasonOf(err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return "is neither a file nor a directory"
	}
	g.real = target
	if problem := reserved(g.Path, append([]string{guestTmp}, provided...)); problem != "" {
		return problem
	}
	if problem := reserved(target, provided); problem != "" {
		return fmt.Sprintf("is a link to %q, which %s", shorten(target), problem)
	}
	if workDir != "" && entangled(workDir, target) {
		return "and the work directory lie inside each other"
	}
	if overlay != "" && entangled(overlay, target) {
		return "and the overlay directory lie inside each other"
	}
	return ""
}

// entangled reports whether one of two directories is in the other one. Target has no links.
func entangled(dir, target string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	return err == nil && (within(dir, target) || within(target, dir))
}

// reserved says why a path cannot be granted whatever is there: it covers one of dirs, or lies in it.
func reserved(p string, dirs []string) string {
	if p == filepath.Dir(p) {
		return "is the root of the file system"
	}
	for _, dir := range dirs {
		if within(p, dir) || within(dir, p) {
			return "is part of " + dir + ", which each run has of its own"
		}
	}
	return ""
}

// within reports whether p is dir or below it. Both are clean.
func within(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// disjoint sorts the grants and refuses one inside another, as spelled or without links: which of them
// should count is not clear, and guessing wrong opens something.
func disjoint(all []grantField) error {
	for _, key := range []func(g grantField) string{
		func(g grantField) string { return g.real },
		func(g grantField) string { return g.Path }, // last: the order of the result
	} {
		// With a separator at its end, a directory stands right before what is below it.
		slices.SortFunc(all, func(a, b grantField) int {
			const sep = string(filepath.Separator)
			return cmp.Compare(key(a)+sep, key(b)+sep)
		})
		for i := 1; i < len(all); i++ {
			if a, b := all[i-1], all[i]; within(key(b), key(a)) {
				return &InvalidError{b.field, fmt.Sprintf("%q lies inside %q (%s)", shorten(b.Path), shorten(a.Path), a.field)}
			}
		}
	}
	return nil
}
