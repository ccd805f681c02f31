package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Sweep removes the groups that dead processes left under p, and kills what is left in them. Groups of processes that
// live stay, and so do those of other pid or time namespaces, of which nothing can be known from here. It finds only
// groups under the same parents: a process that was in another group left its own there. Each group may take as long
// as [Group.Kill] and [Group.Close].
func Sweep(p *Parent) error {
	stale := make(map[string]*Group)
	var errs []error
	for _, t := range p.trees {
		entries, err := os.ReadDir(t.dir)
		errs = append(errs, err)
		for _, e := range entries {
			name := e.Name()
			if o, ok := parseOwner(name); !ok || !e.IsDir() || !o.dead() {
				continue
			}
			g := stale[name]
			if g == nil {
				g = &Group{version: p.version, figures: newFigures(versions[p.version])}
				stale[name] = g
			}
			g.trees = append(g.trees, tree{dir: filepath.Join(t.dir, name), controllers: t.controllers})
		}
	}
	for _, g := range stale {
		errs = append(errs, g.Kill(), g.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cgroup: sweep: %w", err)
	}
	return nil
}
