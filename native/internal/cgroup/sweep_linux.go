package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Sweep removes the groups that dead processes left under p, and kills what is left in them. It looks under the groups
// beside ours as well: the dead process was in one of those where each service or login has its own. Groups of processes
// that live stay, and so do those of other pid or time namespaces, of which nothing can be known from here. Each stale
// group may take as long as [Group.Kill] and [Group.Close].
func Sweep(p *Parent) error {
	stale := make(map[string]*Group)
	for _, t := range p.trees {
		for _, dir := range staleIn(t.dir) {
			name := filepath.Base(dir)
			g := stale[name]
			if g == nil {
				g = &Group{version: p.version, figures: newFigures(versions[p.version])}
				stale[name] = g
			}
			g.trees = append(g.trees, tree{dir: dir, controllers: t.controllers})
		}
	}
	var errs []error
	for _, g := range stale {
		errs = append(errs, g.Kill(), g.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cgroup: sweep: %w", err)
	}
	return nil
}

// staleIn returns the groups of dead processes under a group and under those beside it. What cannot be read is not ours
// to sweep.
func staleIn(base string) []string {
	parents := []string{base}
	above := filepath.Dir(base)
	// Above the root of the hierarchy is a directory of another kind.
	if _, err := os.Lstat(filepath.Join(above, "cgroup.procs")); err == nil {
		parents = subdirectories(above)
	}
	var stale []string
	for _, parent := range parents {
		for _, dir := range subdirectories(parent) {
			if o, ok := parseOwner(filepath.Base(dir)); ok && o.dead() {
				stale = append(stale, dir)
			}
		}
	}
	return stale
}

// subdirectories returns the paths of the groups in a group.
func subdirectories(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}
