// Command wasirun runs one preview 1 program under package wasi, for conformance suites. With -dir the
// program sees that directory as "/", by way of package guestfs. It exits with the program's exit code.
// Nothing bounds the program's time or memory.
//
//	wasirun [-dir DIR] [-env K=V]... program.wasm [argument]...
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasys "github.com/tetratelabs/wazero/sys"

	"github.com/sandbar-dev/sandbar/wasm/internal/wasi"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "wasirun:", err)
		code = 125
	}
	os.Exit(code)
}

type options struct {
	dir     string
	env     []string
	program string
	args    []string
}

func parse(args []string) (o options, err error) {
	for len(args) >= 2 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-dir":
			o.dir = args[1]
		case "-env":
			o.env = append(o.env, args[1])
		default:
			return o, fmt.Errorf("unknown option %s", args[0])
		}
		args = args[2:]
	}
	if len(args) == 0 {
		return o, errors.New("usage: wasirun [-dir DIR] [-env K=V]... program.wasm [argument]... (all that follows is the program's)")
	}
	o.program, o.args = args[0], args[1:]
	return o, nil
}

func run(args []string) (int, error) {
	o, err := parse(args)
	if err != nil {
		return 0, err
	}
	binary, err := os.ReadFile(o.program)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer func() { _ = rt.Close(ctx) }()
	if _, err := wasi.Instantiate(ctx, rt); err != nil {
		return 0, err
	}
	cfg := wasi.Config{
		Args: append([]string{"program.wasm"}, o.args...), Environ: o.env,
		Stdin: stdin{os.Stdin}, Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals{},
	}
	if o.dir != "" {
		fs, closeAll, err := openDir(o.dir)
		if err != nil {
			return 0, err
		}
		defer closeAll()
		cfg.FS = fs
	}
	env := wasi.New(cfg)
	defer env.Close()
	_, err = rt.InstantiateWithConfig(env.Context(ctx), binary, wazero.NewModuleConfig())
	if exit, ok := errors.AsType[*wasys.ExitError](err); ok {
		return int(exit.ExitCode()), nil
	}
	return 0, err
}

// signals never interrupts.
type signals struct{}

func (signals) Wait() <-chan struct{}               { return nil }
func (signals) Deliver(context.Context, api.Module) {}
func (signals) Exit(code uint32)                    { panic(wasys.NewExitError(code)) }

// stdin is never cancelled.
type stdin struct{ io.Reader }

func (s stdin) Read(p []byte, _ <-chan struct{}) (int, error) { return s.Reader.Read(p) }
func (stdin) Wait(<-chan struct{}) error                      { return nil }
