package wasm

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/meter"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

// placements is how many copies of the compiled code of either side BenchmarkMetering has. Where the code
// lies decides on up to a third of its speed, and is chance: one copy each would compare that.
const placements = 4

// BenchmarkMetering runs the scripts of bench/cpu in the interpreter as it was built and in the metered
// one. ratio is what metering costs: 1.08 is 8 %. It is of the processor time of the runs, where that is
// known, without the start of the interpreters; of the iterations, the best counts on either side.
//
// An iteration is one turn of each side, in its next placement, and some seconds: use -benchtime=4x or
// more. With -short it is left out, because it compiles the interpreter once more.
func BenchmarkMetering(b *testing.B) {
	if testing.Short() {
		b.Skip("compiles the interpreter")
	}
	plain, metered := meteringSides(b)
	scripts, err := filepath.Glob("../bench/cpu/*.py")
	if err != nil || len(scripts) == 0 {
		b.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		script, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.TrimSuffix(filepath.Base(path), ".py"), func(b *testing.B) {
			var without, with float64
			for i := 0; b.Loop(); i++ {
				p, m := plain.run(b, i, script), metered.run(b, i, script)
				if i == 0 {
					without, with = p, m
				}
				without, with = min(without, p), min(with, m)
			}
			b.ReportMetric(0, "ns/op") // starts of interpreters, most of it
			b.ReportMetric(without*1e3, "plain-ms")
			b.ReportMetric(with*1e3, "metered-ms")
			b.ReportMetric(with/without, "ratio")
		})
	}
}

// meteringSide is an interpreter that is started anew for each script: the module as it was built cannot
// make snapshots, and the two are to differ in nothing but the metering.
type meteringSide struct {
	placed []*interpreter // for their code alone
	start  *cow.Image     // the memory before _initialize
	bare   *guestfs.Session
}

func meteringSides(b *testing.B) (plain, metered *meteringSide) {
	b.Helper()
	m, err := rewrite()
	if err != nil {
		b.Fatal(err)
	}
	source, err := python.Interpreter()
	if err != nil {
		b.Fatal(err)
	}
	pieces := make([]cow.Piece, len(m.Data))
	for i, d := range m.Data {
		pieces[i] = cow.Piece{Offset: uint64(d.Offset), Bytes: d.Bytes}
	}
	size := uint64(m.MemoryMin) * cow.WasmPage
	bare := shared(b).interpreter.bare
	// The module as it was built lays its data into the memory itself.
	return newMeteringSide(b, source, size, nil, bare), newMeteringSide(b, m.Wasm, size, pieces, bare)
}

func newMeteringSide(b *testing.B, code []byte, size uint64, pieces []cow.Piece, bare *guestfs.Session) *meteringSide {
	b.Helper()
	s := &meteringSide{bare: bare}
	var err error
	if s.start, err = cow.NewImage(size, pieces); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.start.Close() })
	compiled := b.TempDir()
	for range placements {
		p := &interpreter{}
		b.Cleanup(func() { _ = p.closeRuntime(context.Background()) })
		if err := p.compileWith(b.Context(), compiled, code); err != nil {
			b.Fatal(err)
		}
		s.placed = append(s.placed, p)
	}
	return s
}

// run starts Python in placement i, runs the script and returns the seconds that this took.
func (s *meteringSide) run(b *testing.B, i int, script []byte) float64 {
	b.Helper()
	in := s.instance(b, s.placed[i%placements])
	defer in.close(context.Background())
	var output errorText
	files := guestfs.RunConfig{ScriptName: "main.py", Script: script}
	w := newWorld(in, s.bare, files, wasi.Config{}, &stdio{stdout: &output, stderr: &output})
	defer w.close()
	ctx := w.context(context.Background())
	for _, step := range []string{"_initialize", "sandbar_init", "sandbar_freeze"} {
		result := [1]uint64{}
		if err := in.module.ExportedFunction(step).CallWithStack(ctx, result[:]); err != nil || result[0] != 0 {
			b.Fatalf("%s: code %d, %v: %s", step, result[0], err, output.text())
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, before := time.Now(), threadCPU()
	code, err := in.call(ctx, in.run, runRequest(&engine.RunSpec{Name: "main.py", Cwd: guestfs.TmpPath}, false, nil))
	if err != nil || code != 0 {
		b.Fatalf("code %d, %v: %s", code, err, output.text())
	}
	if before < 0 {
		return time.Since(began).Seconds()
	}
	return (threadCPU() - before).Seconds()
}

func (s *meteringSide) instance(b *testing.B, p *interpreter) *instance {
	b.Helper()
	memory, err := s.start.NewMemory(maxMemory, maxMemory)
	if err != nil {
		b.Fatal(err)
	}
	allocator := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return memory })
	ctx := experimental.WithMemoryAllocator(context.Background(), allocator)
	module, err := p.runtime.InstantiateModule(ctx, p.code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		memory.Free()
		b.Fatal(err)
	}
	in := &instance{module: module, memory: memory, alloc: module.ExportedFunction("sandbar_alloc"), run: module.ExportedFunction("sandbar_run")}
	if counter, ok := module.ExportedGlobal(meter.CounterName).(api.MutableGlobal); ok {
		in.counter = counter
		in.counter.Set(tickBudget)
	}
	return in
}
