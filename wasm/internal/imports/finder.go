package imports

import (
	"fmt"
	"path"
	"strings"
)

// moduleKind says how a module is found.
type moduleKind uint8

const (
	missing   moduleKind = iota
	inLibrary            // of the tier
	inSource             // a .py file
	inSpace              // a namespace package: directories without an __init__.py
	inMachine            // an extension module, and nothing else
	inBytes              // a .pyc file alone
	inAir                // made by the module above it, which is no package
	noPackage            // below a module of the library that is no package
)

// module is what a name leads to.
type module struct {
	name string
	kind moduleKind
	// file is the one to scan; of an extension module, the one that was found.
	file string
	// folders are where a package of files has its modules; nil for what is none.
	folders []folder
	// own: it is the user's, not a package's that was installed.
	own bool
	// hides: the module of the library by that name is already loaded, so that the file does not count.
	hides bool
}

// folder is a directory with modules.
type folder struct {
	path string
	own  bool
}

// finder finds modules as CPython does. Its answers hold for one decision.
type finder struct {
	cfg      *Config
	library  *library
	files    Files
	cwd      []folder
	site     []folder
	found    map[string]*module
	listings map[string]*listing
	names    int
	lookups  int
	siteRead bool
}

func newFinder(cfg *Config, l *library) *finder {
	f := &finder{cfg: cfg, library: l, files: cfg.Files, found: map[string]*module{}, listings: map[string]*listing{}}
	if f.files != nil {
		f.cwd = []folder{{path: cfg.Cwd, own: true}}
		for _, p := range cfg.Path[:min(len(cfg.Path), maxFolders)] {
			if p = path.Clean(p); local(p) {
				f.cwd = append(f.cwd, folder{path: p, own: true})
			}
		}
	}
	return f
}

// find returns the module of a dotted name. Below is the module above it, nil for a name without a dot.
func (f *finder) find(above *module, name string) (*module, error) {
	var m *module
	var err error
	if above == nil && (!f.cfg.Shadow || f.library.fixed[name]) || above != nil && above.kind == inLibrary {
		m = f.library.modules[name]
	}
	if m == nil {
		m = f.found[name]
	}
	if m != nil {
		return m, nil
	}
	if above == nil {
		m, err = f.findTop(name)
	} else {
		m, err = f.findBelow(above, name)
	}
	if err != nil {
		return nil, err
	}
	if m == nil {
		m = &module{kind: missing}
	}
	if m.kind != inLibrary {
		m.name = name
	}
	f.found[name] = m
	return m, nil
}

// findTop goes along sys.path: what is built in, the current directory, the library, site-packages.
func (f *finder) findTop(name string) (*module, error) {
	known := f.library.modules[name]
	here, err := f.search(f.cwd, name)
	if err != nil || here.module != nil {
		if here.module != nil && known != nil && f.cfg.Loaded != nil {
			here.module.hides = f.cfg.Loaded(name)
		}
		return here.module, err
	}
	if known != nil {
		return known, nil
	}
	site, err := f.sitePackages()
	if err != nil {
		return nil, err
	}
	there, err := f.search(site, name)
	if there.module == nil {
		here.add(there)
		return here.leftover(), err
	}
	return there.module, err
}

// findBelow looks for a part of a package.
func (f *finder) findBelow(above *module, name string) (*module, error) {
	switch above.kind {
	case inLibrary:
		if _, there := f.library.names[name]; !there && moduleRows[name] == nil && !f.library.names[above.name] {
			return &module{kind: noPackage}, nil
		}
		return nil, nil
	case inBytes, inAir:
		return &module{kind: inAir}, nil
	case inSource:
		if above.folders == nil {
			return &module{kind: inAir}, nil
		}
	}
	r, err := f.search(above.folders, name[len(above.name)+1:])
	if r.module == nil {
		return r.leftover(), err
	}
	return r.module, err
}

// result is what a search finds.
type result struct {
	module *module
	// compiled is the first extension module that this tier does not even see, since it is for another interpreter.
	compiled *module
	// portions are those of a namespace package: directories without an __init__.py.
	portions []folder
}

// add takes in the result of a search that went on.
func (r *result) add(more result) {
	if r.compiled == nil {
		r.compiled = more.compiled
	}
	r.portions = append(r.portions, more.portions...)
}

// leftover is what counts when there is no module: natively the extension module would be taken.
func (r *result) leftover() *module {
	switch {
	case r.compiled != nil:
		return r.compiled
	case len(r.portions) > 0:
		return &module{kind: inSpace, folders: r.portions, own: r.portions[0].own}
	}
	return nil
}

// search looks for a name in folders, as importlib's FileFinder does in each.
func (f *finder) search(folders []folder, name string) (all result, err error) {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		return all, nil
	}
	for _, dir := range folders {
		if f.lookups++; f.lookups > maxLookups {
			return all, &spentError{fmt.Sprintf("it looks for modules in more than %d places", maxLookups)}
		}
		l, err := f.list(dir.path)
		if err != nil {
			return all, err
		}
		for _, look := range []func(*listing, folder, string) (result, error){f.packageAt, f.fileIn} {
			r, err := look(l, dir, name)
			if err != nil || r.module != nil {
				return r, err
			}
			all.add(r)
		}
	}
	return all, nil
}

// packageAt returns the package that a directory in a folder is.
func (f *finder) packageAt(parent *listing, dir folder, name string) (r result, err error) {
	if !parent.mayHave(name) {
		return r, nil
	}
	dir.path = join(dir.path, name)
	l, err := f.list(dir.path)
	if err != nil || !l.exists {
		return r, err
	}
	r, err = f.fileIn(l, dir, "__init__")
	for _, m := range []*module{r.module, r.compiled} {
		if m != nil {
			m.folders = []folder{dir}
		}
	}
	if r.module == nil {
		r.portions = []folder{dir}
	}
	return r, err
}

// tierSuffixes are those of extension modules that the tier's interpreter tries to load before it looks for a source
// file, and cannot.
var tierSuffixes = []string{".cpython-313-wasm32-wasi.so", ".abi3.so", ".abi3-wasm32-wasi.so", ".so"}

// fileIn returns the module that a file in a directory is.
func (f *finder) fileIn(l *listing, dir folder, name string) (r result, err error) {
	for _, suffix := range tierSuffixes {
		if r.module, err = f.file(l, dir, name+suffix, inMachine); r.module != nil || err != nil {
			return r, err
		}
	}
	if r.module, err = f.file(l, dir, name+".py", inSource); r.module != nil || err != nil {
		return r, err
	}
	if r.module, err = f.file(l, dir, name+".pyc", inBytes); r.module != nil || err != nil {
		return r, err
	}
	r.compiled, err = f.file(l, dir, l.extensions[name], inMachine)
	return r, err
}

// file returns the module that is a regular file; nil when there is none.
func (f *finder) file(l *listing, dir folder, name string, kind moduleKind) (*module, error) {
	file := join(dir.path, name)
	if name == "" || !l.mayHave(name) || len(file) > maxPath {
		return nil, nil
	}
	e, err := f.files.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", clean(file), err)
	}
	if e.Type != RegularFile {
		return nil, nil
	}
	return &module{kind: kind, file: file, own: dir.own}, nil
}

// sitePackages reads where installed packages are, once.
func (f *finder) sitePackages() ([]folder, error) {
	if f.siteRead || f.files == nil || f.cfg.Venv == "" {
		return f.site, nil
	}
	paths, err := SitePackages(f.files, f.cfg.Venv, f.cfg.WorkDir)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		f.site = append(f.site, folder{path: p, own: !within(p, f.cfg.Venv)})
	}
	f.siteRead = true
	return f.site, nil
}
