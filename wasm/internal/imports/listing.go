package imports

import (
	"errors"
	"fmt"
	"strings"
)

// spentError is the end of a decision that takes too much.
type spentError struct{ limit string }

func (e *spentError) Error() string { return "imports: " + e.limit }

// listing is what a directory holds.
type listing struct {
	exists, partial bool
	names           map[string]bool
	// extensions leads from the name of a module to the file of an extension module.
	extensions map[string]string
}

// mayHave reports whether it has a name, or is too large to tell.
func (l *listing) mayHave(name string) bool { return l.names[name] || l.partial }

// list reads a directory, once.
func (f *finder) list(dir string) (*listing, error) {
	if l := f.listings[dir]; l != nil {
		return l, nil
	}
	l := &listing{}
	if len(dir) <= maxPath {
		got, err := f.files.List(dir)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", clean(dir), err)
		}
		if f.names += len(got.Names); f.names > maxAll {
			return nil, &spentError{fmt.Sprintf("more than %d names in the directories that it imports from", maxAll)}
		}
		l.take(got)
	}
	f.listings[dir] = l
	return l, nil
}

func (l *listing) take(got Listing) {
	l.exists, l.partial = got.Exists, got.Partial
	l.names = make(map[string]bool, len(got.Names))
	for _, name := range got.Names {
		l.names[name] = true
		if module, ok := extensionOf(name); ok {
			if l.extensions == nil {
				l.extensions = map[string]string{}
			}
			if was := l.extensions[module]; was == "" || name < was {
				l.extensions[module] = name
			}
		}
	}
}

// extensionOf returns the module that a file name like "x.so", "x.abi3.so" or "x.cp312-win_amd64.pyd" is of.
func extensionOf(file string) (module string, ok bool) {
	if !strings.HasSuffix(file, ".so") && !strings.HasSuffix(file, ".pyd") {
		return "", false
	}
	module, _, _ = strings.Cut(file, ".")
	return module, module != ""
}

// join puts a name below a folder.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// within reports whether a path is a folder or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/') || dir == "."
}

// spent reports whether a decision took too much, and of what.
func spent(err error) (limit string, ok bool) {
	if e, ok := errors.AsType[*spentError](err); ok {
		return e.limit, true
	}
	return "", false
}
