package imports

import (
	"slices"
	"strings"
)

// Kind is what keeps a script from the wasm tier.
type Kind uint8

// The kinds.
const (
	Absent    Kind = iota + 1 // a module of CPython's library that this tier does not have
	Compiled                  // an extension module, in machine code
	NotFound                  // a module that is neither in this tier nor in the files
	Useless                   // a module that can be imported, and needs what this tier does not have
	Use                       // a function or class that this tier does not have, or that cannot work
	Hidden                    // a file that should replace a module of the library and does not here
	Undecided                 // what could not be looked at
	Foreign                   // a module of other systems, which no tier has: no obstacle
)

var kindNames = [...]string{
	Absent: "absent", Compiled: "compiled", NotFound: "not found", Useless: "useless", Use: "use", Hidden: "hidden", Undecided: "undecided",
	Foreign: "foreign",
}

// String names the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "unknown"
}

// Row is a module, or a function or class of one, that a script needs the native tier for.
type Row struct {
	// Name is dotted: "ctypes", "os.fork".
	Name string
	// Kind is Absent, Useless, Use or Foreign.
	Kind Kind
	// Lacking is for Use: the module has no such name in this tier, so that to import it fails as well.
	Lacking bool
	// Reason says in a few words what is missing.
	Reason string
}

// Table returns everything that scripts need the native tier for: modules and then uses, each by name. The caller
// may change it.
func Table() []Row { return slices.Concat(moduleTable, useTable) }

// Reasons that are said of more than one row.
const (
	noMachineCode = "this tier runs no machine code"
	noProcesses   = "this tier has no processes"
	noThreads     = "this tier has no threads"
	noSockets     = "this tier has no sockets"
	noTerminal    = "this tier has no terminals"
	noMemoryMaps  = "this tier has no shared or mapped memory"
	noOwners      = "files have no owners here"
	noAccounts    = "this tier has no user accounts"
	noSignals     = "no signals come from outside the script here"
	noLocks       = "this tier has no file locks"
)

// group makes a row of each of the names, which spaces separate.
func group(rows []Row, names string, row Row) []Row {
	for name := range strings.FieldsSeq(names) {
		row.Name = name
		rows = append(rows, row)
	}
	return rows
}

// sorted puts rows in the order of their names.
func sorted(rows []Row) []Row {
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// index leads from a name to its row.
func index(rows []Row) map[string]*Row {
	byName := make(map[string]*Row, len(rows))
	for i := range rows {
		byName[rows[i].Name] = &rows[i]
	}
	return byName
}
