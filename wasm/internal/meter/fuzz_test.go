package meter

import (
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
)

// FuzzRewrite: any bytes give an *Error or a module that wazero accepts if it accepts the bytes.
func FuzzRewrite(f *testing.F) {
	for _, name := range []string{"loops.wasm", "state.wasm", "simd.wasm"} {
		f.Add(wasmFile(f, name), false)
		f.Add(wasmFile(f, name), true)
	}
	f.Add(opcodeModule([]byte{opMisc, 0}), false)
	f.Add(base().with(secData, vec(dataAt(16, "x"))...).with(secDataCount, 1).bytes(), false)
	f.Add(base().with(secElement, vec([]byte{6, 0, opI32Const, 0, opEnd, typeFuncref, 1, opRefNull, typeFuncref, opEnd})...).bytes(), true)
	f.Add(base().code(opI32Const, 0, opIf, blockEmpty, opLoop, blockEmpty, opElse, opEnd, opEnd).bytes(), false)
	f.Add(magic, false)
	r := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter())
	f.Fuzz(func(t *testing.T, src []byte, all bool) { checkRewrite(t, r, src, all) })
}

// FuzzCode is FuzzRewrite for the code of one function, so that the framing around it is right.
func FuzzCode(f *testing.F) {
	for _, code := range [][]byte{
		{opLoop, blockEmpty, opEnd},
		{opBlock, 1, opEnd, opI32Const, 0, opIf, typeI32, opI32Const, 1, opElse, opI32Const, 2, opEnd, 0x0d, 0},
		{0, opLoop, 1, 0x0e, 2, 0, 1, 0, opEnd},
		{opI32Const, 0, opVector, 0x54, 0, 0, 3, opVector, 0x0d},
		cat([]byte{opVector, simdConst}, make([]byte, 16), []byte{0x1a}),
		{opI64Const, 0x80, 0x7f, opGlobalGet, 1, 0x52, opGlobalSet, 0, opMisc, 10, 0, 0},
		{opRefNull, typeFuncref, 0xd1, 0x1c, 1, typeI32, 0x3f, 0, 0x40, 0, 0x11, 0, 0},
	} {
		f.Add(code, false)
	}
	r := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter())
	f.Fuzz(func(t *testing.T, code []byte, all bool) { checkRewrite(t, r, base().code(code...).bytes(), all) })
}

func checkRewrite(t *testing.T, r wazero.Runtime, src []byte, all bool) {
	m, err := Rewrite(src, &Options{Functions: all, KeepNames: all})
	var e *Error
	if err != nil {
		if !errors.As(err, &e) || e.Kind == nil || e.Offset < 0 || e.Offset > len(src) || m != nil {
			t.Fatalf("Rewrite = %v, %#v", m, err)
		}
		return
	}
	checkBounds(t, src, m)
	if compiles(t, r, src) && !compiles(t, r, m.Wasm) {
		t.Fatalf("wazero accepts the source and not the output:\n%x\n%x", src, m.Wasm)
	}
}

// checkBounds checks what must hold of a module of any source.
func checkBounds(t *testing.T, src []byte, m *Module) {
	t.Helper()
	const perCheck = 40 // The injected code, with the longest indexes.
	if most := len(src) + m.Checks*perCheck + 512; cap(m.Wasm) > most {
		t.Fatalf("%d bytes of %d with %d checks, want at most %d", cap(m.Wasm), len(src), m.Checks, most)
	}
	if m.Checks > len(src) || m.Functions > len(src) || len(m.Data) > len(src) {
		t.Fatalf("more of something than bytes: %d checks, %d functions, %d segments of %d", m.Checks, m.Functions, len(m.Data), len(src))
	}
	for _, s := range m.Data {
		if uint64(s.Offset)+uint64(len(s.Bytes)) > uint64(m.MemoryMin)*pageSize {
			t.Fatalf("segment at %d of %d bytes in %d pages", s.Offset, len(s.Bytes), m.MemoryMin)
		}
	}
	if _, err := Rewrite(m.Wasm, nil); len(m.Globals) == 2 && !errors.Is(err, ErrState) {
		t.Fatalf("Rewrite of the output = %v, want %v", err, ErrState)
	}
}

func compiles(t *testing.T, r wazero.Runtime, wasm []byte) bool {
	c, err := r.CompileModule(t.Context(), wasm)
	if err != nil {
		return false
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return true
}
