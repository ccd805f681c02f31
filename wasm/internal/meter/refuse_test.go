package meter

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// refusal is a module that is refused, and what the message says.
type refusal struct {
	name  string
	src   []byte
	cause string
}

func checkRefused(t *testing.T, kind error, section string, rows []refusal) {
	t.Helper()
	if _, err := Rewrite(base().bytes(), nil); err != nil {
		t.Fatalf("twin without the fault: %v", err)
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			m, err := Rewrite(r.src, nil)
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, kind) || m != nil {
				t.Fatalf("Rewrite = %v, %v, want %v", m, err, kind)
			}
			if !strings.Contains(e.Cause, r.cause) {
				t.Errorf("cause %q, want %q", e.Cause, r.cause)
			}
			if section != "" && e.Section != section {
				t.Errorf("section %q, want %q", e.Section, section)
			}
			if e.Offset < 0 || e.Offset > len(r.src) {
				t.Errorf("offset %d of %d", e.Offset, len(r.src))
			}
		})
	}
}

func imports(module, name string, desc ...byte) []byte {
	return vec(cat(str("sandbar"), str("tick"), []byte{kindFunction, 0}), cat(str(module), str(name), desc))
}

func TestRewrite_State(t *testing.T) {
	immutable := []byte{typeI64, 0, opI64Const, 7, opEnd}
	i32 := []byte{typeI32, 1, opI32Const, 7, opEnd}
	metered, err := Rewrite(base().bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checkRefused(t, ErrState, "", []refusal{
		{"second mutable global", base().with(secGlobal, vec(i32, immutable, i32)...).bytes(), "mutable global 2 beside 0"},
		{"mutable i64", base().with(secGlobal, vec([]byte{typeI64, 1, opI64Const, 7, opEnd})...).bytes(), "global 0 is not an i32"},
		{"mutable reference", base().with(secGlobal, vec([]byte{typeExternref, 1, opRefNull, typeExternref, opEnd})...).bytes(), "global 0 is not an i32"},
		{"metered twice", metered.Wasm, "mutable global 2 beside 0"},
		{"imported mutable global", base().with(secImport, imports("a", "b", kindGlobal, typeI32, 1)...).bytes(), "imported mutable global"},
		{"imported memory", base().with(secImport, imports("a", "b", kindMemory, 0, 1)...).bytes(), "imported memory"},
		{"imported table", base().with(secImport, imports("a", "b", kindTable, typeFuncref, 0, 1)...).bytes(), "imported table"},
		{"imported tag", base().with(secImport, imports("a", "b", kindTag, 0, 0)...).bytes(), "imported exception tag"},
		{"exported tag", base().with(secExport, vec(cat(str("t"), []byte{kindTag, 0}))...).bytes(), "exported exception tag"},
		{"tags", base().with(secTag, vec([]byte{0, 0})...).bytes(), "exception tags"},
		{"two memories", base().with(secMemory, vec([]byte{0, 1}, []byte{0, 1})...).bytes(), "2 memories"},
		{"shared memory", base().with(secMemory, vec([]byte{3, 1, 2})...).bytes(), "shared memory"},
		{"64-bit memory", base().with(secMemory, vec([]byte{4, 1})...).bytes(), "64-bit"},
		{"start function", base().with(secStart, 1).bytes(), "start function"},
		{"passive data", base().with(secData, vec(cat([]byte{1}, str("x")))...).bytes(), "passive"},
		{"passive data, not the first", base().with(secData, vec(dataAt(0, "x"), cat([]byte{1}, str("x")))...).bytes(), "passive"},
		{"data of another memory", base().with(secData, vec(cat([]byte{2, 1, opI32Const, 0, opEnd}, str("x")))...).bytes(), "memory 1"},
		{"data offset from a global", base().with(secData, vec(cat([]byte{0, opGlobalGet, 1, opEnd}, str("x")))...).bytes(), "not an i32.const"},
		{"table.set", base().code(opI32Const, 0, opRefNull, typeFuncref, opTableSet, 0).bytes(), "table.set"},
		{"table.set, unreachable", base().code(0x00, opTableSet, 0).bytes(), "table.set"},
		{"memory.init", base().code(opMisc, 8, 0, 0).bytes(), "memory.init"},
		{"data.drop", base().code(opMisc, 9, 0).bytes(), "data.drop"},
		{"table.init", base().code(opMisc, 12, 0, 0).bytes(), "table.init"},
		{"elem.drop", base().code(opMisc, 13, 0).bytes(), "elem.drop"},
		{"table.copy", base().code(opMisc, 14, 0, 0).bytes(), "table.copy"},
		{"table.grow", base().code(opMisc, 15, 0).bytes(), "table.grow"},
		{"table.fill", base().code(opMisc, 17, 0).bytes(), "table.fill"},
		{"table.grow, long form", base().code(opMisc, 0x8f, 0x80, 0x00, 0).bytes(), "table.grow"},
		{"counter name taken", base().with(secExport, vec(cat(str(CounterName), []byte{kindGlobal, 1}))...).bytes(), "taken"},
		{"stack pointer name taken", base().with(secExport, vec(cat(str(StackPointerName), []byte{kindMemory, 0}))...).bytes(), "taken"},
	})
}

func TestRewrite_Tick(t *testing.T) {
	tick := func(module, name string, desc ...byte) []byte {
		return base().with(secImport, vec(cat(str(module), str(name), desc))...).bytes()
	}
	checkRefused(t, ErrTick, "", []refusal{
		{"no imports", base().without(secImport).bytes(), `no function import "sandbar"."tick"`},
		{"other module", tick("env", "tick", kindFunction, 0), "no function import"},
		{"other name", tick("sandbar", "tock", kindFunction, 0), "no function import"},
		{"with parameters", tick("sandbar", "tick", kindFunction, 1), "not [] -> []"},
		{"a global", tick("sandbar", "tick", kindGlobal, typeI32, 0), "no function import"},
		{"empty module", magic, "no function import"},
	})
}

func TestRewrite_OptionInitial(t *testing.T) {
	if _, err := Rewrite(base().bytes(), &Options{Initial: -1}); err == nil {
		t.Error("Rewrite with Initial -1 = nil, want an error")
	}
}

// The index of the counter must stay unreachable: a source that names it is invalid, its output would not be.
func TestRewrite_CounterOutOfReach(t *testing.T) {
	checkRefused(t, ErrMalformed, "", []refusal{
		{"global.set", base().code(opI32Const, 0, opGlobalSet, 2).bytes(), "global index 2 of 2"},
		{"global.get", base().code(opGlobalGet, 2, 0x1a).bytes(), "global index 2 of 2"},
		{"export", base().with(secExport, vec(cat(str("c"), []byte{kindGlobal, 2}))...).bytes(), "global index 2 of 2"},
		{"global of global", base().with(secGlobal, vec([]byte{typeI32, 0, opGlobalGet, 0, opEnd})...).bytes(), "global index 0 of 0"},
		{"element offset", base().with(secElement, vec([]byte{0, opGlobalGet, 2, opEnd, 0})...).bytes(), "global index 2 of 2"},
		{"no globals", base().without(secGlobal).code(opI32Const, 0, opGlobalSet, 0).bytes(), "global index 0 of 0"},
	})
}

func TestRewrite_TooLarge(t *testing.T) {
	src := make([]byte, MaxSource+1)
	copy(src, magic)
	if _, err := Rewrite(src, nil); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "more than") {
		t.Errorf("Rewrite of %d bytes = %v, want a refusal for its size", len(src), err)
	}
}

// Every prefix of a module is refused, and never for a reason outside of it.
func TestRewrite_Truncated(t *testing.T) {
	src := base().with(secExport, vec(cat(str("memory"), []byte{kindMemory, 0}))...).
		with(secElement, vec([]byte{0, opI32Const, 0, opEnd, 1, 0})...).
		with(secData, vec(dataAt(16, "content"))...).bytes()
	if _, err := Rewrite(src, nil); err != nil {
		t.Fatal(err)
	}
	for n := range src {
		m, err := Rewrite(src[:n], nil)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Offset > n) {
			t.Fatalf("Rewrite of %d bytes: %v", n, err)
		}
		// Cut where a section ends, what is left may be a module.
		if err == nil && !bytes.Contains(m.Wasm, []byte(CounterName)) {
			t.Fatalf("Rewrite of %d bytes: no counter", n)
		}
	}
}

func dataAt(offset int, s string) []byte {
	var w writer
	w.s32(int32(uint32(offset)))
	return cat([]byte{0, opI32Const}, w.b, []byte{opEnd}, str(s))
}
