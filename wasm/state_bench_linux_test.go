package wasm

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

var privateDirty = regexp.MustCompile(`(?m)^Private_Dirty: +(\d+) kB$`)

// privateKiB is the memory that this process alone has written to, proc_pid_smaps(5).
func privateKiB(tb testing.TB) int {
	tb.Helper()
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		tb.Fatal(err)
	}
	m := privateDirty.FindSubmatch(b)
	if m == nil {
		tb.Fatalf("no Private_Dirty in %q", b)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// What a branch takes of the machine's memory before it has written, in KiB.
func BenchmarkBranches_Memory(b *testing.B) {
	const many = 1000
	d := newDriver(b, &Options{Idle: -1})
	_, snap := big(b, d)
	for b.Loop() {
		before := privateKiB(b)
		instances := make([]*instance, many)
		for i := range instances {
			in, err := d.interpreter.fresh(b.Context(), baseOf(snap))
			if err != nil {
				b.Fatal(err)
			}
			instances[i] = in
		}
		b.ReportMetric(float64(privateKiB(b)-before)/many, "KiB/branch")
		for _, in := range instances {
			in.close(b.Context())
		}
	}
}
