package imports

import (
	"slices"
	"strings"
)

// Shadowed lists the modules of the library in whose place the folders that come first on sys.path (Config.Cwd and
// Config.Path) have modules of their own, sorted. An interpreter that holds such a module from its start has to forget it.
func Shadowed(cfg Config) ([]string, error) {
	l, err := standard()
	if err != nil || cfg.Files == nil {
		return nil, err
	}
	if cfg, err = cfg.clean(); err != nil {
		return nil, err
	}
	f := newFinder(&cfg, l)
	var found []string
	for _, dir := range f.cwd {
		list, err := f.list(dir.path)
		if err != nil {
			return nil, err
		}
		for name := range list.candidates(l) {
			r, err := f.search([]folder{dir}, name)
			if err != nil {
				return nil, err
			}
			if r.module != nil && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// candidates are the modules of the library that a directory may have a file or folder for.
func (l *listing) candidates(lib *library) map[string]bool {
	out := map[string]bool{}
	add := func(name string) {
		if lib.modules[name] != nil && !lib.fixed[name] && !strings.Contains(name, ".") {
			out[name] = true
		}
	}
	if l.partial {
		for name := range lib.modules {
			add(name)
		}
		return out
	}
	for name := range l.names {
		add(top(name))
	}
	return out
}
