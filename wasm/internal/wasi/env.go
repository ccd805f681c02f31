package wasi

import (
	"context"
	"io"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// DefaultMaxFiles is the bound on descriptors when Config has none.
const DefaultMaxFiles = 256

// Config says what one run sees.
type Config struct {
	// Args is argv, Environ the environment as KEY=VALUE. They hold no NUL.
	Args, Environ []string
	// Stdin is descriptor 0. Nil is at its end from the start.
	Stdin Stdin
	// Stdout and Stderr are descriptors 1 and 2. They take all bytes they are given and do not keep the
	// slice, which is guest memory. They may block. Nil drops what is written.
	Stdout, Stderr io.Writer
	// FS is mounted at "/". It gets relative paths ("." is the root) that can hold "..", links and any
	// bytes but NUL. It must keep ".." inside the root. Nil means that there is no preopen.
	//
	// An FS can also have the method
	//
	//	Lutimens(path string, atim, mtim int64) sys.Errno
	//
	// which is Utimens without following a link at the end of path. Without it, setting the times of a
	// link itself is ENOTSUP.
	FS sys.FS
	// MaxFiles is the bound on descriptors, the streams and the preopen included: a descriptor's number
	// is below it. Zero means DefaultMaxFiles; at least 4 are given.
	MaxFiles int
	// CPUClock is the CPU time that the run has used. Nil means that the CPU-time clocks do not exist.
	CPUClock func() time.Duration
	// Signals must be set.
	Signals Signals
}

// Env is what one run sees of WASI. It is for one goroutine at a time: the one that runs the guest, and
// after that the one that calls Close.
type Env struct {
	args, environ []string
	stdin         Stdin
	fs            sys.FS
	signals       Signals
	cpuClock      func() time.Duration
	start         time.Time

	files table
	// listed counts the directory entries held by open descriptors.
	listed int

	timer *time.Timer    // of poll_oneoff, made at the first wait
	subs  []subscription // scratch of poll_oneoff

	// Room for what every run has, so that New is one allocation.
	standard [firstFree]descriptor
	slots    [16]*descriptor
}

// New makes the Env of one run. The caller closes it.
func New(cfg Config) *Env {
	e := &Env{
		args: cfg.Args, environ: cfg.Environ,
		stdin: cfg.Stdin, fs: cfg.FS, signals: cfg.Signals, cpuClock: cfg.CPUClock,
		start: time.Now(),
	}
	e.standard[0] = descriptor{filetype: filetypeSocketStream, read: true}
	e.standard[1] = descriptor{filetype: filetypeSocketStream, write: true, out: cfg.Stdout}
	e.standard[2] = descriptor{filetype: filetypeSocketStream, write: true, out: cfg.Stderr}
	e.standard[preopenFd] = descriptor{filetype: filetypeDirectory, read: true, preopen: true}
	e.files.init(e.slots[:0], cfg.MaxFiles)
	for i := range e.standard {
		d := &e.standard[i]
		d.number = uint64(i)
		if d.preopen && cfg.FS == nil {
			continue
		}
		if d.write && d.out == nil {
			d.out = io.Discard
		}
		e.files.slots = append(e.files.slots, d)
	}
	return e
}

// Close closes all descriptors that the run left open. Calls that come later find none open. It may be
// called again.
func (e *Env) Close() {
	for _, d := range e.files.slots {
		if d != nil {
			_ = e.release(d)
		}
	}
	e.files.slots = nil
	e.files.max = 0
	if e.timer != nil {
		e.timer.Stop()
	}
}

// Open is the number of descriptors that the run has opened and not closed.
func (e *Env) Open() int {
	n := 0
	for _, d := range e.files.slots[min(firstFree, len(e.files.slots)):] {
		if d != nil {
			n++
		}
	}
	return n
}

// Context returns a context with which the guest is called: host functions find e through it. It is
// parent in all else.
func (e *Env) Context(parent context.Context) context.Context {
	return &envContext{Context: parent, env: e}
}

type envKey struct{}

type envContext struct {
	context.Context
	env *Env
}

// Value finds the Env without walking the chain.
func (c *envContext) Value(key any) any {
	if key == (envKey{}) {
		return c.env
	}
	return c.Context.Value(key)
}

func fromContext(ctx context.Context) *Env {
	if c, ok := ctx.(*envContext); ok {
		return c.env
	}
	e, _ := ctx.Value(envKey{}).(*Env)
	return e
}
