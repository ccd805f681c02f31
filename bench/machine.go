package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/sandbar-dev/sandbar/wasm/python"
)

// machine is what the figures depend on. It has no names of the machine and no paths.
func machine(ctx context.Context, s *settings) []fact {
	facts := []fact{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"processor", fmt.Sprintf("%d CPUs, %s", runtime.NumCPU(), processor())},
		{"kernel", kernel()},
		{"Go", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)},
		{"Python of the wasm tier", python.Version},
	}
	for _, p := range []struct{ name, path string }{{"python3", s.python}, {"Python of the cpu section", s.native}} {
		version, err := ask(ctx, p.path, "platform.python_version(), platform.python_compiler()")
		if err == nil {
			facts = append(facts, fact{p.name, version})
		}
	}
	if out, err := exec.CommandContext(ctx, "bwrap", "--version").Output(); err == nil {
		facts = append(facts, fact{"bwrap", string(bytes.TrimSpace(out))})
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(b), " ")
		facts = append(facts, fact{"load of the machine before", load})
	}
	return facts
}

func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	release, _, _ := strings.Cut(strings.TrimSpace(string(b)), "-") // the rest is the distributor's
	return "Linux " + release
}

func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "model unknown"
}
