package meter

// Section ids.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
	numSections
)

// sections has the name and the place in the prescribed order of each section; DataCount and Tag are out of step.
var sections = [numSections]struct {
	name  string
	order int
}{
	secCustom:    {"custom section", 0},
	secType:      {"type section", 1},
	secImport:    {"import section", 2},
	secFunction:  {"function section", 3},
	secTable:     {"table section", 4},
	secMemory:    {"memory section", 5},
	secTag:       {"tag section", 6},
	secGlobal:    {"global section", 7},
	secExport:    {"export section", 8},
	secStart:     {"start section", 9},
	secElement:   {"element section", 10},
	secDataCount: {"data count section", 11},
	secCode:      {"code section", 12},
	secData:      {"data section", 13},
}

// parser reads a module from front to back and notes what the writer needs.
type parser struct {
	reader
	opts *Options

	content [numSections]span // Without id and size. Empty for an absent section.
	names   []span            // The "name" custom sections, id and size included.

	emptyTypes []bool // By type index: the type is [] -> [].
	tick       int    // Function index of the metering function; tickFound says that there is one.
	tickFound  bool
	imported   int // Imported functions.
	functions  int // Functions of the function section.
	globals    int // Imported ones included.
	mutable    int // Index of the mutable global; hasMutable says that there is one.
	hasMutable bool
	globalVec  vector // The entries behind the count, to be copied.
	exportVec  vector

	hasMemory            bool
	memoryMin, memoryMax uint32
	dataCount            int64 // Of the data count section, -1 without one.
	data                 []Segment

	bodies []body
	marks  []uint32 // Offsets at which code is injected, in order.
	loops  int
	nest   []byte // Scratch of the body scanner.
}

type span struct{ start, end int }

func (s span) size() int { return s.end - s.start }

// vector is a section that is one vector.
type vector struct {
	count   uint32
	entries span
}

// module reads all sections.
func (p *parser) module() {
	if len(p.b) > MaxSource {
		p.fail(ErrMalformed, 0, "%d bytes, more than %d", len(p.b), MaxSource)
		return
	}
	if string(p.take(8)) != "\x00asm\x01\x00\x00\x00" {
		p.fail(ErrMalformed, 0, "not a module of binary format version 1")
		return
	}
	p.dataCount = -1
	last := 0
	for p.pos < len(p.b) && p.err == nil {
		last = p.next(last)
	}
	p.finish()
}

// next reads a section that must come after the place last, and returns its place.
func (p *parser) next(last int) int {
	at := p.pos
	id := p.byte()
	if id >= numSections {
		p.fail(ErrMalformed, at, "unknown section id %d", id)
		return last
	}
	size := p.u32()
	start := p.pos
	if p.take(size); p.err != nil {
		return last
	}
	order := sections[id].order
	if id != secCustom && order <= last {
		p.fail(ErrMalformed, at, "%s repeated or out of order", sections[id].name)
		return last
	}
	s := span{start, p.pos}
	p.content[id] = s
	p.within(s, sections[id].name, func() { p.dispatch(id, at) })
	return max(order, last)
}

// within runs read over s, which read has to use up.
func (p *parser) within(s span, section string, read func()) {
	p.pos, p.end, p.section = s.start, s.end, section
	if read(); p.pos != s.end {
		p.fail(ErrMalformed, p.pos, "%d bytes too many", s.end-p.pos)
	}
	p.pos, p.end, p.section = s.end, len(p.b), "module"
}

func (p *parser) dispatch(id byte, at int) {
	switch id {
	case secCustom:
		p.custom(at)
	case secType:
		p.typeSection()
	case secImport:
		p.importSection()
	case secFunction:
		p.functionSection()
	case secTable:
		p.tableSection()
	case secMemory:
		p.memorySection()
	case secTag:
		p.fail(ErrState, at, "exception tags")
	case secGlobal:
		p.globalSection()
	case secExport:
		p.exportSection()
	case secStart:
		p.fail(ErrState, at, "start function")
	case secElement:
		p.elementSection()
	case secDataCount:
		p.dataCount = int64(p.u32())
	case secCode:
		p.codeSection()
	case secData:
		p.dataSection()
	}
}

// custom keeps the place of a name section and skips all else.
func (p *parser) custom(at int) {
	if string(p.name()) == "name" && p.opts.KeepNames {
		p.names = append(p.names, span{at, p.end})
	}
	p.pos = p.end
}

// finish checks what concerns several sections or absent ones.
func (p *parser) finish() {
	if p.functions != len(p.bodies) {
		p.fail(ErrMalformed, len(p.b), "%d functions but %d bodies", p.functions, len(p.bodies))
	}
	if p.dataCount >= 0 && p.dataCount != int64(len(p.data)) {
		p.fail(ErrMalformed, len(p.b), "data count is %d, of %d segments", p.dataCount, len(p.data))
	}
	if !p.tickFound {
		p.fail(ErrTick, len(p.b), "no function import %q.%q", p.opts.TickModule, p.opts.TickName)
	}
}
