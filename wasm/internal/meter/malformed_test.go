package meter

import (
	"slices"
	"testing"
)

func TestRewrite_MalformedModule(t *testing.T) {
	raw := func(b ...byte) []byte { return cat(magic, b) }
	checkRefused(t, ErrMalformed, "module", []refusal{
		{"nothing", nil, "length 8"},
		{"not wasm", []byte("#!/bin/sh\n"), "not a module"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), "not a module"},
		{"unknown section", raw(14, 0), "unknown section id 14"},
		{"section size missing", raw(1), "unexpected end"},
		{"section too long", raw(1, 2, 0), "length 2 exceeds"},
		{"section size of 4 GiB", raw(1, 0xff, 0xff, 0xff, 0xff, 0x0f), "exceeds"},
		{"section size of 6 bytes", raw(1, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0), "does not fit"},
		{"section size beyond 32 bits", raw(1, 0x81, 0x80, 0x80, 0x80, 0x10, 0), "does not fit"},
		{"section twice", base().then(sec(secCode, 0)...).bytes(), "code section repeated"},
		{"type section after code", base().then(sec(secType, 0)...).bytes(), "type section repeated or out of order"},
		{"data count after code", base().then(sec(secDataCount, 0)...).bytes(), "data count section repeated or out of order"},
		{"tag section after global", raw(cat(sec(secGlobal, 0), sec(secTag, 0))...), "tag section repeated or out of order"},
		{"byte at the end", base().then(1).bytes(), "unexpected end"},
		{"functions without code", base().without(secCode).bytes(), "1 functions but 0 bodies"},
		{"data count without data", base().with(secDataCount, 1).bytes(), "data count is 1, of 0"},
		{"data count too low", base().with(secDataCount, 0).with(secData, vec(dataAt(0, "x"))...).bytes(), "data count is 0, of 1"},
	})
}

func TestRewrite_MalformedDeclarations(t *testing.T) {
	global := func(init ...byte) []byte {
		return base().with(secGlobal, vec(cat([]byte{typeI32, 0}, init))...).bytes()
	}
	memory := func(b ...byte) []byte { return base().with(secMemory, vec(b)...).bytes() }
	rows := []struct {
		id   byte
		rows []refusal
	}{
		{secCustom, []refusal{
			{"custom name too long", base().then(sec(secCustom, 2, 'x')...).bytes(), "length 2 exceeds"},
			{"custom name not UTF-8", base().then(sec(secCustom, 1, 0xff)...).bytes(), "not UTF-8"},
			{"custom without name", base().then(sec(secCustom)...).bytes(), "unexpected end"},
		}},
		{secType, []refusal{
			{"type count of 4 GiB", base().with(secType, 0xff, 0xff, 0xff, 0xff, 0x0f).bytes(), "count 4294967295 exceeds"},
			{"type form", base().with(secType, vec([]byte{0x5f, 0})...).bytes(), "unknown type form 0x5f"},
			{"type value", base().with(secType, vec([]byte{0x60, 1, 0x7a, 0})...).bytes(), "unknown value type 0x7a"},
			{"type count of params", base().with(secType, vec([]byte{0x60, 0xff, 0x7f})...).bytes(), "count 16383 exceeds"},
			{"types and a byte", base().with(secType, 1, 0x60, 0, 0, 0).bytes(), "1 bytes too many"},
		}},
		{secImport, []refusal{
			{"import kind", base().with(secImport, imports("a", "b", 5)...).bytes(), "unknown import kind"},
			{"import type", base().with(secImport, imports("a", "b", kindFunction, 2)...).bytes(), "type index 2 of 2"},
			{"import mutability", base().with(secImport, imports("a", "b", kindGlobal, typeI32, 2)...).bytes(), "unknown mutability"},
			{"import name", base().with(secImport, imports("a", "\xc0", kindFunction, 0)...).bytes(), "not UTF-8"},
		}},
		{secFunction, []refusal{
			{"function type", base().with(secFunction, 1, 2).bytes(), "type index 2 of 2"},
			{"function count", base().with(secFunction, 2, 0).bytes(), "count 2 exceeds"},
		}},
		{secTable, []refusal{
			{"table type", base().with(secTable, vec([]byte{typeI32, 0, 1})...).bytes(), "unknown reference type"},
			{"table limits", base().with(secTable, vec([]byte{typeFuncref, 2, 1})...).bytes(), "unknown table limits"},
			{"table with value", base().with(secTable, vec([]byte{0x40, 0, typeFuncref, 0, 1, opRefNull, typeFuncref, opEnd})...).bytes(), "unknown reference type 0x40"},
		}},
		{secMemory, []refusal{
			{"memory limits", memory(8, 1, 2), "unknown memory limits"},
			{"memory minimum", memory(0, 0x81, 0x80, 0x04), "65537 to 65536"},
			{"memory maximum", memory(1, 1, 0x81, 0x80, 0x04), "1 to 65537"},
			{"memory order", memory(1, 2, 1), "2 to 1 pages"},
		}},
		{secGlobal, []refusal{
			{"global mutability", base().with(secGlobal, vec([]byte{typeI32, 2, opI32Const, 7, opEnd})...).bytes(), "unknown mutability 0x2"},
			{"global type", base().with(secGlobal, vec([]byte{0x40, 0, opI32Const, 7, opEnd})...).bytes(), "unknown value type"},
			{"constant without end", global(opI32Const, 7, 0), "opcode 0x0 where a constant"},
			{"constant of two", global(opI32Const, 7, opI32Const, 7, opEnd), "opcode 0x41 where a constant"},
			{"constant call", global(opCall, 0, opEnd), "opcode 0x10 in a constant"},
			{"constant of no code", global(opEnd), "opcode 0xb in a constant"},
			{"constant vector", global(opVector, 13, opEnd), "not a constant instruction"},
			{"constant type", global(opRefNull, 0x6e, opEnd), "unknown reference type"},
			{"constant i32 too wide", global(opI32Const, 0xff, 0xff, 0xff, 0xff, 0x3f, opEnd), "does not fit 32"},
		}},
		{secExport, []refusal{
			{"export kind", base().with(secExport, vec(cat(str("x"), []byte{5, 0}))...).bytes(), "unknown export kind"},
			{"export name", base().with(secExport, vec(cat(str("\xff"), []byte{0, 0}))...).bytes(), "not UTF-8"},
		}},
		{secElement, []refusal{
			{"element flags", base().with(secElement, vec([]byte{8})...).bytes(), "unknown element segment flags 0x8"},
			{"element kind", base().with(secElement, vec([]byte{1, 1, 0})...).bytes(), "reserved byte is 0x1"},
			{"element type", base().with(secElement, vec([]byte{5, typeI32, 0})...).bytes(), "unknown reference type"},
		}},
		{secDataCount, []refusal{
			{"data count and a byte", base().with(secDataCount, 0, 0).bytes(), "1 bytes too many"},
		}},
		{secData, []refusal{
			{"data flags", base().with(secData, vec([]byte{3})...).bytes(), "unknown data segment flags"},
			{"data too long", base().with(secData, vec([]byte{0, opI32Const, 0, opEnd, 2, 0})...).bytes(), "length 2 exceeds"},
			{"data at the end", base().with(secData, vec(dataAt(pageSize-1, "xy"))...).bytes(), "outside of the memory"},
			{"data at 4 GiB", base().with(secData, vec(dataAt(1<<32-1, "xy"))...).bytes(), "outside of the memory"},
			{"data without memory", base().without(secMemory).with(secData, vec(dataAt(0, ""))...).bytes(), "outside of the memory"},
		}},
	}
	for _, r := range rows {
		checkRefused(t, ErrMalformed, sections[r.id].name, r.rows)
	}
}

func TestRewrite_MalformedCode(t *testing.T) {
	code := func(code ...byte) []byte { return base().code(code...).bytes() }
	body := func(body ...byte) []byte { return base().body(body...).bytes() }
	deep := slices.Repeat([]byte{opBlock, blockEmpty}, maxDepth)
	checkRefused(t, ErrMalformed, "code section", []refusal{
		{"fewer bodies than functions", base().with(secCode, 0).bytes(), "0 bodies of 1"},
		{"more bodies than functions", base().with(secCode, vec(sized(0, opEnd), sized(0, opEnd))...).bytes(), "2 bodies of 1"},
		{"body beyond the section", base().with(secCode, 1, 9, 0, opEnd).bytes(), "length 9 exceeds"},
		{"bytes behind the bodies", base().with(secCode, 1, 2, 0, opEnd, 0).bytes(), "1 bytes too many"},
		{"empty body", body(), "unexpected end"},
		{"no end", body(0, 0x01), "unexpected end"},
		{"end of a block only", body(0, opBlock, blockEmpty, opEnd), "unexpected end"},
		{"code behind the end", body(0, opEnd, opEnd), "1 bytes behind"},
		{"loop behind the end", body(0, opEnd, opLoop, blockEmpty, opEnd), "3 bytes behind"},
		{"immediate across the end", base().with(secFunction, 2, 0, 0).with(secCode, 2, 2, 0, opI32Const, 2, 0, opEnd).bytes(), "unexpected end"},
		{"locals count", body(0xff, 0xff, 0x03, opEnd), "exceeds"},
		{"locals type", body(1, 1, 0x40, opEnd), "unknown value type"},
		{"locals above the limit", body(1, 0xd1, 0x86, 0x03, typeI32, opEnd), "more than 50000 locals"},
		{"locals above the limit together", body(2, 0xd0, 0x86, 0x03, typeI32, 1, typeI32, opEnd), "more than 50000 locals"},
		{"locals overflow", body(2, 0xff, 0xff, 0xff, 0xff, 0x0f, typeI32, 2, typeI32, opEnd), "more than 50000 locals"},
		{"else without if", code(opElse), "else without if"},
		{"else in a block", code(opIf, blockEmpty, opBlock, blockEmpty, opElse, opEnd, opEnd), "else without if"},
		{"else twice", code(opIf, blockEmpty, opElse, opElse, opEnd), "else without if"},
		{"block type index", code(opLoop, 2, opEnd), "unknown block type 2"},
		{"block type negative", code(opLoop, 0x5f, opEnd), "unknown block type -33"},
		{"block type empty in long form", code(opLoop, 0xc0, 0x7f, opEnd), "unknown block type -64"},
		{"block type too wide", code(opLoop, 0xff, 0xff, 0xff, 0xff, 0x1f, opEnd), "does not fit 33"},
		{"depth", code(cat(deep, slices.Repeat([]byte{opEnd}, maxDepth))...), "nested deeper"},
		{"tail call", code(0x12, 0), "unknown opcode 0x12"},
		{"indirect tail call", code(0x13, 0, 0), "unknown opcode 0x13"},
		{"throw", code(0x08, 0), "unknown opcode 0x8"},
		{"try_table", code(0x1f, blockEmpty, 0, opEnd), "unknown opcode 0x1f"},
		{"atomics", code(0xfe, 0, 0, 0), "unknown opcode 0xfe"},
		{"garbage collection", code(0xfb, 0, 0), "unknown opcode 0xfb"},
		{"misc 18", code(opMisc, 18), "unknown opcode 0xfc 0x12"},
		{"simd hole", code(opVector, 0x9a, 0x01), "unknown opcode 0xfd 0x9a"},
		{"relaxed simd", code(opVector, 0x80, 0x02), "unknown opcode 0xfd 0x100"},
		{"memory.size of memory 1", code(0x3f, 1, 0x1a), "reserved byte"},
		{"memory.grow, long zero", code(opI32Const, 0, 0x40, 0x80, 0x00), "reserved byte is 0x80"},
		{"memory.copy", code(opMisc, 10, 0, 1), "reserved byte"},
		{"memory.fill", code(opMisc, 11, 1), "reserved byte"},
		{"alignment", code(opI32Const, 0, 0x28, 5, 0, 0x1a), "alignment 2^5"},
		{"memory index in the alignment", code(opI32Const, 0, 0x28, 0x42, 0, 0, 0x1a), "alignment 2^66"},
		{"memory offset of 64 bits", code(opI32Const, 0, 0x28, 2, 0x80, 0x80, 0x80, 0x80, 0x10, 0x1a), "does not fit 32"},
		{"local index too wide", code(0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0), "does not fit 32"},
		{"i32.const too wide", code(opI32Const, 0x80, 0x80, 0x80, 0x80, 0x08, 0x1a), "does not fit 32"},
		{"i32.const of 6 bytes", code(opI32Const, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a), "does not fit 32"},
		{"i64.const too wide", code(opI64Const, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x1a), "does not fit 64"},
		{"i64.const of 11 bytes", code(opI64Const, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a), "does not fit 64"},
		{"br_table count", code(opI32Const, 0, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f), "count 4294967295 exceeds"},
		{"select types", code(0x1c, 1, 0x40), "unknown value type"},
		{"ref.null type", code(opRefNull, 0), "unknown reference type"},
	})
}

func TestReader_Signed(t *testing.T) {
	for _, r := range []struct {
		name string
		bits uint
		b    []byte
		want int64
		ok   bool
	}{
		{"zero", 32, []byte{0}, 0, true},
		{"minus one", 32, []byte{0x7f}, -1, true},
		{"minus one, long", 32, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}, -1, true},
		{"largest i32", 32, []byte{0xff, 0xff, 0xff, 0xff, 0x07}, 1<<31 - 1, true},
		{"smallest i32", 32, []byte{0x80, 0x80, 0x80, 0x80, 0x78}, -1 << 31, true},
		{"above i32", 32, []byte{0x80, 0x80, 0x80, 0x80, 0x08}, 0, false},
		{"below i32", 32, []byte{0xff, 0xff, 0xff, 0xff, 0x77}, 0, false},
		{"64", 32, []byte{0xc0, 0x00}, 64, true},
		{"largest s33", 33, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, 1<<32 - 1, true},
		{"smallest s33", 33, []byte{0x80, 0x80, 0x80, 0x80, 0x70}, -1 << 32, true},
		{"largest i64", 64, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}, 1<<63 - 1, true},
		{"smallest i64", 64, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}, -1 << 63, true},
		{"above i64", 64, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 0, false},
		{"cut", 32, []byte{0x80}, 0, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			rd := &reader{b: r.b, end: len(r.b)}
			if got := rd.signed(r.bits); got != r.want || (rd.err == nil) != r.ok || rd.pos != len(r.b) {
				t.Errorf("signed(%d) = %d, %v, at %d, want %d, ok %v", r.bits, got, rd.err, rd.pos, r.want, r.ok)
			}
		})
	}
}
