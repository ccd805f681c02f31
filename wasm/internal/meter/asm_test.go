package meter

import "slices"

// The smallest assembler that can also write what is wrong.

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func leb(v int) []byte {
	var w writer
	w.u32(uint32(v))
	return w.b
}

func str(s string) []byte { return cat(leb(len(s)), []byte(s)) }

func vec(items ...[]byte) []byte { return cat(leb(len(items)), cat(items...)) }

func sized(b ...byte) []byte { return cat(leb(len(b)), b) }

func sec(id byte, content ...byte) []byte { return cat([]byte{id}, leb(len(content)), content) }

var magic = []byte("\x00asm\x01\x00\x00\x00")

// mod is a module of its parts, each by section id; custom sections and what is out of order go into tail.
type mod struct {
	parts map[byte][]byte
	tail  []byte
}

// base has one type [] -> [], the metering import, one function, a table, a memory, two globals, and no more.
func base() mod {
	return mod{parts: map[byte][]byte{
		secType:     vec([]byte{0x60, 0, 0}, []byte{0x60, 1, typeI32, 1, typeI32}),
		secImport:   vec(cat(str("sandbar"), str("tick"), []byte{kindFunction, 0})),
		secFunction: vec([]byte{0}),
		secTable:    vec([]byte{typeFuncref, 0, 1}),
		secMemory:   vec([]byte{1, 1, 2}),
		secGlobal:   vec([]byte{typeI32, 1, opI32Const, 7, opEnd}, []byte{typeI64, 0, opI64Const, 7, opEnd}),
		secCode:     vec(sized(0, opEnd)),
	}}
}

func (m mod) with(id byte, content ...byte) mod {
	m.parts[id] = content
	return m
}

func (m mod) without(id byte) mod {
	delete(m.parts, id)
	return m
}

// code makes the function of base have no locals and this code, the last end excluded.
func (m mod) code(code ...byte) mod {
	return m.with(secCode, vec(sized(cat([]byte{0}, code, []byte{opEnd})...))...)
}

// body makes the function of base have this body, locals and end included.
func (m mod) body(body ...byte) mod { return m.with(secCode, vec(sized(body...))...) }

func (m mod) then(tail ...byte) mod {
	m.tail = tail
	return m
}

func (m mod) bytes() []byte {
	out := slices.Clone(magic)
	for _, id := range []byte{
		secType, secImport, secFunction, secTable, secMemory, secTag, secGlobal, secExport, secStart, secElement,
		secDataCount, secCode, secData,
	} {
		if c, ok := m.parts[id]; ok {
			out = append(out, sec(id, c...)...)
		}
	}
	return append(out, m.tail...)
}
