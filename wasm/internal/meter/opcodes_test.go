package meter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// six is the index that samples use: as an opcode it is not accepted, so an immediate that the compiler reads shorter than
// we do is noticed.
const six = 6

// samples has valid immediates of each kind, in a module of seven of everything.
var samples = [...][]byte{
	immUnknown:  bytes.Repeat([]byte{0}, 18), // If the compiler knows it, any immediates it wants and unreachables.
	immNone:     {},
	immBlock:    {blockEmpty},
	immElse:     {},
	immEnd:      {},
	immIndex:    {six},
	immIndexes:  {six, six},
	immGlobal:   {six},
	immMemArg:   {0, six},
	immMemLane:  {0, six, 1},
	immLane:     {1},
	immZero:     {0},
	immZeros:    {0, 0},
	immI32:      {0x86, 0x86, 0x86, 0x86, six},
	immI64:      {0x86, 0x86, 0x86, 0x86, 0x86, 0x86, 0x86, 0x86, six},
	imm4:        bytes.Repeat([]byte{six}, 4),
	imm8:        bytes.Repeat([]byte{six}, 8),
	imm16:       bytes.Repeat([]byte{six}, 16),
	immBranches: {2, six, six, six},
	immTypes:    {1, typeI64},
	immRefType:  {typeFuncref},
	immState:    {},
}

// opcodeModule has the code in a function of seven locals, in blocks seven deep, where every type of operand is at
// hand.
func opcodeModule(code []byte) []byte {
	seven := func(b ...byte) []byte { return cat([]byte{7}, bytes.Repeat(b, 7)) }
	constant := []byte{typeI32, 0, opI32Const, 0, opEnd}
	body := cat(
		[]byte{1, 7, typeI32}, bytes.Repeat([]byte{opBlock, blockEmpty}, 7), []byte{0},
		code,
		// A longer immediate would eat the i32.const and leave an unknown opcode.
		[]byte{opI32Const, 0xff, 0, 0x1a, 0},
		bytes.Repeat([]byte{opEnd}, 8),
	)
	trivial := sized(0, opEnd)
	return base().
		with(secType, seven(0x60, 0, 0)...).
		with(secFunction, seven(0)...).
		with(secTable, seven(typeFuncref, 0, 1)...).
		with(secGlobal, cat([]byte{7}, bytes.Repeat(constant, 6), []byte{typeI32, 1, opI32Const, 0, opEnd})...).
		with(secElement, vec([]byte{3, 0, 1, six})...).
		with(secCode, cat([]byte{7}, sized(body...), bytes.Repeat(trivial, 6))...).bytes()
}

func around(imm immediate, op []byte) []byte {
	code := cat(op, samples[imm])
	switch imm {
	case immBlock:
		return cat(code, []byte{opEnd})
	case immElse:
		return cat([]byte{opIf, blockEmpty}, code, []byte{opEnd})
	case immEnd:
		return cat([]byte{opBlock, blockEmpty}, code)
	}
	return code
}

// Every opcode is accepted if and only if wazero accepts it, with the same length.
func TestOpcodes_AgreeWithWazero(t *testing.T) {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	refused := 0
	try := func(imm immediate, op []byte) {
		src := opcodeModule(around(imm, op))
		_, err := Rewrite(src, nil)
		if errors.Is(err, ErrState) {
			refused++
			return
		}
		_, werr := r.CompileModule(t.Context(), src)
		if (err == nil) != (werr == nil) {
			t.Errorf("opcode %#x: Rewrite = %v, wazero = %v", op, err, werr)
		}
		if (err == nil) != (imm != immUnknown) {
			t.Errorf("opcode %#x: Rewrite = %v, but the table has %d", op, err, imm)
		}
	}
	for op, imm := range opcodes {
		if imm != immMisc && imm != immVector {
			try(imm, []byte{byte(op)})
		}
	}
	prefixed := func(prefix byte, table []immediate) {
		for op := range 0x180 {
			imm := immUnknown
			if op < len(table) {
				imm = table[op]
			}
			try(imm, cat([]byte{prefix}, leb(op)))
		}
	}
	prefixed(opMisc, misc[:])
	prefixed(opVector, simd[:])
	if refused != 8 {
		t.Errorf("%d opcodes refused for their state, want 8", refused)
	}
}

// Bytes of immediates that look like instructions are not taken for them.
func TestOpcodes_ImmediatesAreNotCode(t *testing.T) {
	lookalike := []byte{opLoop, blockEmpty, opTableSet, 0, opEnd, opLoop, blockEmpty, opEnd}
	for name, code := range map[string][]byte{
		"f64.const":  cat([]byte{opF64Const}, lookalike, []byte{0x1a}),
		"v128.const": cat([]byte{opVector, simdConst}, lookalike, lookalike, []byte{0x1a}),
		"i32.const":  {opI32Const, opLoop, 0x1a},
		"br_table":   {opI32Const, 0, 0x0e, 3, 0, 0, 0, 0},
	} {
		m, err := Rewrite(base().code(code...).bytes(), nil)
		if err != nil || m.Loops != 0 || m.Checks != 0 {
			t.Errorf("%s: %+v, %v, want no loops", name, m, err)
		}
	}
}

// The injected code stands behind the block type, whatever form that has.
func TestOpcodes_BlockTypes(t *testing.T) {
	for _, bt := range [][]byte{
		{blockEmpty}, {typeI32}, {typeI64}, {typeF32}, {typeF64}, {typeV128}, {typeFuncref}, {typeExternref}, {0}, {1}, {0x81, 0x80, 0x00},
	} {
		t.Run(fmt.Sprintf("%#x", bt), func(t *testing.T) {
			loop := cat([]byte{opLoop}, bt)
			m, err := Rewrite(base().code(cat([]byte{0}, loop, []byte{0, opEnd, 0})...).bytes(), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := cat(loop, []byte{
				opGlobalGet, 2, opI32Const, 0x7f, opI32Add, opGlobalSet, 2,
				opGlobalGet, 2, opI32Const, 0, opI32LeS, opIf, blockEmpty, opCall, 0, opEnd,
			})
			if !bytes.Contains(m.Wasm, want) {
				t.Errorf("no check behind %#x in %x", loop, m.Wasm)
			}
			start(t, m.Wasm, 1)
		})
	}
}

// Indexes of several bytes are encoded in full.
func TestRewrite_LongIndexes(t *testing.T) {
	tick := cat(str("sandbar"), str("tick"), []byte{kindFunction, 0})
	other := cat(str("sandbar"), str("other"), []byte{kindFunction, 1})
	constant := []byte{typeI32, 0, opI32Const, 0, opEnd}
	src := base().
		with(secType, vec([]byte{0x60, 0, 0}, []byte{0x60, 0, 1, typeI32})...).
		with(secImport, vec(append(slices.Repeat([][]byte{other}, 200), tick)...)...).
		with(secGlobal, vec(slices.Repeat([][]byte{constant}, 20_000)...)...).
		with(secExport, vec(cat(str("f"), []byte{kindFunction, 0xc9, 0x01}))...).
		code(opLoop, blockEmpty, opEnd).bytes()
	g := start(t, rewrite(t, src, &Options{Initial: 1}).Wasm, 1)
	if g.call(t, "f"); g.ticks != 1 {
		t.Errorf("%d ticks, want 1", g.ticks)
	}
}
