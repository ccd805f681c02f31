package imports

import (
	"fmt"
	"path"
	"strings"
)

// Config is what a decision rests on.
type Config struct {
	// Cwd is the run's current directory, sys.path[0]: relative to the work directory. Zero: the work directory.
	Cwd string
	// Path are folders of PYTHONPATH in the work directory, relative to it: they come after Cwd.
	Path []string
	// Venv is the virtual environment, relative to the work directory. Zero: none.
	Venv string
	// WorkDir is the work directory's path as scripts see it, for absolute paths in .pth files.
	WorkDir string
	// Files is the work directory. Nil: an empty one.
	Files Files
	// Auto asks for everything that the tier does not have; else only for what a script surely fails by.
	Auto bool
	// Shadow also looks for files that take the place of modules of the library. It costs a listing of Cwd; without it
	// a script that imports nothing but the library is decided without Files.
	Shadow bool
	// Loaded reports, with Shadow, whether the interpreter holds a module from its start, so that a file of that name
	// is not what an import gives. Nil: it holds none.
	Loaded func(module string) bool
}

// Obstacle is what keeps a script from the wasm tier.
type Obstacle struct {
	Kind Kind
	// Line is where the script has the import, or the use.
	Line int
	// Import is the module as it is written there, "numpy.linalg", or the path of a use, "threading.Thread".
	Import string
	// Via are the modules that lead from the import to what is missing, both included, when it is not Import itself.
	Via []string
	// Reason says in a few words what is missing.
	Reason string
	// Sure: the script would not get past it. Else it may never come to it.
	Sure bool
}

// String gives one line of printable text, as in "line 3: import ctypes: this tier runs no machine code".
func (o *Obstacle) String() string {
	what := o.Name()
	if o.Imported() {
		what = "import " + what
	}
	return fmt.Sprintf("line %d: %s: %s", o.Line, what, o.Why())
}

// Imported reports whether the obstacle is an import, and not a use.
func (o *Obstacle) Imported() bool { return o.Kind != Use || len(o.Via) > 0 }

// Name is Import, fit to be shown.
func (o *Obstacle) Name() string { return clean(o.Import) }

// Why is the reason, after the chain of modules that leads to what is missing.
func (o *Obstacle) Why() string {
	if n := len(o.Via); n > 0 && top(o.Via[n-1]) != top(o.Import) {
		return o.way() + ": " + o.Reason
	}
	return o.Reason
}

// way gives the chain of modules, its middle left out when it is long.
func (o *Obstacle) way() string {
	names := make([]string, 0, 5)
	for i, name := range o.Via {
		switch n := len(o.Via); {
		case n <= 5 || i < 2 || i >= n-2:
			names = append(names, clean(name))
		case i == 2:
			names = append(names, "...")
		}
	}
	return strings.Join(names, " > ")
}

// maxShown is how many bytes of a name are shown.
const maxShown = 200

// clean makes a name of a hostile script fit to be shown on one line: what is not printable becomes "?", and a long
// name is cut in its middle.
func clean(name string) string {
	if len(name) > maxShown {
		name = name[:maxShown/2-2] + "..." + name[len(name)-maxShown/2+1:]
	}
	return strings.Map(func(r rune) rune {
		if printable(r) {
			return r
		}
		return '?'
	}, name)
}

// Decide follows the imports of a script, whose findings it is given, and returns what keeps it from the wasm tier:
// the first obstacle by line, or nil for none. Without Auto only sure obstacles count. The error is one of Files, or
// of the configuration.
//
// It does as CPython would, file by file, as far as that can be known without running one: a module is looked for in
// the current directory, the library and site-packages, in this order; a file that is found is read once, and what it
// imports while it is executed is followed before the next line. An import that fails ends the file, unless a handler
// catches it.
func Decide(script []Finding, cfg Config) (*Obstacle, error) {
	cfg, err := cfg.clean()
	if err != nil {
		return nil, err
	}
	l, err := standard()
	if err != nil {
		return nil, err
	}
	p := &program{cfg: &cfg, finder: newFinder(&cfg, l), nodes: map[string]*node{}}
	return p.script(script)
}

// clean checks the paths and gives them in their shortest form.
func (c Config) clean() (Config, error) {
	for _, p := range []*string{&c.Cwd, &c.Venv} {
		if strings.ContainsRune(*p, 0) || !local(path.Clean(*p)) {
			return c, fmt.Errorf("imports: %q is not in the work directory", *p)
		}
	}
	c.Cwd = path.Clean(c.Cwd)
	if c.Venv != "" {
		c.Venv = path.Clean(c.Venv)
	}
	return c, nil
}
