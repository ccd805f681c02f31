package wasi

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

//go:embed testdata/proxy.wasm
var proxyWasm []byte

// memorySize is the size of the proxy's memory.
const memorySize = 2 << 16

// Preview 1 numbers that tests expect.
const (
	ok           = 0
	eAGAIN       = 6
	eBADF        = 8
	eEXIST       = 20
	eFAULT       = 21
	eFBIG        = 22
	eINTR        = 27
	eINVAL       = 28
	eIO          = 29
	eISDIR       = 31
	eLOOP        = 32
	eMFILE       = 33
	eNAMETOOLONG = 37
	eNOENT       = 44
	eNOMEM       = 48
	eNOSYS       = 52
	eNOTDIR      = 54
	eNOTEMPTY    = 55
	eNOTSOCK     = 57
	eNOTSUP      = 58
	ePERM        = 63
	eSPIPE       = 70
)

// runtime holds the host module and the proxy, for all tests.
var runtime = sync.OnceValues(func() (wazero.Runtime, wazero.CompiledModule) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	if _, err := Instantiate(ctx, rt); err != nil {
		panic(err)
	}
	proxy, err := rt.CompileModule(ctx, proxyWasm)
	if err != nil {
		panic(err)
	}
	return rt, proxy
})

// guest is an instance of the proxy with an Env.
type guest struct {
	testing.TB
	mod     api.Module
	mem     api.Memory
	env     *Env
	ctx     context.Context
	signals *testSignals
	stdin   *testStdin
	stdout  *bytes.Buffer
	stderr  *bytes.Buffer
	dir     string // what is at "/"
	funcs   map[string]api.Function
}

// newGuest makes a guest over an empty directory; each edit changes its Config first.
func newGuest(t testing.TB, edits ...func(*Config)) *guest {
	t.Helper()
	rt, proxy := runtime()
	mod, err := rt.InstantiateModule(context.Background(), proxy, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{
		TB: t, mod: mod, mem: mod.Memory(), dir: t.TempDir(),
		signals: &testSignals{signal: make(chan struct{})},
		stdin:   &testStdin{data: make(chan []byte, 16)},
		stdout:  new(bytes.Buffer), stderr: new(bytes.Buffer),
		funcs: map[string]api.Function{},
	}
	cfg := Config{
		Stdin: g.stdin, Stdout: g.stdout, Stderr: g.stderr,
		FS: sysfs.DirFS(g.dir), Signals: g.signals,
	}
	for _, edit := range edits {
		edit(&cfg)
	}
	g.env = New(cfg)
	g.ctx = g.env.Context(context.Background())
	t.Cleanup(func() {
		g.env.Close()
		_ = mod.Close(context.Background())
	})
	return g
}

// try calls a function of preview 1 by way of the guest.
func (g *guest) try(name string, args ...uint64) (uint64, error) {
	f := g.funcs[name]
	if f == nil {
		f = g.mod.ExportedFunction(name)
		g.funcs[name] = f
	}
	results, err := f.Call(g.ctx, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

func (g *guest) call(name string, args ...uint64) uint64 {
	g.Helper()
	n, err := g.try(name, args...)
	if err != nil {
		g.Fatalf("%s(%v): %v", name, args, err)
	}
	return n
}

// want calls and compares the error number.
func (g *guest) want(want uint64, name string, args ...uint64) {
	g.Helper()
	if got := g.call(name, args...); got != want {
		g.Fatalf("%s(%v) = %d, want %d", name, args, got, want)
	}
}

// Where tests put things in guest memory.
const (
	atResult = 16
	atIovecs = 1024
	atPath   = 4096
	atPath2  = 12 << 10
	atBuf    = 32 << 10
)

func (g *guest) put(at uint32, b []byte) {
	if !g.mem.Write(at, b) {
		g.Fatalf("put %d bytes at %d", len(b), at)
	}
}

func (g *guest) bytes(at, n uint32) []byte {
	b, ok := g.mem.Read(at, n)
	if !ok {
		g.Fatalf("read %d bytes at %d", n, at)
	}
	return bytes.Clone(b)
}

func (g *guest) u32(at uint32) uint32 {
	v, _ := g.mem.ReadUint32Le(at)
	return v
}

func (g *guest) u64(at uint32) uint64 {
	v, _ := g.mem.ReadUint64Le(at)
	return v
}

// iovecs writes an array of buffers, given as pointer and size.
func (g *guest) iovecs(pairs ...uint32) (ptr, count uint64) {
	for i, v := range pairs {
		g.mem.WriteUint32Le(atIovecs+uint32(4*i), v)
	}
	return atIovecs, uint64(len(pairs) / 2)
}

// path writes a path argument.
func (g *guest) path(s string) (ptr, size uint64) {
	g.put(atPath, []byte(s))
	return atPath, uint64(len(s))
}

func (g *guest) path2(s string) (ptr, size uint64) {
	g.put(atPath2, []byte(s))
	return atPath2, uint64(len(s))
}

const (
	rightsRead      = uint64(rightFdRead)
	rightsWrite     = uint64(rightFdWrite)
	rightsReadWrite = rightsRead | rightsWrite
)

// openAt opens relative to dirfd, following links.
func (g *guest) openAt(dirfd uint64, name string, oflags, rights, fdflags uint64) (fd, err uint64) {
	g.Helper()
	ptr, size := g.path(name)
	err = g.call("path_open", dirfd, lookupSymlinkFollow, ptr, size, oflags, rights, 0, fdflags, atResult)
	return uint64(g.u32(atResult)), err
}

func (g *guest) open(name string, oflags, rights, fdflags uint64) uint64 {
	g.Helper()
	fd, err := g.openAt(preopenFd, name, oflags, rights, fdflags)
	if err != 0 {
		g.Fatalf("path_open %q: %d", name, err)
	}
	return fd
}

// write writes through an iovec and gives what was written.
func (g *guest) write(fd uint64, s string) uint32 {
	g.Helper()
	g.put(atBuf, []byte(s))
	ptr, n := g.iovecs(atBuf, uint32(len(s)))
	g.want(ok, "fd_write", fd, ptr, n, atResult)
	return g.u32(atResult)
}

func (g *guest) read(fd uint64, size uint32) string {
	g.Helper()
	ptr, n := g.iovecs(atBuf, size)
	g.want(ok, "fd_read", fd, ptr, n, atResult)
	return string(g.bytes(atBuf, g.u32(atResult)))
}

// host makes a file on the host's side; a name that ends in a slash is a directory.
func (g *guest) host(name, content string) {
	g.Helper()
	path := filepath.Join(g.dir, name)
	var err error
	if name[len(name)-1] == '/' {
		err = os.MkdirAll(path, 0o755)
	} else {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		g.Fatal(err)
	}
}

func (g *guest) hostText(name string) string {
	g.Helper()
	b, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		g.Fatal(err)
	}
	return string(b)
}

// exitCode is what Exit panics with, errKilled what Deliver does.
type exitCode uint32

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", uint32(c)) }

var errKilled = errors.New("killed")

type testSignals struct {
	signal    chan struct{}
	delivered int
	kill      bool // Deliver ends the run
}

func (s *testSignals) Wait() <-chan struct{} { return s.signal }

func (s *testSignals) Deliver(context.Context, api.Module) {
	if s.kill {
		panic(errKilled)
	}
	s.delivered++
	s.signal = make(chan struct{})
}

func (s *testSignals) Exit(code uint32) { panic(exitCode(code)) }

var errInterrupted = errors.New("interrupted")

// testStdin gives what is sent on data; closing data is the end.
type testStdin struct {
	data chan []byte
	buf  []byte
	eof  bool
}

func (s *testStdin) Wait(cancel <-chan struct{}) error {
	if len(s.buf) > 0 || s.eof {
		return nil
	}
	select {
	case b, more := <-s.data:
		s.buf, s.eof = b, !more
		return nil
	default:
	}
	select {
	case b, more := <-s.data:
		s.buf, s.eof = b, !more
		return nil
	case <-cancel:
		return errInterrupted
	}
}

func (s *testStdin) Read(p []byte, cancel <-chan struct{}) (int, error) {
	if err := s.Wait(cancel); err != nil {
		return 0, err
	}
	if len(s.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}
