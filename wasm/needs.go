package wasm

import "github.com/sandbar-dev/sandbar/wasm/internal/imports"

// A Need is a module, or a function or class of one, that a Python script needs the native tier for: a script that
// imports or uses it does not run in this tier (engine.TierAuto).
type Need struct {
	// Name is dotted: "ctypes", "threading.Thread".
	Name string `json:"name"`
	// Kind is "absent" for a module that this tier lacks, "useless" for one that can be imported and cannot do its
	// work here, and "use" for what counts when it is called or subclassed.
	Kind string `json:"kind"`
	// Reason says in a few words what is missing.
	Reason string `json:"reason"`
}

// Needs lists all that is known beforehand, modules first, each by name. Extension modules of packages, and modules that are
// not found at all, are not in it: they are looked for when a script is decided on.
func Needs() []Need {
	var list []Need
	for _, row := range imports.Table() {
		if row.Kind != imports.Foreign { // no tier has them
			list = append(list, Need{row.Name, row.Kind.String(), row.Reason})
		}
	}
	return list
}
