package meter

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// heads are calls and the number of loop heads that they pass, and of function entries.
var heads = []struct {
	file, fn       string
	args           []uint64
	loops, entries int
}{
	{"loops.wasm", "nested", []uint64{5, 7}, 5 + 5*7, 1},
	{"loops.wasm", "nested", []uint64{1, 1}, 2, 1},
	{"loops.wasm", "params", []uint64{10}, 10, 1},
	{"loops.wasm", "result", []uint64{12}, 12, 1},
	{"loops.wasm", "table", []uint64{23}, 23, 1},
	{"loops.wasm", "ifelse", []uint64{1}, 1, 1},
	{"loops.wasm", "ifelse", []uint64{27}, 112, 1},
	{"loops.wasm", "unreachable", []uint64{4}, 0, 1},
	{"loops.wasm", "once", []uint64{4}, 2, 1},
	{"loops.wasm", "returns", []uint64{4}, 5, 1},
	{"loops.wasm", "calls", []uint64{5}, 5 + 3 + 2 + 1 + 5, 7},
	{"loops.wasm", "recursion", []uint64{10}, 0, 177},
	{"state.wasm", "sum", []uint64{16, 40}, 24, 1},
	{"state.wasm", "bump", []uint64{16}, 0, 1},
	{"simd.wasm", "dot", []uint64{50}, 50, 1},
}

func TestRewrite_CountsAndResults(t *testing.T) {
	for _, h := range heads {
		src := wasmFile(t, h.file)
		want := start(t, src, 0).call(t, h.fn, h.args...)
		for _, functions := range []bool{false, true} {
			for _, budget := range []int32{1, 3, 1000} {
				m := rewrite(t, src, &Options{Initial: budget, Functions: functions})
				g := start(t, m.Wasm, budget, m.Data...)
				if got := g.call(t, h.fn, h.args...); !slices.Equal(got, want) {
					t.Errorf("%s%v = %v, want %v", h.fn, h.args, got, want)
				}
				spent := h.loops
				if functions {
					spent += h.entries
				}
				if ticks := spent / int(budget); g.ticks != ticks {
					t.Errorf("%s%v: %d ticks at a budget of %d, functions %v, want %d", h.fn, h.args, g.ticks, budget, functions, ticks)
				}
				left := g.ExportedGlobal(CounterName).Get()
				if want := budget - int32(spent)%budget; api.DecodeI32(left) != want {
					t.Errorf("%s%v: counter %d, want %d", h.fn, h.args, api.DecodeI32(left), want)
				}
			}
		}
	}
}

func TestRewrite_ImportsKeepTheirIndexes(t *testing.T) {
	m := rewrite(t, wasmFile(t, "loops.wasm"), nil)
	g := start(t, m.Wasm, DefaultInitial)
	if got := g.call(t, "imports", 5); got[0] != 41+9 {
		t.Errorf("imports(5) = %v, want 50", got)
	}
	if g.ticks != 5 {
		t.Errorf("%d calls of tick by the guest itself, want 5", g.ticks)
	}
}

func TestRewrite_InfiniteLoopStops(t *testing.T) {
	m := rewrite(t, wasmFile(t, "loops.wasm"), &Options{Initial: 100})
	for _, r := range []struct {
		fn   string
		args []uint64
	}{
		{"forever", nil}, {"forever_if", []uint64{0}}, {"forever_if", []uint64{1}}, {"forever_table", []uint64{0}}, {"forever_table", []uint64{1}},
	} {
		g := start(t, m.Wasm, 1000)
		g.stopAt = 5
		// A lost check would leave the guest running where no deadline reaches it.
		hung := time.AfterFunc(time.Minute, func() { panic(r.fn + " was not stopped") })
		_, err := g.ExportedFunction(r.fn).Call(t.Context(), r.args...)
		hung.Stop()
		if !errors.Is(err, errStop) {
			t.Errorf("%s%v = %v, want %v", r.fn, r.args, err, errStop)
		}
		if g.ticks != 5 {
			t.Errorf("%s%v: %d ticks, want 5", r.fn, r.args, g.ticks)
		}
	}
}

// Whatever the host sets, the next check but a bounded number calls it again.
func TestRewrite_AnyRefillStaysMetered(t *testing.T) {
	for _, refill := range []int32{0, -1, -1000, math.MinInt32 + 100} {
		m := rewrite(t, wasmFile(t, "loops.wasm"), &Options{Initial: 10})
		g := start(t, m.Wasm, refill)
		g.call(t, "returns", 19)
		if g.ticks != 11 {
			t.Errorf("refill %d: %d ticks in 20 loop heads, want 11", refill, g.ticks)
		}
	}
}

func TestRewrite_Data(t *testing.T) {
	src := wasmFile(t, "state.wasm")
	m := rewrite(t, src, nil)
	want := []Segment{
		{16, []byte("first\x00second")}, {22, []byte("SEC")}, {2*pageSize - 4, []byte("last")}, {2 * pageSize, nil},
	}
	if !slices.EqualFunc(m.Data, want, func(a, b Segment) bool { return a.Offset == b.Offset && bytes.Equal(a.Bytes, b.Bytes) }) {
		t.Errorf("Data = %v, want %v", m.Data, want)
	}
	if m.MemoryMin != 2 || m.MemoryMax != 5 {
		t.Errorf("memory of %d to %d pages, want 2 to 5", m.MemoryMin, m.MemoryMax)
	}
	plain, metered := start(t, src, 0), start(t, m.Wasm, 1)
	if b, _ := metered.Memory().Read(0, 2*pageSize); bytes.Count(b, []byte{0}) != len(b) {
		t.Error("memory is not zero before the data is laid in")
	}
	for _, s := range m.Data {
		metered.Memory().Write(s.Offset, s.Bytes)
	}
	a, _ := plain.Memory().Read(0, 2*pageSize)
	if b, _ := metered.Memory().Read(0, 2*pageSize); !bytes.Equal(a, b) {
		t.Error("memory differs from that of the source")
	}
}

// A run leaves no trace once the memory and the globals of Module.Globals are put back.
func TestRewrite_StateIsWhole(t *testing.T) {
	m := rewrite(t, wasmFile(t, "state.wasm"), nil)
	if want := []string{CounterName, StackPointerName}; !slices.Equal(m.Globals, want) {
		t.Fatalf("Globals = %q, want %q", m.Globals, want)
	}
	g := start(t, m.Wasm, 1, m.Data...)
	image, _ := g.Memory().Read(0, 2*pageSize)
	image = bytes.Clone(image)
	globals := map[string]uint64{}
	for _, name := range m.Globals {
		globals[name] = g.ExportedGlobal(name).Get()
	}
	want := g.call(t, "sum", 0, 64)
	g.call(t, "bump", 48)
	if got := g.call(t, "sum", 0, 64); slices.Equal(got, want) {
		t.Fatal("bump changes nothing: the test is void")
	}
	g.Memory().Write(0, image)
	for name, v := range globals {
		g.ExportedGlobal(name).(api.MutableGlobal).Set(v)
	}
	if got := g.call(t, "sum", 0, 64); !slices.Equal(got, want) {
		t.Errorf("sum after restoring = %v, want %v", got, want)
	}
}

func TestRewrite_Concurrent(t *testing.T) {
	src := wasmFile(t, "loops.wasm")
	want := rewrite(t, src, nil)
	done := make(chan []byte)
	for range 4 {
		go func() {
			m, err := Rewrite(src, nil)
			if err != nil {
				t.Error(err)
				m = &Module{}
			}
			done <- m.Wasm
		}()
	}
	for range 4 {
		if got := <-done; !bytes.Equal(got, want.Wasm) {
			t.Error("output differs between calls")
		}
	}
}

// The output has the sections it should have, in one allocation, and the source is as it was.
func TestRewrite_Shape(t *testing.T) {
	src := cat(wasmFile(t, "state.wasm"), sec(secCustom, cat(str("producers"), []byte("x"))...))
	for _, keep := range []bool{false, true} {
		before := bytes.Clone(src)
		m := rewrite(t, src, &Options{KeepNames: keep})
		if !bytes.Equal(src, before) {
			t.Fatal("Rewrite changed its source")
		}
		want := []byte{secType, secImport, secFunction, secMemory, secGlobal, secExport, secCode}
		if keep {
			want = append(want, secCustom)
		}
		if got := sectionIDs(t, m.Wasm); !slices.Equal(got, want) {
			t.Errorf("sections %v, want %v", got, want)
		}
		if got := bytes.Contains(m.Wasm, []byte("__stack_pointer")); got != keep {
			t.Errorf("names in the output: %v, want %v", got, keep)
		}
		if m.Functions != 2 || m.Loops != 1 || m.Checks != 1 {
			t.Errorf("%d functions, %d loops, %d checks, want 2, 1, 1", m.Functions, m.Loops, m.Checks)
		}
		if slack := cap(m.Wasm) - len(m.Wasm); slack > 512 {
			t.Errorf("%d bytes of slack: the output was allocated more than once", slack)
		}
		g := start(t, m.Wasm, 1)
		if sp := g.ExportedGlobal(StackPointerName); sp == nil || sp.Get() != 4096 {
			t.Errorf("%s = %v, want 4096", StackPointerName, sp)
		}
	}
}

// A module of nearly nothing gets the sections that it lacks.
func TestRewrite_MissingSections(t *testing.T) {
	src := base().without(secGlobal).without(secMemory).without(secTable).without(secFunction).without(secCode).bytes()
	m := rewrite(t, src, &Options{Initial: 77})
	if want := []byte{secType, secImport, secGlobal, secExport}; !slices.Equal(sectionIDs(t, m.Wasm), want) {
		t.Errorf("sections %v, want %v", sectionIDs(t, m.Wasm), want)
	}
	if !slices.Equal(m.Globals, []string{CounterName}) || m.MemoryMin != 0 || m.MemoryMax != 0 {
		t.Errorf("Module = %+v", m)
	}
	if c := start(t, m.Wasm, 1).ExportedGlobal(CounterName); c.Get() != 77 {
		t.Errorf("counter = %d, want 77", c.Get())
	}
}

func TestRewrite_Defaults(t *testing.T) {
	src := base().with(secMemory, vec([]byte{0, 1})...).bytes()
	m := rewrite(t, src, nil)
	if m.MemoryMin != 1 || m.MemoryMax != 65536 {
		t.Errorf("memory of %d to %d pages, want 1 to 65536", m.MemoryMin, m.MemoryMax)
	}
	if c := start(t, m.Wasm, 1).ExportedGlobal(CounterName); c.Get() != DefaultInitial {
		t.Errorf("counter = %d, want %d", c.Get(), DefaultInitial)
	}
	renamed := base().with(secImport, vec(cat(str("env"), str("yield"), []byte{kindFunction, 0}))...).bytes()
	if _, err := Rewrite(renamed, &Options{TickModule: "env", TickName: "yield"}); err != nil {
		t.Errorf("Rewrite with env.yield: %v", err)
	}
}

// The other side of the limits of the refusal tests.
func TestRewrite_AtTheLimits(t *testing.T) {
	var deep []byte
	for range maxDepth - 1 {
		deep = append(deep, opBlock, blockEmpty)
	}
	deep = append(deep, bytes.Repeat([]byte{opEnd}, maxDepth-1)...)
	for name, src := range map[string][]byte{
		"depth":           base().code(deep...).bytes(),
		"locals":          base().body(2, 0xcf, 0x86, 0x03, typeI32, 1, typeI64, opEnd).bytes(),
		"data to the end": base().with(secData, vec(dataAt(pageSize-2, "xy"))...).bytes(),
		"long section":    cat(magic, []byte{secType, 0x84, 0x80, 0x80, 0x80, 0x00, 1, 0x60, 0, 0}, base().without(secType).bytes()[len(magic):]),
		"simd alignment":  base().code(opI32Const, 0, opVector, 0, 4, 0, 0x1a).bytes(),
		"loop in else":    base().code(opI32Const, 0, opIf, blockEmpty, opElse, opLoop, blockEmpty, opEnd, opEnd).bytes(),
		"constants": base().with(secGlobal, vec(
			cat([]byte{typeF32, 0, opF32Const}, make([]byte, 4), []byte{opEnd}),
			cat([]byte{typeF64, 0, opF64Const}, make([]byte, 8), []byte{opEnd}),
			cat([]byte{typeV128, 0, opVector, simdConst}, make([]byte, 16), []byte{opEnd}),
			[]byte{typeFuncref, 0, opRefFunc, 1, opEnd},
			[]byte{typeExternref, 0, opRefNull, typeExternref, opEnd},
		)...).bytes(),
		"imported constant": base().with(secImport, imports("env", "fixed", kindGlobal, typeI32, 0)...).
			with(secGlobal, vec([]byte{typeI32, 1, opGlobalGet, 0, opEnd})...).bytes(),
		"passive elements": base().with(secElement, vec([]byte{1, 0, 1, 0}, []byte{3, 0, 1, 0}, []byte{5, typeFuncref, 1, opRefFunc, 0, opEnd})...).bytes(),
	} {
		m, err := Rewrite(src, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "depth" { // The compiler takes seconds for it.
			start(t, m.Wasm, 1)
		}
	}
}

func sectionIDs(t *testing.T, wasm []byte) (ids []byte) {
	t.Helper()
	r := &reader{b: wasm, pos: len(magic), end: len(wasm)}
	for r.pos < r.end {
		ids = append(ids, r.byte())
		r.take(r.u32())
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return ids
}
