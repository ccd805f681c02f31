package meter

// maxLocals and maxDepth bound a function. The first is the limit that the JavaScript embedding sets, the second is far
// above what compilers emit and the scanner keeps a byte per level.
const (
	maxLocals = 50_000
	maxDepth  = 65_536
)

// body is the code of a function in the source, without its size.
type body struct {
	start, end uint32
	marks      uint32 // Number of its marks.
}

func (p *parser) codeSection() {
	n := p.count()
	if n != p.functions {
		p.fail(ErrMalformed, p.content[secCode].start, "%d bodies of %d functions", n, p.functions)
		return
	}
	p.bodies = make([]body, 0, n)
	section := p.end
	for range n {
		size := p.u32()
		start := p.pos
		if p.take(size); p.err != nil {
			return
		}
		end, before := p.pos, len(p.marks)
		p.pos, p.end = start, end
		p.function()
		if p.err != nil {
			return
		}
		p.end = section
		p.bodies = append(p.bodies, body{uint32(start), uint32(end), uint32(len(p.marks) - before)})
	}
}

// function reads a body that ends at p.end.
func (p *parser) function() {
	p.locals()
	if p.opts.Functions {
		p.mark()
	}
	p.code()
	if p.pos != p.end {
		p.fail(ErrMalformed, p.pos, "%d bytes behind the end of the function", p.end-p.pos)
	}
}

func (p *parser) locals() {
	var sum uint64
	groups := p.count()
	for i := 0; i < groups && p.err == nil; i++ {
		at := p.pos
		if sum += uint64(p.u32()); sum > maxLocals {
			p.fail(ErrMalformed, at, "more than %d locals", maxLocals)
		}
		p.valType()
	}
}

// mark has a check injected at the current place.
func (p *parser) mark() { p.marks = append(p.marks, uint32(p.pos)) }

// code reads the instructions up to the end of the function. nest has the opcode of each open block; the function
// itself is the lowest.
func (p *parser) code() {
	p.nest = append(p.nest[:0], opBlock)
	for len(p.nest) > 0 && p.err == nil {
		at := p.pos
		op := p.byte()
		switch imm := opcodes[op]; imm {
		case immNone:
		case immIndex:
			p.u32()
		case immMemArg:
			p.memArg()
		case immI32:
			p.signed(32)
		case immBlock:
			p.block(op, at)
		case immEnd:
			p.nest = p.nest[:len(p.nest)-1]
		case immElse:
			if p.nest[len(p.nest)-1] != opIf {
				p.fail(ErrMalformed, at, "else without if")
			}
			p.nest[len(p.nest)-1] = opElse
		case immMisc:
			p.miscOp(at)
		case immVector:
			p.simdOp(at)
		default:
			p.immediate(imm, op, at)
		}
	}
}

// block reads a block type and opens the block.
func (p *parser) block(op byte, at int) {
	if p.pos < p.end && (p.b[p.pos] == blockEmpty || isValType(p.b[p.pos])) {
		p.pos++
	} else if t := p.signed(33); t < 0 || t >= int64(len(p.emptyTypes)) {
		p.fail(ErrMalformed, at+1, "unknown block type %d", t)
	}
	if len(p.nest) == maxDepth {
		p.fail(ErrMalformed, at, "blocks nested deeper than %d", maxDepth)
		return
	}
	p.nest = append(p.nest, op)
	if op == opLoop {
		p.loops++
		p.mark()
	}
}

// memArg reads alignment and offset. An alignment above that of the widest access would be invalid in any case;
// refusing it here keeps out the bits that other proposals put into it.
func (p *parser) memArg() {
	at := p.pos
	if align := p.u32(); align > 4 {
		p.fail(ErrMalformed, at, "alignment 2^%d", align)
	}
	p.u32()
}

func (p *parser) miscOp(at int) {
	op := p.u32()
	if op >= uint32(len(misc)) {
		p.fail(ErrMalformed, at, "unknown opcode 0xfc %#x", op)
		return
	}
	switch misc[op] {
	case immState:
		p.fail(ErrState, at, "instruction %s", miscNames[op])
	default:
		p.immediate(misc[op], opMisc, at)
	}
}

// miscNames has the names of the refused instructions.
var miscNames = map[uint32]string{
	8: "memory.init", 9: "data.drop", 12: "table.init", 13: "elem.drop", 14: "table.copy", 15: "table.grow", 17: "table.fill",
}

func (p *parser) simdOp(at int) {
	op := p.u32()
	if op >= uint32(len(simd)) || simd[op] == immUnknown {
		p.fail(ErrMalformed, at, "unknown opcode 0xfd %#x", op)
		return
	}
	p.immediate(simd[op], opVector, at)
}

// immediate reads the immediates that code has no case for.
func (p *parser) immediate(imm immediate, op byte, at int) {
	switch imm {
	case immNone:
	case immIndex:
		p.u32()
	case immIndexes:
		p.u32()
		p.u32()
	case immGlobal:
		p.globalIndex()
	case immMemArg:
		p.memArg()
	case immMemLane:
		p.memArg()
		p.byte()
	case immLane:
		p.byte()
	case immZero:
		p.zero()
	case immZeros:
		p.zero()
		p.zero()
	case immI64:
		p.signed(64)
	case imm4:
		p.take(4)
	case imm8:
		p.take(8)
	case imm16:
		p.take(16)
	case immBranches:
		p.indexes(p.count() + 1)
	case immTypes:
		p.valTypes()
	case immRefType:
		p.refType()
	case immState:
		p.fail(ErrState, at, "instruction table.set")
	default:
		p.fail(ErrMalformed, at, "unknown opcode %#x", op)
	}
}

func (p *parser) indexes(n int) {
	for i := 0; i < n && p.err == nil; i++ {
		p.u32()
	}
}
