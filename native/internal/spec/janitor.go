package spec

import "strings"

// Tidying is the second argument of a process that takes away what the host leaves when it is killed. On its
// standard input it gets Places, and Farewell when there is nothing to do; each ends with NUL.
const Tidying = "tidy"

// Farewell says that the host ends in order.
const Farewell = "bye"

// Place is where the host makes directories: those in Dir whose names begin with Prefix. Group: they are cgroups,
// which are removed without what is in them.
type Place struct {
	Dir, Prefix string
	Group       bool
}

const (
	placeGroup = "group"
	placeTree  = "tree"
)

// String is the encoding. Dir and Prefix have no NUL and no newline in them.
func (p Place) String() string {
	kind := placeTree
	if p.Group {
		kind = placeGroup
	}
	return kind + "\n" + p.Dir + "\n" + p.Prefix
}

// ParsePlace decodes a Place. An empty prefix, which would mean everything, is none.
func ParsePlace(s string) (Place, bool) {
	parts := strings.Split(s, "\n")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" || (parts[0] != placeGroup && parts[0] != placeTree) {
		return Place{}, false
	}
	return Place{parts[1], parts[2], parts[0] == placeGroup}, true
}
