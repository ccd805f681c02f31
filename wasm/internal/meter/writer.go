package meter

// writer appends the output to b, which is allocated once.
type writer struct{ b []byte }

// result writes the module that was read.
func (p *parser) result() *Module {
	check := p.check()
	globals, exports, names := p.newEntries()
	code := p.codeSize(len(check))
	w := writer{make([]byte, 0, p.outSize(code, len(globals)+len(exports)))}
	w.raw(p.b[:8])
	for _, id := range []byte{secType, secImport, secFunction, secTable, secMemory} {
		w.section(p, id)
	}
	w.extended(p, secGlobal, p.globalVec, 1, globals)
	w.extended(p, secExport, p.exportVec, uint32(len(names)), exports)
	w.section(p, secElement)
	w.code(p, code, check)
	for _, s := range p.names {
		w.raw(p.b[s.start:s.end])
	}
	return &Module{
		Wasm: w.b, Data: p.data, MemoryMin: p.memoryMin, MemoryMax: p.memoryMax, Globals: names,
		Functions: len(p.bodies), Loops: p.loops, Checks: len(p.marks),
	}
}

// check is the code that is injected. See the package comment.
func (p *parser) check() []byte {
	var w writer
	counter := uint32(p.globals)
	w.op(opGlobalGet, counter)
	w.raw([]byte{opI32Const, 0x7f, opI32Add}) // -1
	w.op(opGlobalSet, counter)
	w.op(opGlobalGet, counter)
	w.raw([]byte{opI32Const, 0, opI32LeS, opIf, blockEmpty})
	w.op(opCall, uint32(p.tick))
	w.raw([]byte{opEnd})
	return w.b
}

// newEntries encodes the entries that are added to the global and the export section.
func (p *parser) newEntries() (globals, exports []byte, names []string) {
	var g, e writer
	g.raw([]byte{typeI32, 1, opI32Const}) // mutable
	g.s32(p.opts.Initial)
	g.raw([]byte{opEnd})
	e.export(CounterName, uint32(p.globals))
	names = []string{CounterName}
	if p.hasMutable {
		e.export(StackPointerName, uint32(p.mutable))
		names = append(names, StackPointerName)
	}
	return g.b, e.b, names
}

// codeSize is the size of the content of the code section when each mark becomes n bytes.
func (p *parser) codeSize(n int) int {
	size := lenU32(uint32(len(p.bodies)))
	for _, f := range p.bodies {
		s := f.outSize(n)
		size += lenU32(s) + int(s)
	}
	return size
}

func (f body) outSize(n int) uint32 { return f.end - f.start + f.marks*uint32(n) }

// outSize is an upper bound of the size of the output.
func (p *parser) outSize(code, added int) int {
	const header = 6 // Id and longest size, or longest count, of a section.
	size := 8 + code + added + 2*header*int(numSections)
	for _, id := range []byte{secType, secImport, secFunction, secTable, secMemory, secGlobal, secExport, secElement} {
		size += p.content[id].size()
	}
	for _, s := range p.names {
		size += s.size()
	}
	return size
}

func (w *writer) raw(b []byte) { w.b = append(w.b, b...) }

func (w *writer) u32(v uint32) {
	for ; v >= 0x80; v >>= 7 {
		w.b = append(w.b, byte(v)|0x80)
	}
	w.b = append(w.b, byte(v))
}

func (w *writer) s32(v int32) {
	for ; v >= 64 || v < -64; v >>= 7 {
		w.b = append(w.b, byte(v)|0x80)
	}
	w.b = append(w.b, byte(v)&0x7f)
}

func lenU32(v uint32) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func (w *writer) op(op byte, index uint32) {
	w.b = append(w.b, op)
	w.u32(index)
}

func (w *writer) export(name string, global uint32) {
	w.u32(uint32(len(name)))
	w.b = append(w.b, name...)
	w.op(kindGlobal, global)
}

func (w *writer) header(id byte, size int) { w.op(id, uint32(size)) }

// section copies a section unless it is absent.
func (w *writer) section(p *parser, id byte) {
	if s := p.content[id]; s.size() > 0 {
		w.header(id, s.size())
		w.raw(p.b[s.start:s.end])
	}
}

// extended writes a vector with n more entries.
func (w *writer) extended(p *parser, id byte, v vector, n uint32, entries []byte) {
	count := v.count + n
	w.header(id, lenU32(count)+v.entries.size()+len(entries))
	w.u32(count)
	w.raw(p.b[v.entries.start:v.entries.end])
	w.raw(entries)
}

// code writes the code section, of the given size, with check at each mark.
func (w *writer) code(p *parser, size int, check []byte) {
	if len(p.bodies) == 0 {
		return
	}
	w.header(secCode, size)
	w.u32(uint32(len(p.bodies)))
	marks := p.marks
	for _, f := range p.bodies {
		w.u32(f.outSize(len(check)))
		at := f.start
		for _, m := range marks[:f.marks] {
			w.raw(p.b[at:m])
			w.raw(check)
			at = m
		}
		marks = marks[f.marks:]
		w.raw(p.b[at:f.end])
	}
}
