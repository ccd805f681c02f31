package meter

import "fmt"

// Revision changes whenever Rewrite may give other output for the same input. It belongs into the key of a cache.
const Revision = 1

// Names of the exported globals.
const (
	// CounterName is the counter: an i32, the number of loop heads until the host function is called. Values of zero and below
	// call it at the next loop head.
	CounterName = "sandbar_counter"

	// StackPointerName is the one mutable global that the source has. Absent if it has none.
	StackPointerName = "sandbar_stack_pointer"
)

// Defaults of Options.
const (
	DefaultTickModule = "sandbar"
	DefaultTickName   = "tick"
	DefaultInitial    = 1_000_000
)

// MaxSource is the size of the largest module accepted, in bytes. With it the output is below 4 GiB for any input.
const MaxSource = 128 << 20

// Options change what Rewrite does. The zero value has the defaults.
type Options struct {
	// TickModule and TickName are the two names of the function import that is called when the counter is spent.
	// Empty means DefaultTickModule and DefaultTickName.
	TickModule, TickName string

	// Initial is the first value of the counter: the host function is called at the Initial-th loop head. Zero means
	// DefaultInitial, which is some milliseconds; negative is an error. The host sets the counter from then on.
	Initial int32

	// Functions adds a check to each function entry, so that recursion without loops is metered too.
	Functions bool

	// KeepNames keeps the "name" custom section. All other custom sections are dropped.
	KeepNames bool
}

// Module is a rewritten module.
type Module struct {
	// Wasm is the module without its data. It shares no memory with the source.
	Wasm []byte

	// Data are the segments of the source in order; later ones overwrite earlier ones. All lie within the first
	// MemoryMin pages. Their bytes are those of the source, not copies.
	Data []Segment

	// MemoryMin and MemoryMax are the limits of the memory in pages of 65,536 bytes. Both are zero if there is none;
	// MemoryMax is 65,536 if the source gives no maximum.
	MemoryMin, MemoryMax uint32

	// Globals are the export names of all mutable globals. With the memory, they are the whole state of an instance.
	Globals []string

	// Functions counts the functions that the module defines, Loops their loops, Checks the places where code was injected.
	Functions, Loops, Checks int
}

// Segment is a part of the first content of the memory.
type Segment struct {
	Offset uint32 // In bytes.
	Bytes  []byte
}

// Rewrite returns src metered, without data, and with its mutable globals exported. Nil options have the defaults.
// It does not change or keep src, apart from Module.Data, and may be called concurrently.
// An error about src is an *Error.
func Rewrite(src []byte, opts *Options) (*Module, error) {
	o := withDefaults(opts)
	if o.Initial < 0 {
		return nil, fmt.Errorf("meter: option Initial is %d, below zero", o.Initial)
	}
	p := &parser{reader: reader{b: src, end: len(src), section: "module"}, opts: &o}
	if p.module(); p.err != nil {
		return nil, p.err
	}
	return p.result(), nil
}

func withDefaults(opts *Options) Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TickModule == "" {
		o.TickModule = DefaultTickModule
	}
	if o.TickName == "" {
		o.TickName = DefaultTickName
	}
	if o.Initial == 0 {
		o.Initial = DefaultInitial
	}
	return o
}
