package imports

import (
	"maps"
	"slices"
	"strings"
)

// For the tests that ask the interpreter.
var (
	BuiltInModules = strings.Fields(builtInModules)
	FrozenModules  = strings.Fields(frozenModules)
	TierSuffixes   = tierSuffixes
)

// LibraryModules are the modules that the library has.
func LibraryModules() ([]string, error) {
	l, err := standard()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(l.modules)), nil
}
