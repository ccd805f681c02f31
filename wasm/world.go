package wasm

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"github.com/sandbar-dev/sandbar/wasm/internal/guestfs"
	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

// run is what a host function finds of the run that called it.
type run struct {
	control *control
	advice  string
}

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

// newWorld makes the world of a call into in. The signals and the file system of config are filled in.
func newWorld(in *instance, session *guestfs.Session, files guestfs.RunConfig, config wasi.Config) *world {
	c := newControl(in)
	if config.Stdin != nil {
		files.Stdin = wasi.StdinFile(config.Stdin, c)
	}
	files.Stdout, files.Stderr = wasi.OutputFile(config.Stdout), wasi.OutputFile(config.Stderr)
	w := &world{run: &run{control: c}, fs: session.NewFS(files)}
	config.FS, config.Signals = w.fs, c
	w.env = wasi.New(config)
	return w
}

// context is what guest functions are called with.
func (w *world) context(parent context.Context) context.Context {
	return w.env.Context(runContext{parent, w.run})
}

// close releases every descriptor that is left open.
func (w *world) close() {
	w.run.control.end()
	w.env.Close()
	w.fs.Close()
}
