package wasi

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestInstantiate_AllFunctions(t *testing.T) {
	if len(functions) != 46 {
		t.Errorf("%d functions, want the 46 of preview 1", len(functions))
	}
	rt := wazero.NewRuntime(t.Context())
	defer func() { _ = rt.Close(t.Context()) }()
	closer, err := Instantiate(t.Context(), rt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Instantiate(t.Context(), rt); err == nil {
		t.Error("a second Instantiate into one runtime: no error")
	}
	if err := closer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := Instantiate(t.Context(), rt); err != nil {
		t.Errorf("Instantiate after the closer: %v", err)
	}
}

func TestEnv_None(t *testing.T) {
	g := newGuest(t)
	g.ctx = context.Background()
	for _, f := range functions {
		if f.name == "proc_exit" {
			continue
		}
		g.want(eNOSYS, f.name, make([]uint64, len(f.params))...)
	}
}

type ctxKey struct{}

func TestEnv_Context(t *testing.T) {
	g := newGuest(t)
	parent := context.WithValue(context.Background(), ctxKey{}, "v")
	ctx := g.env.Context(parent)
	if fromContext(ctx) != g.env {
		t.Error("not found directly")
	}
	inner := context.WithValue(ctx, ctxKey{}, "w")
	if fromContext(inner) != g.env {
		t.Error("not found through another value")
	}
	if ctx.Value(ctxKey{}) != "v" {
		t.Error("the parent's values are hidden")
	}
	// The innermost wins, as for all context values.
	other := New(Config{Signals: g.signals})
	if fromContext(other.Context(ctx)) != other {
		t.Error("the outer Env was found")
	}
}

// One instance, two runs: nothing of the first is there in the second.
func TestEnv_InstanceUsedAgain(t *testing.T) {
	g := newGuest(t, func(c *Config) { c.Args = []string{"first"} })
	g.write(1, "one")
	fd := g.open("f", oflagCreat, rightsReadWrite, 0)
	g.want(ok, "fd_close", 2)
	g.want(ok, "fd_fdstat_set_flags", 0, fdflagNonblock)
	g.env.Close()

	g2 := newGuest(t, func(c *Config) { c.Args = []string{"second", "run"} })
	g2.mod, g2.mem = g.mod, g.mem
	g2.want(ok, "args_sizes_get", 0, 4)
	if g2.u32(0) != 2 {
		t.Errorf("argc = %d, want 2", g2.u32(0))
	}
	g2.want(eBADF, "fd_close", fd)
	g2.write(2, "two")
	g2.want(ok, "fd_fdstat_get", 0, atBuf)
	if flags := g2.bytes(atBuf+2, 1)[0]; flags != 0 {
		t.Errorf("flags of stdin = %d, want 0", flags)
	}
	if g.stdout.String() != "one" || g2.stdout.Len() != 0 || g2.stderr.String() != "two" {
		t.Errorf("output: %q, %q, %q", g.stdout, g2.stdout, g2.stderr)
	}
}

func TestEnv_Close(t *testing.T) {
	fs := &countingFS{}
	g := newGuest(t, func(c *Config) { fs.FS = c.FS; c.FS = fs })
	for _, name := range []string{"a", "b", "c"} {
		g.open(name, oflagCreat, rightsReadWrite, 0)
	}
	g.want(ok, "fd_filestat_get", preopenFd, atBuf)
	g.want(ok, "fd_close", 5)
	if fs.open != 3 {
		t.Fatalf("%d files open, want a, c and the preopen", fs.open)
	}
	g.env.Close()
	g.env.Close()
	if fs.open != 0 {
		t.Errorf("%d files open after Close", fs.open)
	}
	for fd := range uint64(8) {
		g.want(eBADF, "fd_close", fd)
	}
	if _, err := g.openAt(preopenFd, "d", oflagCreat, 0, 0); err != eBADF {
		t.Errorf("path_open after Close = %d", err)
	}
}

func TestConfig_Defaults(t *testing.T) {
	g := newGuest(t, func(c *Config) { *c = Config{Signals: c.Signals} })
	if got := g.read(0, 10); got != "" {
		t.Errorf("stdin = %q, want its end", got)
	}
	if n := g.write(1, "dropped"); n != 7 {
		t.Errorf("wrote %d of 7", n)
	}
	g.write(2, "dropped")
	g.want(eBADF, "fd_prestat_get", preopenFd, atResult)
	g.want(eBADF, "fd_close", preopenFd)
}
