package meter

// constant reads a constant expression of one instruction. If that is i32.const, it returns its value and true.
func (p *parser) constant() (v int32, isI32 bool) {
	at := p.pos
	switch op := p.byte(); op {
	case opI32Const:
		v, isI32 = int32(p.signed(32)), true
	case opI64Const:
		p.signed(64)
	case opF32Const:
		p.take(4)
	case opF64Const:
		p.take(8)
	case opGlobalGet:
		p.globalIndex()
	case opRefNull:
		p.refType()
	case opRefFunc:
		p.u32()
	case opVector:
		if p.u32() != simdConst {
			p.fail(ErrMalformed, at, "not a constant instruction")
		}
		p.take(16)
	default:
		p.fail(ErrMalformed, at, "opcode %#x in a constant expression", op)
	}
	at = p.pos
	if op := p.byte(); op != opEnd {
		p.fail(ErrMalformed, at, "opcode %#x where a constant expression ends", op)
	}
	return v, isI32
}

// Bits of the flags of an element segment.
const (
	elemInactive = 1 // Passive, or declarative with elemExplicit.
	elemExplicit = 2 // An active segment gives its table.
	elemExprs    = 4 // Expressions instead of function indexes.
)

// elementSection checks the framing only: the segments stay. Active ones fill the tables in the same way at each
// instantiation, the others do nothing without table.init.
func (p *parser) elementSection() {
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		at := p.pos
		flags := p.u32()
		if flags > 7 {
			p.fail(ErrMalformed, at, "unknown element segment flags %#x", flags)
			return
		}
		p.elementSegment(flags)
	}
}

func (p *parser) elementSegment(flags uint32) {
	if flags&elemInactive == 0 {
		if flags&elemExplicit != 0 {
			p.u32()
		}
		p.constant()
	}
	exprs := flags&elemExprs != 0
	if flags&(elemInactive|elemExplicit) != 0 {
		if exprs {
			p.refType()
		} else {
			p.zero()
		}
	}
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		if exprs {
			p.constant()
		} else {
			p.u32()
		}
	}
}

// dataSection notes the segments.
func (p *parser) dataSection() {
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		p.dataSegment()
	}
}

func (p *parser) dataSegment() {
	at := p.pos
	switch flags := p.u32(); flags {
	case 0:
	case 1:
		p.fail(ErrState, at, "passive data segment")
	case 2:
		if m := p.u32(); m != 0 {
			p.fail(ErrState, at, "data segment of memory %d", m)
		}
	default:
		p.fail(ErrMalformed, at, "unknown data segment flags %#x", flags)
	}
	v, isI32 := p.constant()
	if !isI32 {
		p.fail(ErrState, at, "offset of a data segment is not an i32.const")
	}
	offset := uint32(v)
	bytes := p.take(p.u32())
	// Instantiation of the source would trap here; without the section, nobody else checks.
	if size := uint64(p.memoryMin) * pageSize; !p.hasMemory || uint64(offset)+uint64(len(bytes)) > size {
		p.fail(ErrMalformed, at, "data segment of %d bytes at %#x is outside of the memory", len(bytes), offset)
	}
	p.data = append(p.data, Segment{offset, bytes})
}
