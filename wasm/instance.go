package wasm

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
	"github.com/sandbar-dev/sandbar/wasm/internal/meter"
)

// maxMemory is all that a 32-bit guest can address.
const maxMemory = 1 << 32

// redZone is how much below its stack pointer a guest function without calls may use without moving
// the pointer, as LLVM compiles it, with room to spare.
const redZone = 512

// instance is one instantiated interpreter. It is for one goroutine at a time.
type instance struct {
	module  api.Module
	memory  *cow.Memory
	stack   api.MutableGlobal
	counter api.MutableGlobal
	top     uint64 // the stack pointer between runs

	alloc, run, live, scan, warm, finish, interrupt, drain api.Function
}

// instantiate makes an instance whose memory starts as the image.
func instantiate(ctx context.Context, rt wazero.Runtime, code wazero.CompiledModule, image *cow.Image) (*instance, error) {
	memory, err := image.NewMemory(maxMemory, maxMemory)
	if err != nil {
		return nil, fmt.Errorf("memory for an instance: %w", err)
	}
	allocator := experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return memory })
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	module, err := rt.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocator), code, config)
	if err != nil {
		memory.Free()
		return nil, fmt.Errorf("instantiate interpreter: %w", err)
	}
	in := &instance{module: module, memory: memory}
	in.stack, _ = module.ExportedGlobal(meter.StackPointerName).(api.MutableGlobal)
	in.counter, _ = module.ExportedGlobal(meter.CounterName).(api.MutableGlobal)
	in.alloc = module.ExportedFunction("sandbar_alloc")
	in.run = module.ExportedFunction("sandbar_run")
	in.live = module.ExportedFunction("sandbar_live")
	in.scan = module.ExportedFunction("sandbar_scan")
	in.warm = module.ExportedFunction("sandbar_warm")
	in.finish = module.ExportedFunction("sandbar_finish")
	in.interrupt = module.ExportedFunction("sandbar_interrupt")
	in.drain = module.ExportedFunction("sandbar_drain")
	if in.stack == nil || in.counter == nil || in.lacksFunction() {
		in.close(ctx)
		return nil, fmt.Errorf("instantiate interpreter: it lacks an export")
	}
	in.top = in.stack.Get()
	in.counter.Set(tickBudget)
	return in, nil
}

func (in *instance) lacksFunction() bool {
	return slices.Contains([]api.Function{in.alloc, in.run, in.live, in.scan, in.warm, in.finish, in.interrupt, in.drain}, nil)
}

// reset makes the instance as new: its memory is the image again, and so are its globals. Memory and
// globals are all that an instance can change; package meter refuses a module for which that is not so.
func (in *instance) reset() error {
	if in.memory.Grown() {
		return fmt.Errorf("memory has grown")
	}
	in.stack.Set(in.top)
	in.counter.Set(tickBudget)
	return in.memory.Reset()
}

func (in *instance) close(ctx context.Context) {
	// Closing frees the memory; an anonymous module's Close has nothing that could go wrong.
	_ = in.module.Close(ctx)
}

// raise marks a KeyboardInterrupt as pending. It is called while the guest is inside a host function,
// perhaps from the middle of a function that keeps values below its stack pointer.
func (in *instance) raise(ctx context.Context) {
	stack := in.stack.Get()
	in.stack.Set(stack - redZone)
	_ = in.interrupt.CallWithStack(ctx, nil)
	in.stack.Set(stack)
}

// put copies b into memory that the guest allocates and returns its address.
func (in *instance) put(ctx context.Context, b []byte) (uint64, error) {
	stack := [1]uint64{uint64(len(b))}
	if err := in.alloc.CallWithStack(ctx, stack[:]); err != nil {
		return 0, err
	}
	if stack[0] == 0 || !in.module.Memory().Write(uint32(stack[0]), b) {
		return 0, fmt.Errorf("no room for %d bytes in the guest", len(b))
	}
	return stack[0], nil
}

// call runs an export that takes a buffer and returns an i32.
func (in *instance) call(ctx context.Context, f api.Function, b []byte) (uint32, error) {
	at, err := in.put(ctx, b)
	if err != nil {
		return 0, err
	}
	stack := [2]uint64{at, uint64(len(b))}
	if err := f.CallWithStack(ctx, stack[:]); err != nil {
		return 0, err
	}
	return uint32(stack[0]), nil
}
