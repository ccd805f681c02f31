package wasm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/cow"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/meter"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

// The steps that Options.Progress is told.
var steps = []string{"unpack interpreter", "compile interpreter", "start interpreter", "ready"}

// loadInterpreter does all that the first run waits for. Warnings are about the cache.
func loadInterpreter(ctx context.Context, opts *Options, trees []guestfs.TreeMount) (_ *interpreter, warnings []string, err error) {
	bare, err := guestfs.NewSession(guestfs.SessionConfig{Trees: trees})
	if err != nil {
		return nil, nil, err
	}
	l := &loader{interpreter: &interpreter{opts: *opts, bare: bare}}
	if l.store, err = openCache(opts); err != nil {
		l.warn("no cache, each process prepares the interpreter anew", err)
	}
	if err := l.load(ctx); err != nil {
		return nil, l.warnings, errors.Join(err, l.close(ctx))
	}
	return l.interpreter, l.warnings, nil
}

// loader fills an interpreter.
type loader struct {
	*interpreter
	store    cache
	warnings []string
}

func (l *loader) warn(what string, err error) {
	l.warnings = append(l.warnings, fmt.Sprintf("%s: %v", what, err))
	l.opts.Logger.Warn(what, "err", err)
}

func (l *loader) progress(step int) { l.opts.Progress(steps[step], step, len(steps)-1) }

// load compiles the interpreter, and reads the image meanwhile.
func (l *loader) load(ctx context.Context) error {
	l.progress(0)
	cached := make(chan error, 1)
	go func() { cached <- l.cachedImage() }()
	code, err := l.rewritten()
	if err == nil {
		l.progress(1)
		err = l.compile(ctx, code)
	}
	imageErr := <-cached
	if err != nil {
		return err
	}
	l.progress(2)
	if imageErr != nil {
		if !errors.Is(imageErr, fs.ErrNotExist) {
			l.opts.Logger.Warn("image in the cache is not usable, making it anew", "err", imageErr)
		}
		if err := l.start(ctx); err != nil {
			return err
		}
	}
	l.progress(3)
	return nil
}

// keep stores content in the cache. Its failure costs time later and nothing else.
func (l *loader) keep(name string, content []byte) {
	if err := l.store.write(name, content); err != nil {
		l.warn("cache not written, the next process prepares the interpreter anew", err)
	}
}

// rewritten gives the metered module without its data, from the cache or from the artefact.
func (l *loader) rewritten() ([]byte, error) {
	if b, err := l.store.read("interpreter.wasm"); err == nil {
		return b, nil
	}
	m, err := rewrite()
	if err != nil {
		return nil, err
	}
	l.keep("interpreter.wasm", m.Wasm)
	return m.Wasm, nil
}

func rewrite() (*meter.Module, error) {
	source, err := python.Interpreter()
	if err != nil {
		return nil, err
	}
	m, err := meter.Rewrite(source, &meter.Options{Initial: tickBudget})
	if err != nil {
		return nil, fmt.Errorf("rewrite interpreter: %w", err)
	}
	return m, nil
}

// compile makes the runtime and the code in it. Compiled code that is not as it was stored, or that wazero
// cannot use, is removed and made anew; where it cannot be kept, it is made for this process alone.
func (l *loader) compile(ctx context.Context, code []byte) error {
	dir := l.store.compiled()
	if dir == "" {
		return l.compileWith(ctx, "", code)
	}
	if l.store.compiledGood() {
		err := l.compileWith(ctx, dir, code)
		if err == nil {
			return nil
		}
		l.opts.Logger.Warn("compiled code in the cache is not usable, making it anew", "err", err)
		if err := l.closeRuntime(ctx); err != nil {
			return err
		}
	}
	err := os.RemoveAll(dir)
	if err == nil {
		err = l.compileWith(ctx, dir, code)
	}
	if err == nil {
		err = l.store.keepCompiled()
		if err == nil {
			return nil
		}
	}
	l.warn("compiled code not kept, the next process compiles the interpreter anew", err)
	if l.code != nil {
		return nil
	}
	if err := l.closeRuntime(ctx); err != nil {
		return err
	}
	return l.compileWith(ctx, "", code)
}

func (p *interpreter) compileWith(ctx context.Context, dir string, wasmBytes []byte) error {
	config := wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(false).WithDebugInfoEnabled(false)
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		store, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			return err
		}
		config = config.WithCompilationCache(store)
	}
	p.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := p.hostModules(ctx); err != nil {
		return err
	}
	var err error
	if p.code, err = p.runtime.CompileModule(ctx, wasmBytes); err != nil {
		return fmt.Errorf("compile interpreter: %w", err)
	}
	return nil
}

// hostModules are what the guest imports: WASI, and the functions of the shim.
func (p *interpreter) hostModules(ctx context.Context) error {
	if _, err := wasi.Instantiate(ctx, p.runtime); err != nil {
		return fmt.Errorf("instantiate wasi: %w", err)
	}
	tick := api.GoFunc(func(ctx context.Context, _ []uint64) { runOf(ctx).control.tick(ctx) })
	// text is what the guest's function was called with: a view of its memory, or nil.
	text := func(mod api.Module, stack []uint64) []byte {
		b, _ := mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		return b
	}
	advice := api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		runOf(ctx).advice = oneLine(text(mod, stack))
	})
	found := api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		r, findings := runOf(ctx), text(mod, stack)
		found := r.found
		r.found = nil // once: the parser has no second tree
		stack[0] = 0
		if found != nil && !found(findings) {
			stack[0] = 1
		}
	})
	value := api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		runOf(ctx).setValue(text(mod, stack))
	})
	i32 := api.ValueTypeI32
	two, one := []api.ValueType{i32, i32}, []api.ValueType{i32}
	_, err := p.runtime.NewHostModuleBuilder("sandbar").
		NewFunctionBuilder().WithGoFunction(tick, nil, nil).Export("tick").
		NewFunctionBuilder().WithGoModuleFunction(advice, two, nil).Export("advice").
		NewFunctionBuilder().WithGoModuleFunction(found, two, one).Export("found").
		NewFunctionBuilder().WithGoModuleFunction(value, two, nil).Export("value").
		Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("instantiate host functions: %w", err)
	}
	return nil
}

// cachedImage takes the image from the cache.
func (l *loader) cachedImage() error {
	b, err := l.store.read("image")
	if err != nil {
		return err
	}
	snap, err := decodeSnapshot(b)
	if err != nil {
		return err
	}
	return l.use(snap)
}

// start makes the image by starting Python.
func (l *loader) start(ctx context.Context) error {
	snap, err := l.makeImage(ctx)
	if err != nil {
		return err
	}
	l.keep("image", snap.encode())
	if err := l.store.sweep(time.Now()); err != nil {
		l.opts.Logger.Warn("old versions in the cache not removed", "err", err)
	}
	return l.use(snap)
}

// use makes the standard image of a snapshot.
func (p *interpreter) use(snap *snapshot) error {
	b, err := newBase(snap)
	if err != nil {
		return err
	}
	p.pool = newPool(p, b, p.opts.Idle)
	return b.release()
}

// makeImage starts Python in a memory that has the module's data, and learns from a first run which
// pages every run writes to.
func (p *interpreter) makeImage(ctx context.Context) (*snapshot, error) {
	m, err := rewrite()
	if err != nil {
		return nil, err
	}
	pieces := make([]cow.Piece, len(m.Data))
	for i, d := range m.Data {
		pieces[i] = cow.Piece{Offset: uint64(d.Offset), Bytes: d.Bytes}
	}
	data, err := cow.NewImage(uint64(m.MemoryMin)*cow.WasmPage, pieces)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	in, err := instantiate(ctx, p.runtime, p.code, data)
	if err != nil {
		return nil, err
	}
	defer in.close(ctx)
	var output errorText
	w := newWorld(in, p.bare, guestfs.RunConfig{}, wasi.Config{}, &stdio{stdout: &output, stderr: &output})
	defer w.close()
	snap, err := makeSnapshot(w.context(ctx), in)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, output.text())
	}
	return p.learnHot(ctx, snap)
}

// learnHot runs the shortest script once and notes which pages it wrote to.
func (p *interpreter) learnHot(ctx context.Context, snap *snapshot) (*snapshot, error) {
	b, err := newBase(snap)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.release() }()
	// The snapshot's pieces are parts of an instance's memory that is about to go: keep copies.
	for i := range snap.pieces {
		snap.pieces[i].Bytes = append([]byte(nil), snap.pieces[i].Bytes...)
	}
	in, err := p.fresh(ctx, b)
	if err != nil {
		return nil, err
	}
	defer in.close(ctx)
	var output errorText
	files := guestfs.RunConfig{ScriptName: "main.py", Script: []byte("print(2+2)\n")}
	w := newWorld(in, p.bare, files, wasi.Config{}, &stdio{stdout: &output, stderr: &output})
	defer w.close()
	first := runRequest(&engine.RunSpec{Name: "main.py", Cwd: guestfs.TmpPath, Env: []string{"HOME=/tmp", "LANG=C.UTF-8"}}, false, nil)
	code, err := in.call(w.context(ctx), in.run, first)
	if err != nil || code != 0 {
		return nil, fmt.Errorf("first run: code %d: %w: %s", code, err, output.text())
	}
	snap.hot = in.memory.Dirty()
	return snap, nil
}
