package meter

//go:generate sh -c "command -v wat2wasm >/dev/null || { echo no wat2wasm here, Debian: wabt: the guests of the tests stay as they are; exit 0; }; for f in testdata/*.wat; do wat2wasm --debug-names ${DOLLAR}f -o ${DOLLAR}{f%.wat}.wasm; done"

import (
	"context"
	"embed"
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The modules are made of the .wat files beside them by go generate.
//
//go:embed testdata/*.wasm
var testdata embed.FS

func wasmFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// errStop is what the metering function of guest panics with.
var errStop = errors.New("stopped by the metering function")

// guest is an instance whose metering function counts its calls and sets the counter to refill.
type guest struct {
	api.Module
	ticks, stopAt int // Zero stopAt is never.
	refill        int32
}

func start(t testing.TB, wasm []byte, refill int32, data ...Segment) *guest {
	t.Helper()
	g := &guest{refill: refill}
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	other := func() uint32 { return 41 }
	host := r.NewHostModuleBuilder("sandbar").
		NewFunctionBuilder().WithFunc(g.tick).Export("tick").
		NewFunctionBuilder().WithFunc(other).Export("other")
	if _, err := host.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	// Constants can be imported from a guest only: (module (global (export "fixed") i32 (i32.const 9)))
	env := mod{parts: map[byte][]byte{
		secGlobal: vec([]byte{typeI32, 0, opI32Const, 9, opEnd}),
		secExport: vec(cat(str("fixed"), []byte{kindGlobal, 0})),
	}}
	if _, err := r.InstantiateWithConfig(ctx, env.bytes(), wazero.NewModuleConfig().WithName("env")); err != nil {
		t.Fatal(err)
	}
	m, err := r.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithName("guest"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range data {
		if !m.Memory().Write(s.Offset, s.Bytes) {
			t.Fatalf("segment at %d is outside of the memory", s.Offset)
		}
	}
	g.Module = m
	return g
}

// tick is the metering function.
func (g *guest) tick(_ context.Context, m api.Module) {
	g.ticks++
	if g.ticks == g.stopAt {
		panic(errStop)
	}
	if c, ok := m.ExportedGlobal(CounterName).(api.MutableGlobal); ok {
		c.Set(api.EncodeI32(g.refill))
	}
}

func (g *guest) call(t testing.TB, fn string, args ...uint64) []uint64 {
	t.Helper()
	got, err := g.ExportedFunction(fn).Call(t.Context(), args...)
	if err != nil {
		t.Fatalf("%s%v: %v", fn, args, err)
	}
	return got
}

func rewrite(t testing.TB, src []byte, opts *Options) *Module {
	t.Helper()
	m, err := Rewrite(src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
