package imports

import "errors"

// ErrNotPython is what Files.Scan returns for a file that cannot be imported on any tier: it has a syntax error or an
// unknown encoding, may not be read, or is gone. Python's own error is the better one, so it counts as a file without
// imports.
var ErrNotPython = errors.New("imports: not a file that Python can read")

// Files is the work directory. Names are relative to it, with slashes, and bytes; "." is the work directory itself.
// Links are followed within it, and what lies behind one that leads out is not there. An error means that the decision
// cannot go on; what is not there, or may not be looked at, is none.
//
// One decision calls its methods one at a time.
type Files interface {
	// Stat tells what there is.
	Stat(name string) (Entry, error)
	// List gives the names in a directory, at most MaxNames of them.
	List(name string) (Listing, error)
	// Read returns a regular file of at most most bytes. It returns nil when there is none, or a larger one.
	Read(name string, most int64) ([]byte, error)
	// Scan returns the findings of a source file, or ErrNotPython. It is called once for a file, and never for one
	// that is larger than MaxSource.
	Scan(name string) ([]Finding, error)
}

// EntryType is what a name stands for.
type EntryType uint8

// The types of entries.
const (
	Nothing EntryType = iota
	RegularFile
	Directory
	OtherEntry // a FIFO, a socket, a device
)

// Entry is what Files.Stat returns. Size is in bytes.
type Entry struct {
	Type EntryType
	Size int64
}

// Listing is what Files.List returns. Exists is false for what is not a directory.
type Listing struct {
	Names  []string
	Exists bool
	// Partial: there are more names.
	Partial bool
}

// What one decision may take. A script that goes past it is Undecided.
const (
	MaxFiles   = 2000     // source files that are scanned
	MaxSource  = 32 << 20 // bytes of them
	MaxNames   = 16384    // names of one directory
	maxAll     = 1 << 18  // names of all directories
	maxSteps   = 1 << 17  // parts of dotted names that are imported
	maxLookups = 1 << 16  // folders that are searched for a name
	maxFolders = 64       // folders on sys.path
	maxPath    = 4096     // bytes of a file's name
)
