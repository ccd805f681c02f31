package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// commandLine is the whole process of `sandbar run hello.py`, with nothing cached and after that.
func commandLine(ctx context.Context, s *settings, r *report) (err error) {
	dir, err := os.MkdirTemp("", "sandbar-bench-*")
	if err != nil {
		return err
	}
	defer also(&err, func() error { return os.RemoveAll(dir) })
	program, script := filepath.Join(dir, "sandbar"), filepath.Join(dir, "hello.py")
	if err := command(ctx, "", "go", "build", "-o", program, "github.com/sandbar-dev/sandbar/cmd/sandbar")(); err != nil {
		return fmt.Errorf("build the command: %w", err)
	}
	if err := os.WriteFile(script, []byte("print('hello')\n"), 0o600); err != nil {
		return err
	}
	first := &competitor{name: "sandbar run hello.py, the first time", run: func() error {
		cache, err := os.MkdirTemp(dir, "cache-*")
		if err != nil {
			return err
		}
		return sandbarRun(ctx, program, cache, script)
	}}
	if err := compare(ctx, 0, max(1, s.rounds/30), []*competitor{first}); err != nil {
		return err
	}
	cache := filepath.Join(dir, "cache")
	cases := []*competitor{
		{name: "sandbar run hello.py, later", run: func() error { return sandbarRun(ctx, program, cache, script) }},
		{name: "python3 hello.py, not isolated", run: command(ctx, "hello\n", s.python, script)},
	}
	if err := compare(ctx, 2, max(3, s.rounds/3), cases); err != nil {
		return err
	}
	r.table(quantiles("The whole process of the command", append(cases, first)))
	return nil
}

// sandbarRun runs a script by the command, with a cache folder of its own on each system.
func sandbarRun(ctx context.Context, program, cache, script string) error {
	cmd := exec.CommandContext(ctx, program, "run", script)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "HOME="+cache, "LocalAppData="+cache)
	out, err := cmd.CombinedOutput()
	if err == nil && string(out) != "hello\n" {
		err = fmt.Errorf("got %q", out)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
