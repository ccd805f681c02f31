package meter

// maxPages is the size of a full memory with 32-bit addresses, in pages.
const maxPages = 65536

const pageSize = 65536

// Import and export kinds.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

func (p *parser) typeSection() {
	n := p.count()
	p.emptyTypes = make([]bool, 0, n)
	for range n {
		at := p.pos
		if c := p.byte(); c != 0x60 {
			p.fail(ErrMalformed, at, "unknown type form %#x", c)
		}
		params := p.valTypes()
		results := p.valTypes()
		if p.err != nil {
			return
		}
		p.emptyTypes = append(p.emptyTypes, params+results == 0)
	}
}

func (p *parser) valTypes() int {
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		p.valType()
	}
	return n
}

// typeIndex reads the index of a function type and tells whether the type is [] -> [].
func (p *parser) typeIndex() (empty bool) {
	at := p.pos
	t := p.u32()
	if uint64(t) >= uint64(len(p.emptyTypes)) {
		p.fail(ErrMalformed, at, "type index %d of %d", t, len(p.emptyTypes))
		return false
	}
	return p.emptyTypes[t]
}

func (p *parser) importSection() {
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		module, name := p.name(), p.name()
		p.importDesc(string(module) == p.opts.TickModule && string(name) == p.opts.TickName)
	}
}

// importDesc reads what is imported. isTick says that the names are those of the metering function.
func (p *parser) importDesc(isTick bool) {
	at := p.pos
	switch kind := p.byte(); kind {
	case kindFunction:
		p.importFunction(isTick)
	case kindTable:
		p.fail(ErrState, at, "imported table")
	case kindMemory:
		p.fail(ErrState, at, "imported memory")
	case kindGlobal:
		p.valType()
		if p.mutability() {
			p.fail(ErrState, at, "imported mutable global")
		}
		p.globals++
	case kindTag:
		p.fail(ErrState, at, "imported exception tag")
	default:
		p.fail(ErrMalformed, at, "unknown import kind %#x", kind)
	}
}

func (p *parser) importFunction(isTick bool) {
	at := p.pos
	empty := p.typeIndex()
	if isTick && !p.tickFound {
		if !empty {
			p.fail(ErrTick, at, "type of %q.%q is not [] -> []", p.opts.TickModule, p.opts.TickName)
		}
		p.tick, p.tickFound = p.imported, true
	}
	p.imported++
}

func (p *parser) functionSection() {
	p.functions = p.count()
	for i := 0; i < p.functions && p.err == nil; i++ {
		p.typeIndex()
	}
}

func (p *parser) tableSection() {
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		p.refType()
		at := p.pos
		if flags := p.byte(); flags > 1 {
			p.fail(ErrMalformed, at, "unknown table limits %#x", flags)
		} else {
			p.limits(flags == 1)
		}
	}
}

func (p *parser) memorySection() {
	at := p.pos
	if n := p.count(); n > 1 {
		p.fail(ErrState, at, "%d memories", n)
	} else if n == 1 {
		p.memory()
	}
}

func (p *parser) memory() {
	at := p.pos
	flags := p.byte()
	switch {
	case flags > 7:
		p.fail(ErrMalformed, at, "unknown memory limits %#x", flags)
	case flags&2 != 0:
		p.fail(ErrState, at, "shared memory")
	case flags&4 != 0:
		p.fail(ErrState, at, "memory with 64-bit addresses")
	}
	lo, hi := p.limits(flags&1 != 0)
	if flags&1 == 0 {
		hi = maxPages
	}
	if lo > hi || hi > maxPages {
		p.fail(ErrMalformed, at, "memory of %d to %d pages", lo, hi)
	}
	p.hasMemory, p.memoryMin, p.memoryMax = true, lo, hi
}

func (p *parser) limits(bounded bool) (lo, hi uint32) {
	if lo = p.u32(); bounded {
		hi = p.u32()
	}
	return lo, hi
}

func (p *parser) globalSection() {
	n := p.count()
	p.globalVec = vector{uint32(n), span{p.pos, p.end}}
	for i := 0; i < n && p.err == nil; i++ {
		at := p.pos
		t := p.valType()
		if p.mutability() {
			p.mutableGlobal(at, t)
		}
		p.constant()
		p.globals++
	}
}

// mutableGlobal notes the one mutable global that the caller knows how to put back.
func (p *parser) mutableGlobal(at int, t byte) {
	if t != typeI32 {
		p.fail(ErrState, at, "mutable global %d is not an i32", p.globals)
	}
	if p.hasMutable {
		p.fail(ErrState, at, "mutable global %d beside %d", p.globals, p.mutable)
	}
	p.mutable, p.hasMutable = p.globals, true
}

func (p *parser) mutability() bool {
	at := p.pos
	c := p.byte()
	if c > 1 {
		p.fail(ErrMalformed, at, "unknown mutability %#x", c)
	}
	return c == 1
}

// globalIndex reads the index of a global of the source. An index past the last would be invalid in the source but be the
// counter in the output: the guest could set it.
func (p *parser) globalIndex() {
	at := p.pos
	if g := p.u32(); uint64(g) >= uint64(p.globals) {
		p.fail(ErrMalformed, at, "global index %d of %d", g, p.globals)
	}
}

func (p *parser) exportSection() {
	n := p.count()
	p.exportVec = vector{uint32(n), span{p.pos, p.end}}
	for i := 0; i < n && p.err == nil; i++ {
		at := p.pos
		if name := string(p.name()); name == CounterName || name == StackPointerName {
			p.fail(ErrState, at, "export name %q is taken", name)
		}
		p.exportDesc()
	}
}

func (p *parser) exportDesc() {
	at := p.pos
	switch kind := p.byte(); kind {
	case kindFunction, kindTable, kindMemory:
		p.u32()
	case kindGlobal:
		p.globalIndex()
	case kindTag:
		p.fail(ErrState, at, "exported exception tag")
	default:
		p.fail(ErrMalformed, at, "unknown export kind %#x", kind)
	}
}
