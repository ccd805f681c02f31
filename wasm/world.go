package wasm

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"github.com/tetratelabs/wazero/api"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// run is what a host function finds of the run that called it.
type run struct {
	control *control
	advice  string
	value   string
	// found is told what a script imports, a view of guest memory, and says whether it may run here. Nil: it may.
	found func(findings []byte) bool
}

// setValue notes the repr of the last expression. One byte more than is shown tells that it was cut.
func (r *run) setValue(text []byte) { r.value = string(text[:min(len(text), engine.MaxValue+1)]) }

type runKey struct{}

// runContext carries a run to host functions: wazero hands the context of the call on to them.
type runContext struct {
	context.Context
	run *run
}

// Value implements context.Context.
func (c runContext) Value(key any) any {
	if key == (runKey{}) {
		return c.run
	}
	return c.Context.Value(key)
}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// errorText keeps the first bytes of what an interpreter writes while the image is made, for an error.
type errorText struct{ bytes.Buffer }

func (t *errorText) Write(p []byte) (int, error) {
	if t.Len() < 8192 {
		t.Buffer.Write(p)
	}
	return len(p), nil
}

func (t *errorText) text() string { return strings.TrimSpace(t.String()) }

// oneLine makes advice from the guest fit to be shown: the guest is not trusted, also not in this.
func oneLine(text []byte) string {
	s := strings.ToValidUTF8(string(text[:min(len(text), 200)]), "?")
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// world is what one call into an interpreter sees.
type world struct {
	run *run
	env *wasi.Env
	fs  *guestfs.FS
}

// newWorld makes the world of calls into in. The streams, the signals and the file system of config are filled in.
func newWorld(in *instance, session *guestfs.Session, files guestfs.RunConfig, config wasi.Config, io *stdio) *world {
	w := &world{run: &run{}}
	w.use(newControl(), in)
	signals := signals{w.run}
	config.Signals = signals
	config.Stdin, config.Stdout, config.Stderr = io, writer{&io.stdout}, writer{&io.stderr}
	files.Stdin = wasi.StdinFile(io, signals)
	files.Stdout, files.Stderr = wasi.OutputFile(config.Stdout), wasi.OutputFile(config.Stderr)
	w.fs = session.NewFS(files)
	config.FS = w.fs
	w.env = wasi.New(config)
	return w
}

// signals are those of the run that is under way: wasi.Signals.
type signals struct{ run *run }

func (s signals) Wait() <-chan struct{}                          { return s.run.control.Wait() }
func (s signals) Deliver(ctx context.Context, module api.Module) { s.run.control.Deliver(ctx, module) }
func (s signals) Exit(code uint32)                               { s.run.control.Exit(code) }

// use makes this the world of a run: nothing of the run before is left in it but open files.
func (w *world) use(c *control, in *instance) {
	c.instance = in
	*w.run = run{control: c}
}

// context is what guest functions are called with.
func (w *world) context(parent context.Context) context.Context {
	return w.env.Context(runContext{parent, w.run})
}

// close releases every descriptor that is left open.
func (w *world) close() {
	w.env.Close()
	w.fs.Close()
}
