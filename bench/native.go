package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// findPythons sets the interpreters to their own paths. A version manager's shim would be measured with
// the interpreter: go past it.
func (s *settings) findPythons(ctx context.Context) error {
	if s.native == "" {
		s.native = s.python
	}
	for _, path := range []*string{&s.python, &s.native} {
		found, err := ask(ctx, *path, "sys.executable")
		if err != nil {
			return err
		}
		*path = found
	}
	return nil
}

// ask gives the value of an expression about a Python.
func ask(ctx context.Context, python, expression string) (string, error) {
	out, err := exec.CommandContext(ctx, python, "-I", "-c", "import platform, sys; print("+expression+")").Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", python, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// command runs a program, which has to print want.
func command(ctx context.Context, want, name string, args ...string) func() error {
	return func() error {
		out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if string(out) != want {
			return fmt.Errorf("got %q, want %q", out, want)
		}
		return nil
	}
}

// bubblewrap is the arguments that make a sandbox like ours: all namespaces, no network, the system
// read-only. The interpreter's own folder is added where it is not in /usr.
func bubblewrap(ctx context.Context, python string) ([]string, error) {
	args := []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
	}
	for _, dir := range []string{"/bin", "/lib", "/lib64"} {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
			continue
		}
		args = append(args, "--ro-bind-try", dir, dir)
	}
	prefix, err := ask(ctx, python, "sys.base_prefix")
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel("/usr", prefix); err != nil || strings.HasPrefix(rel, "..") {
		args = append(args, "--ro-bind", prefix, prefix)
	}
	return args, nil
}

// with is args and more, and leaves args alone.
func with(args []string, more ...string) []string { return append(slices.Clip(args), more...) }
