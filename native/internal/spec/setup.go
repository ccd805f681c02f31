package spec

// Setup is the work of stage 1. It comes from the host, which is trusted, and is encoded as JSON.
type Setup struct {
	// BuildRoot: the init makes the root itself from Base. Otherwise bubblewrap has made it.
	BuildRoot bool
	Base      []Op
	// Final is what the init mounts in either case, after Base.
	Final    []Op
	Hostname string
	// Loopback: the cell has a network namespace of its own, whose loopback is to be brought up.
	Loopback bool
	Landlock Landlock
	// Filter is a seccomp program: struct sock_filter, in the byte order of the machine.
	Filter []byte
	// Rlimits hold for the init as well, so that nothing raises them.
	Rlimits []Rlimit
}

// OpKind says what an Op does.
type OpKind string

// The kinds of Op.
const (
	OpDir     OpKind = "dir"     // make Target, with Mode
	OpSymlink OpKind = "symlink" // make Target, which leads to Source
	OpFile    OpKind = "file"    // make Target with the content Data and with Mode
	OpBind    OpKind = "bind"    // mount Source, or detached mount FD, with what is mounted below it, on Target
	OpTmpfs   OpKind = "tmpfs"   // mount an empty file system of Size bytes and Inodes files on Target
	OpScripts OpKind = "scripts" // OpTmpfs that is read-only in the cell and kept writable as FDScripts
	OpProc    OpKind = "proc"    // mount a /proc of the cell's own PID namespace
	OpDevpts  OpKind = "devpts"  // mount pseudo-terminals of the cell's own
	OpMask    OpKind = "mask"    // cover Target with nothing, if it is there
	OpFreeze  OpKind = "freeze"  // make the mount at Target read-only, without what is mounted below it; if it is there
)

// Op is one step in making a cell's file system. Every mount is nosuid; all but devices are nodev.
type Op struct {
	Kind   OpKind
	Target string
	Source string `json:",omitempty"`
	Data   string `json:",omitempty"`
	Mode   uint32 `json:",omitempty"`
	Size   int64  `json:",omitempty"`
	Inodes int64  `json:",omitempty"`
	// FD is the index of a detached mount, counted from 1; 0 means Source.
	FD int `json:",omitempty"`
	// Dev and Ino are those that the source must have; 0 is not checked.
	Dev, Ino uint64 `json:",omitempty"`
	ReadOnly bool   `json:",omitempty"`
	Device   bool   `json:",omitempty"` // device nodes work
}

// Landlock is a ruleset. It is exact for one version of the kernel's interface: what the version knows
// is restricted.
type Landlock struct {
	ABI   int // 0: the kernel has none
	Rules []Rule
}

// Access is a class of rights below a path.
type Access string

// The classes of rights.
const (
	AccessRead   Access = "read"   // read and execute files, list directories
	AccessWrite  Access = "write"  // AccessRead, and make, change, link and remove
	AccessDevice Access = "device" // read, write and control devices; no making and removing
)

// Rule grants Access at and below Path. A path that is a file gets the rights of files.
type Rule struct {
	Path   string
	Access Access
}

// Rlimit is a limit of setrlimit(2); soft and hard are the same.
type Rlimit struct {
	Resource int
	Value    uint64
}

// Serve is the work of stage 2, encoded as JSON.
type Serve struct {
	// Alone: there must be no network interface but the loopback, and no route out.
	Alone bool
	// Landlock and Filter: these must be in force.
	Landlock int
	Filter   bool
	// Empty lists directories that are emptied between runs.
	Empty []string
	// ReadOnly lists directories in which nothing can be made.
	ReadOnly []string
}

// Ready is what the init found in force, encoded as JSON.
type Ready struct {
	// Facts are for people: what was tried and what came of it.
	Facts map[string]string
}
